#include "semantics/type_memory.h"

namespace assay {
namespace {

constexpr std::size_t kMostKept = 1 << 14;
constexpr std::int64_t kMostElements = 64;  // of a tensor in a key

// Everything stands behind its length or kind, so that no two nodes give one key.
class Key {
 public:
  explicit Key(std::string& text) : text_(text) {}

  void number(std::int64_t value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void word(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    text_ += value;
  }
  void numbers(std::span<const std::int64_t> values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) number(value);
  }
  void dims(const Dims& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const Dim& dim : values) {
      number(dim.value);
      if (!dim.known()) word(dim.symbol.text());
    }
  }
  // The others are false for what is too much, or of a kind that a key does not tell.
  bool tensor(const Tensor& value) {
    if (value.type() == ElementType::string || value.size() > kMostElements) return false;
    number(static_cast<std::int64_t>(value.type()));
    numbers(value.shape());
    text_.append(static_cast<const char*>(value.raw()), value.byte_size());
    return true;
  }
  bool known(const Known& value) {
    const ValueType& type = value.type;
    number((value.present ? 1 : 0) + (type.dims ? 2 : 0) + (value.extents ? 4 : 0) +
           (value.constant.defined() ? 8 : 0));
    number(static_cast<std::int64_t>(type.kind));
    number(static_cast<std::int64_t>(type.element));
    if (type.inner || type.kind == ValueType::Kind::sparse_tensor) return false;
    if (type.dims) dims(*type.dims);
    if (value.extents) dims(*value.extents);
    return !value.constant.defined() || tensor(value.constant);
  }
  bool attribute(const AttributeValue& value) {
    number(static_cast<std::int64_t>(value.index()));
    if (const auto* one = std::get_if<Tensor>(&value)) return tensor(*one);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      number(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      text_.append(reinterpret_cast<const char*>(real), sizeof *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      word(*text);
    } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
      numbers(*integers);
    } else {
      return false;
    }
    return true;
  }

 private:
  std::string& text_;
};

}  // namespace

std::string TypeMemory::key_of(const PlannedNode& node, std::span<const Known> inputs) {
  std::string text;
  constexpr std::size_t kUsual = 512;
  text.reserve(kUsual);
  Key key(text);
  key.word(node.node.domain);
  key.word(node.node.op);
  key.number(node.found.schema->since_version);
  key.number(static_cast<std::int64_t>(node.node.attributes.size()));
  for (const Attribute& attribute : node.node.attributes) {
    key.word(attribute.name);
    if (!key.attribute(attribute.value)) return {};
  }
  key.number(static_cast<std::int64_t>(node.node.outputs.size()));
  for (const std::string& output : node.node.outputs) text += output.empty() ? '-' : '+';
  for (const Known& input : inputs)
    if (!key.known(input)) return {};
  return text;
}

const TypeMemory::Said* TypeMemory::find(const std::string& key) const {
  const auto found = said_.find(key);
  return found == said_.end() ? nullptr : &found->second;
}

void TypeMemory::keep(std::string key, Said said) {
  if (said_.size() < kMostKept) said_.emplace(std::move(key), std::move(said));
}

}  // namespace assay
