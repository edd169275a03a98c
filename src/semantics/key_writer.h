// KeyWriter: what is known of a node, as a text that is the same for no other.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "graph/graph.h"

namespace assay {

// Texts and numbers as bytes, each behind its length or kind, so that no two lists give one key.
// They gather in a place of their own: a key is made for every node that is looked at.
class KeyWriter {
 public:
  static constexpr std::int64_t kMostElements = 64;  // of a tensor in a key

  void mark(char value) {
    if (size_ == buffer_.size()) flush();
    buffer_[size_++] = value;
  }
  void number(std::int64_t value) {  // small ones in one byte
    constexpr std::size_t kMostBytes = 10;
    if (buffer_.size() - size_ < kMostBytes) flush();
    auto rest = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
    for (; rest >= 128; rest >>= 7) buffer_[size_++] = static_cast<char>(rest | 128);
    buffer_[size_++] = static_cast<char>(rest);
  }
  void count(std::size_t value) { number(static_cast<std::int64_t>(value)); }
  void numbers(std::span<const std::int64_t> values) {
    count(values.size());
    for (const std::int64_t value : values) number(value);
  }
  void dims(std::span<const Dim> values) {
    count(values.size());
    for (const Dim& dim : values) {
      number(dim.value);
      if (dim.known()) continue;
      number(dim.symbol.factor());
      text(dim.symbol.base().text());
    }
  }
  void text(std::string_view value) {
    count(value.size());
    bytes(value.data(), value.size());
  }
  void bytes(const void* from, std::size_t count) {
    if (count > buffer_.size() - size_) flush();
    if (count > buffer_.size()) {
      key_.append(static_cast<const char*>(from), count);
    } else if (count != 0) {
      std::memcpy(buffer_.data() + size_, from, count);
      size_ += count;
    }
  }
  // False for values that are graphs, tensors or lists of other than integers.
  bool attribute(const AttributeValue& value) {
    count(value.index());
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      number(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      bytes(real, sizeof *real);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      text(*word);
    } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
      numbers(*list);
    } else {
      return false;
    }
    return true;
  }
  // Of an operator in one version, which has this schema: what its node says beside its names.
  bool node(const Node& node, const void* schema) {
    number(reinterpret_cast<std::intptr_t>(schema));
    count(node.attributes.size());
    for (const Attribute& one : node.attributes) {
      text(one.name);
      if (!attribute(one.value)) return false;
    }
    outputs(node);
    return true;
  }
  // False for one of more elements than a key should have, or of strings.
  bool tensor(const Tensor& tensor) {
    if (tensor.type() == ElementType::string || tensor.size() > kMostElements) return false;
    number(static_cast<std::int64_t>(tensor.type()));
    numbers(tensor.shape());
    bytes(tensor.raw(), tensor.byte_size());
    return true;
  }
  void outputs(const Node& node) {  // which of them are wanted
    count(node.outputs.size());
    for (const std::string& output : node.outputs) mark(output.empty() ? '-' : '+');
  }

  std::size_t size() const { return key_.size() + size_; }
  std::string key() {
    flush();
    return std::move(key_);
  }

 private:
  void flush() {
    key_.append(buffer_.data(), size_);
    size_ = 0;
  }

  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
  std::string key_;
};

}  // namespace assay
