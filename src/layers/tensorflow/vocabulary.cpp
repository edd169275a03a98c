#include "layers/tensorflow/vocabulary.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay::tensorflow {

std::string_view standard_name(std::span<const Renamed> table, std::string_view op) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Renamed& row) { return row.op == op; });
  ASSAY_CHECK(found != table.end());
  return found->standard;
}

Names all_inputs(const Builder& b) {
  Names inputs;
  for (std::size_t i = 0; i < b.site().input_count(); ++i) inputs.push_back(b.input(i));
  return inputs;
}

ElementType type_of(const Builder& b, std::string_view attribute) {
  const auto type = static_cast<ElementType>(b.site().integer(attribute));
  if (type == ElementType::undefined || static_cast<int>(type) >= kElementTypeCount) {
    throw NotDefined(fmt::format("its attribute {} names no type of the standard", attribute));
  }
  return type;
}

std::string number(Builder& b, double value, std::string_view attribute) {
  const ElementType type = type_of(b, attribute);
  if (!is_real(type) && !is_integer(type)) {
    throw NotDefined(fmt::format("it is not defined for {}", short_name(type)));
  }
  return b.constant(make_scalar(type, value));
}

std::string cast(Builder& b, std::string value, ElementType type) {
  return b("Cast", {std::move(value)}, {attribute("to", static_cast<std::int64_t>(type))});
}

std::string to_type(Builder& b, std::string value, std::string_view attribute) {
  return cast(b, std::move(value), type_of(b, attribute));
}

std::string square(Builder& b, const std::string& value) { return b("Mul", {value, value}); }

std::string indices(Builder& b, std::size_t i) {
  if (const Tensor* known = b.site().constant(i)) {
    return b.constant(make_integers(ElementType::i64, known->shape(), known->integers()));
  }
  return cast(b, b.input(i), ElementType::i64);
}

std::string flat_indices(Builder& b, std::size_t i) {
  if (const auto known = known_integers(b, i)) return b.integers(*known);
  return flat(b, indices(b, i));
}

std::string flat(Builder& b, const std::string& value) {
  return b("Reshape", {value, b.integers({-1})});
}

std::optional<std::vector<std::int64_t>> known_integers(const Builder& b, std::size_t i) {
  const Tensor* known = b.site().constant(i);
  if (!known || !is_integer(known->type())) return std::nullopt;
  return known->integers();
}

std::vector<std::int64_t> needed_integers(const Builder& b, std::size_t i, const char* what) {
  auto known = known_integers(b, i);
  if (!known) throw NotDefined(fmt::format("{} is not known before the graph runs", what));
  return *std::move(known);
}

std::int64_t needed_integer(const Builder& b, std::size_t i, const char* what) {
  const std::vector<std::int64_t> known = needed_integers(b, i, what);
  if (known.size() != 1) throw NotDefined(fmt::format("{} is not one number", what));
  return known.front();
}

std::string extent(Builder& b, const std::string& value, std::int64_t axis) {
  Builder::Attributes part = {attribute("start", axis)};
  if (axis != -1) part.push_back(attribute("end", axis + 1));
  return b("Shape", {value}, std::move(part));
}

std::string rank_of(Builder& b, const std::string& value) {
  return b("Shape", {b("Shape", {value})});
}

std::string shape_from(Builder& b, const std::string& value, const std::string& axis) {
  return b("Slice", {b("Shape", {value}), axis, b.integers({kToEnd})});
}

std::string join(Builder& b, Names values) {
  return b("Concat", std::move(values), {attribute("axis", 0)});
}

std::string zeros(Builder& b, const std::string& shape, ElementType type, double value) {
  if (!is_real(type) && !is_integer(type) && type != ElementType::boolean) {
    throw NotDefined(fmt::format("it is not defined for {}", short_name(type)));
  }
  return b("ConstantOfShape", {shape},
           {attribute("value", make_scalar(type, value).reshaped({1}))});
}

std::string count_up(Builder& b, const std::string& end) {
  return b("Range", {b.integer(0), b("Squeeze", {end, b.integers({0})}), b.integer(1)});
}

std::string sum_over(Builder& b, const std::string& value, const std::string& axes, bool keep) {
  return b("ReduceSum", {value, axes},
           {attribute("keepdims", keep ? 1 : 0), attribute("noop_with_empty_axes", 1)});
}

std::string mean_over(Builder& b, const std::string& value, const std::string& axes, bool keep) {
  return b("ReduceMean", {value, axes},
           {attribute("keepdims", keep ? 1 : 0), attribute("noop_with_empty_axes", 1)});
}

std::string transpose(Builder& b, const std::string& value, std::vector<std::int64_t> perm) {
  return b("Transpose", {value}, {attribute("perm", std::move(perm))});
}

bool channels_last(const Builder& b) { return !b.site().text("data_format").starts_with("NC"); }

namespace {

std::size_t image_rank(const Builder& b) {
  const std::size_t named = b.site().text("data_format").size();
  return named < 3 ? 4 : named;
}

}  // namespace

std::string channels_first(Builder& b, const std::string& value) {
  if (!channels_last(b)) return value;
  const auto rank = static_cast<std::int64_t>(image_rank(b));
  std::vector<std::int64_t> perm = {0, rank - 1};
  for (std::int64_t axis = 1; axis + 1 < rank; ++axis) perm.push_back(axis);
  return transpose(b, value, perm);
}

std::string as_data_format(Builder& b, const std::string& value) {
  if (!channels_last(b)) return b("Identity", {value});
  const auto rank = static_cast<std::int64_t>(image_rank(b));
  std::vector<std::int64_t> perm = {0};
  for (std::int64_t axis = 2; axis < rank; ++axis) perm.push_back(axis);
  perm.push_back(1);
  return transpose(b, value, perm);
}

std::vector<std::int64_t> spatial(const Builder& b, std::string_view attribute) {
  const std::vector<std::int64_t> all = b.site().integers(attribute);
  const std::size_t rank = image_rank(b);
  if (all.empty()) return std::vector<std::int64_t>(rank - 2, 1);
  if (all.size() != rank) throw NotDefined(fmt::format("its {} has no value an axis", attribute));
  const auto first = all.begin() + (channels_last(b) ? 1 : 2);
  return {first, first + static_cast<std::ptrdiff_t>(rank - 2)};
}

std::string channel_axes(Builder& b, const std::string& value) {
  const std::string rank = rank_of(b, value);
  if (channels_last(b)) return count_up(b, b("Sub", {rank, b.integers({1})}));
  const std::string after =
      b("Range", {b.integer(2), b("Squeeze", {rank, b.integers({0})}), b.integer(1)});
  return join(b, {b.integers({0}), after});
}

std::string along_channels(Builder& b, const std::string& vector, const std::string& like) {
  if (channels_last(b)) return vector;
  const std::string ones =
      zeros(b, b("Sub", {rank_of(b, like), b.integers({2})}), ElementType::i64, 1);
  return b("Reshape", {vector, join(b, {b.integers({-1}), ones})});
}

}  // namespace assay::tensorflow
