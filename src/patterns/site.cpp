#include "patterns/site.h"

#include <algorithm>
#include <atomic>

namespace assay {
namespace {

template <class T>
const T* get(const Node& node, std::string_view attribute) {
  const AttributeValue* value = node.find(attribute);
  return value ? std::get_if<T>(value) : nullptr;
}

template <class T>
T get_or(const Node& node, std::string_view attribute, T fallback) {
  const T* value = get<T>(node, attribute);
  return value ? *value : std::move(fallback);
}

template <class T>
const std::vector<T>& get_list(const Node& node, std::string_view attribute) {
  static const std::vector<T> kNone;
  const auto* value = get<std::vector<T>>(node, attribute);
  return value ? *value : kNone;
}

// That input i was asked for: kernels ask from several threads.
void note(std::uint64_t& inputs, std::size_t i) {
  const std::uint64_t bit = std::uint64_t{1} << std::min<std::size_t>(i, 63);
  const std::atomic_ref<std::uint64_t> read(inputs);
  if ((read.load(std::memory_order_relaxed) & bit) == 0) {
    read.fetch_or(bit, std::memory_order_relaxed);
  }
}

}  // namespace

const ValueType& Site::type(std::size_t i) const {
  static const ValueType kUnknown;
  if (!has_input(i)) return kUnknown;
  note(shapes_read_, i);
  return inputs[i].type;
}

const Dims* Site::dims(std::size_t i) const {
  const ValueType& known = type(i);
  return known.is_tensor() && known.dims ? &*known.dims : nullptr;
}

std::optional<std::int64_t> Site::rank(std::size_t i) const {
  if (!has_input(i) || !inputs[i].type.is_tensor() || !inputs[i].type.dims) return std::nullopt;
  return static_cast<std::int64_t>(inputs[i].type.dims->size());
}

const Tensor* Site::constant(std::size_t i) const {
  if (!has_input(i)) return nullptr;
  note(elements_read_, i);
  if (i < values.size()) {
    return values[i].is_tensor() && values[i].exact() ? &values[i].tensor() : nullptr;
  }
  return inputs[i].constant.defined() ? &inputs[i].constant : nullptr;
}

std::optional<std::vector<Dim>> Site::extents(std::size_t i) const {
  if (!has_input(i)) return std::nullopt;
  if (const Tensor* known = constant(i)) {
    if (!is_integer(known->type())) return std::nullopt;
    std::vector<Dim> result;
    for (std::int64_t value : known->integers()) {
      Dim dim;
      dim.value = value;
      result.push_back(dim);
    }
    return result;
  }
  if (inputs[i].extents) return inputs[i].extents;
  const Dims* known = dims(i);
  if (known && known->size() == 1 && known->front().known() && known->front().value <= 64)
    return std::vector<Dim>(static_cast<std::size_t>(known->front().value));
  return std::nullopt;
}

std::int64_t Site::integer(std::string_view attribute, std::int64_t fallback) const {
  return get_or(*node_, attribute, fallback);
}
double Site::real(std::string_view attribute, double fallback) const {
  return get_or(*node_, attribute, fallback);
}
const std::string& Site::text(std::string_view attribute) const {
  static const std::string kNone;
  const auto* value = get<std::string>(*node_, attribute);
  return value ? *value : kNone;
}
const std::vector<std::int64_t>& Site::integers(std::string_view attribute) const {
  return get_list<std::int64_t>(*node_, attribute);
}
const std::vector<double>& Site::reals(std::string_view attribute) const {
  return get_list<double>(*node_, attribute);
}
const std::vector<std::string>& Site::texts(std::string_view attribute) const {
  return get_list<std::string>(*node_, attribute);
}
const Tensor* Site::tensor(std::string_view attribute) const {
  return get<Tensor>(*node_, attribute);
}
const Graph* Site::graph(std::string_view attribute) const {
  const auto* value = get<std::shared_ptr<const Graph>>(*node_, attribute);
  return value ? value->get() : nullptr;
}

std::optional<std::int64_t> normalize_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

}  // namespace assay
