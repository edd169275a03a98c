#include "backends/tensor_block.h"

#include <algorithm>
#include <cstring>

namespace assay {

bool same_in_memory(ElementType type) {
  return type != ElementType::string && type != ElementType::boolean &&
         static_cast<std::size_t>(bit_width(type)) == 8 * storage_size(type);
}

std::optional<TensorBlock> TensorBlock::of(const NamedValues& values) {
  TensorBlock block;
  for (const auto& [name, value] : values) {
    if (!value.is_tensor() || value.type() == ElementType::string) return std::nullopt;
    const Tensor& tensor = value.tensor();
    const std::size_t bits =
        static_cast<std::size_t>(tensor.size()) * static_cast<std::size_t>(bit_width(value.type()));
    const std::size_t length = (bits + 7) / 8;
    block.places_.push_back({name, tensor.type(), tensor.shape(), length});
    block.size_ += (length + kAlignment - 1) / kAlignment * kAlignment;
  }
  return block;
}

bool TensorBlock::fits(const NamedValues& values) const {
  return std::equal(places_.begin(), places_.end(), values.begin(), values.end(),
                    [](const Place& place, const NamedValues::value_type& value) {
                      return value.second.is_tensor() && value.first == place.name &&
                             value.second.tensor().type() == place.type &&
                             value.second.tensor().shape() == place.shape;
                    });
}

void ScatteredBytes::add(const void* bytes, std::size_t count) {
  if (count == 0) return;
  parts_.push_back({const_cast<void*>(bytes), count});
  size_ += count;
  if (const std::size_t over = count % TensorBlock::kAlignment; over > 0) {
    parts_.push_back({between_->data(), TensorBlock::kAlignment - over});
    size_ += TensorBlock::kAlignment - over;
  }
}

void ScatteredBytes::copy_to(std::string& bytes) const {
  bytes.reserve(size_);
  for (const iovec& part : parts_) {
    bytes.append(static_cast<const char*>(part.iov_base), part.iov_len);
  }
}

bool ScatteredBytes::copy_from(std::string_view bytes) const {
  if (bytes.size() != size_) return false;
  for (const iovec& part : parts_) {
    std::memcpy(part.iov_base, bytes.data(), part.iov_len);
    bytes.remove_prefix(part.iov_len);
  }
  return true;
}

BlockSource::BlockSource(const TensorBlock& block, std::span<const NamedValues> feeds) {
  for (const NamedValues& feed : feeds) {
    for (std::size_t i = 0; i < feed.size(); ++i) {
      const Tensor& tensor = feed[i].second.tensor();
      const bool same = same_in_memory(tensor.type());
      const void* bytes = same ? tensor.raw() : packed_.emplace_back(to_file_bytes(tensor)).data();
      bytes_.add(bytes, block.places()[i].length);
    }
  }
}

BlockTarget::BlockTarget(const TensorBlock& block, std::size_t count)
    : count_(count), each_(block.places().size()) {
  elements_.reserve(count_ * each_);  // what is added stays where it is
  for (std::size_t number = 0; number < count; ++number) {
    for (const TensorBlock::Place& place : block.places()) {
      Element& element = elements_.emplace_back(Element{&place});
      if (same_in_memory(place.type)) {
        element.tensor = Tensor::uninitialized(place.type, place.shape);
        bytes_.add(element.tensor.raw(), place.length);
      } else {
        element.packed.resize(place.length);
        bytes_.add(element.packed.data(), place.length);
      }
    }
  }
}

std::optional<std::vector<NamedValues>> BlockTarget::take() {
  std::vector<NamedValues> all(count_);
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    Element& element = elements_[i];
    const TensorBlock::Place& place = *element.place;
    std::optional<Tensor> tensor = std::move(element.tensor);
    if (!same_in_memory(place.type)) {
      tensor = from_file_bytes(place.type, place.shape, element.packed);
    }
    if (!tensor) return std::nullopt;
    all[i / each_].emplace_back(place.name, *std::move(tensor));
  }
  return all;
}

}  // namespace assay
