// Values on their way through a channel: in the message, or beside it in an arena.
#include <cstring>
#include <limits>

#include "backends/channel.h"
#include "backends/tensor_block.h"
#include "generated/protocol.pb.h"

namespace assay {
namespace {

constexpr std::size_t kSmall = 4096;  // bytes that are cheaper in the message than beside it
constexpr std::uint64_t kFeedsStart = 64, kAnswersStart = 0;

std::optional<Shape> to_shape(const protocol::Tensor& message) {
  Shape shape(message.dims().begin(), message.dims().end());
  const std::optional<std::int64_t> count = checked_element_count(shape);
  if (!count || *count > std::numeric_limits<std::int64_t>::max() / 16) return std::nullopt;
  return shape;
}

}  // namespace

std::string_view to_text(Outcome outcome) {
  static constexpr std::string_view kNames[] = {"ok",      "unsupported", "failed",
                                                "crashed", "hung",        "memory"};
  return kNames[static_cast<std::size_t>(outcome)];
}

const Value* Answer::find(std::string_view name) const {
  for (const auto& [own, value] : values) {
    if (own == name) return &value;
  }
  return nullptr;
}

void Channel::put(const Value& value, protocol::Value& message) {
  switch (value.kind()) {
    case Value::Kind::tensor:
      message.set_kind(protocol::Value::TENSOR);
      put_tensor(value.tensor(), *message.mutable_tensor());
      return;
    case Value::Kind::sequence:
      message.set_kind(protocol::Value::SEQUENCE);
      break;
    case Value::Kind::optional:
      message.set_kind(protocol::Value::OPTIONAL);
      break;
    case Value::Kind::map:
      message.set_kind(protocol::Value::MAP);
      put(value.keys(), *message.add_elements());
      put(value.mapped(), *message.add_elements());
      return;
    case Value::Kind::absent:
    case Value::Kind::unknown:
      message.set_kind(protocol::Value::ABSENT);
      return;
  }
  for (const Value& element : value.elements()) put(element, *message.add_elements());
}

void Channel::put_tensor(const Tensor& tensor, protocol::Tensor& message) {
  message.set_type(static_cast<int>(tensor.type()));
  for (const std::int64_t extent : tensor.shape()) message.add_dims(extent);
  if (tensor.type() == ElementType::string) {
    for (const std::string& text : tensor.data<std::string>()) message.add_texts(text);
    return;
  }
  const bool same = same_in_memory(tensor.type());
  std::string packed = same ? std::string() : to_file_bytes(tensor);
  const void* bytes = same ? tensor.raw() : packed.data();
  const std::size_t count = same ? tensor.byte_size() : packed.size();
  const auto place = shared_ && count > kSmall ? files_.inward->append(bytes, count) : std::nullopt;
  if (place) {
    message.set_in_arena(true);
    message.set_offset(*place);
    message.set_length(count);
  } else {
    message.set_data(bytes, count);
  }
}

std::optional<Value> Channel::take(const protocol::Value& message) {
  return take_from(Place::outward, message);
}

std::optional<Value> Channel::take_shown(const protocol::Value& message) {
  return take_from(Place::shown, message);
}

std::optional<Value> Channel::take_from(Place place, const protocol::Value& message) {
  std::vector<Value> elements;
  for (const protocol::Value& one : message.elements()) {
    std::optional<Value> element = take_from(place, one);
    if (!element) return std::nullopt;
    elements.push_back(*std::move(element));
  }
  switch (message.kind()) {
    case protocol::Value::TENSOR: {
      std::optional<Tensor> tensor = take_tensor(place, message.tensor());
      return tensor ? std::optional<Value>(*std::move(tensor)) : std::nullopt;
    }
    case protocol::Value::SEQUENCE: {
      const ValueType type = elements.empty() ? ValueType{} : elements.front().value_type();
      return Value::sequence(type, std::move(elements));
    }
    case protocol::Value::OPTIONAL:
      return elements.empty() ? Value::optional(ValueType{}) : Value::optional(elements.front());
    case protocol::Value::MAP:
      if (elements.size() != 2 || !elements[0].is_tensor() || !elements[1].is_tensor())
        return std::nullopt;
      return Value::map(elements[0].tensor(), elements[1].tensor());
    default:
      return Value();
  }
}

void Channel::put(const TensorBlock& block, std::span<const NamedValues> feeds,
                  protocol::Request& request) {
  const BlockSource source(block, feeds);
  request.set_count(static_cast<std::uint32_t>(feeds.size()));
  if (shared_ && files_.inward->write(kFeedsStart, source.bytes().parts())) {
    request.set_placed(source.bytes().size() > 0);
  } else {
    source.bytes().copy_to(*request.mutable_data());
  }
}

std::optional<std::vector<NamedValues>> Channel::take(const TensorBlock& block, std::size_t count,
                                                      const protocol::Reply& reply) const {
  BlockTarget target(block, count);
  const bool there = reply.placed()
                         ? shared_ && files_.outward->read(kAnswersStart, target.bytes().parts())
                         : target.bytes().copy_from(reply.data());
  return there ? target.take() : std::nullopt;
}

std::optional<Tensor> Channel::take_tensor(Place place, const protocol::Tensor& message) {
  const auto type = static_cast<ElementType>(message.type());
  const std::optional<Shape> shape = to_shape(message);
  if (!shape || message.type() <= 0 || message.type() >= kElementTypeCount) return std::nullopt;
  if (type == ElementType::string) {
    std::vector<std::string> texts(message.texts().begin(), message.texts().end());
    if (static_cast<std::int64_t>(texts.size()) != element_count(*shape)) return std::nullopt;
    return make_strings(*shape, std::move(texts));
  }
  if (!message.in_arena()) return from_file_bytes(type, *shape, message.data());
  if (!shared_) return std::nullopt;
  // The length is checked before anything is taken for a shape that nobody sent.
  const bool same = same_in_memory(type);
  if (same &&
      message.length() != static_cast<std::uint64_t>(element_count(*shape)) * storage_size(type))
    return std::nullopt;
  const bool lent = place == Place::shown && files_.shown;
  if (same && lent) return files_.shown->lend(type, *shape, message.offset());
  const Arena& arena = lent ? files_.shown->arena() : *files_.outward;
  const std::uint64_t size = arena.size();
  if (message.offset() > size || message.length() > size - message.offset()) return std::nullopt;
  if (same) return arena.read(message.offset(), type, *shape);
  std::string bytes(message.length(), '\0');
  if (!arena.read(message.offset(), bytes.data(), bytes.size())) return std::nullopt;
  return from_file_bytes(type, *shape, bytes);
}

}  // namespace assay
