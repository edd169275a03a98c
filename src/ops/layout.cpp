// Operators that make tensors: constants, ranges, diagonals.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/layout_moves.h"
#include "ops/schema.h"
#include "ops/shape_numbers.h"
#include "patterns/compute.h"
#include "patterns/move.h"

namespace assay {
namespace {

// An element type that an attribute asks for must be one that the table allows for the output.
bool require_output_type(Check& c, std::string_view constraint, ElementType type) {
  const Schema* schema = find_schema("", c.site.node().op, c.site.version());
  const auto& allowed = schema->find_constraint(constraint)->allowed;
  const std::string name = standard_name(ValueType::tensor(type));
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return true;
  return c.argument(false, "output-type", "an element type that the table allows", name);
}

const SparseTensor* sparse_value(const Site& site) {
  const AttributeValue* value = site.node().find("sparse_value");
  const auto* sparse = value ? std::get_if<std::shared_ptr<const SparseTensor>>(value) : nullptr;
  return sparse ? sparse->get() : nullptr;
}

// Where the elements of a sparse tensor stand: their indices are one number each or one an axis.
std::optional<std::vector<std::int64_t>> sparse_places(const SparseTensor& x) {
  const Shape strides = strides_of(x.shape);
  const bool flat = x.indices.rank() < 2;
  const std::size_t width = flat ? 1 : x.shape.size();
  const auto count = static_cast<std::size_t>(x.values.size());
  const std::int64_t total = element_count(x.shape);
  if (x.indices.size() != static_cast<std::int64_t>(count * width)) return std::nullopt;
  const std::vector<std::int64_t> indices = x.indices.integers();
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < width; ++d) {
      const std::int64_t index = indices[i * width + d];
      if (index < 0 || index >= (flat ? total : x.shape[d])) return std::nullopt;
      at += index * (flat ? 1 : strides[d]);
    }
    places.push_back(at);
  }
  return places;
}

Tensor dense(const SparseTensor& x) {
  Tensor result(x.values.type(), x.shape);
  const auto places = sparse_places(x);
  visit_storage(result.type(), [&]<class T>(T*) {
    const auto out = result.mutate<T>();
    const auto values = x.values.data<T>();
    for (std::size_t i = 0; i < values.size(); ++i)
      out[static_cast<std::size_t>((*places)[i])] = values[i];
  });
  return result;
}

bool require_sparse(Check& c, const SparseTensor& x) {
  if (!x.values.defined() || !x.indices.defined() || !is_integer(x.indices.type()))
    return c.argument(false, "sparse", "values and integer indices", "others");
  if (!checked_element_count(x.shape))
    return c.argument(false, "sparse", "extents of 0 or more", to_text(x.shape));
  if (!sensible_size(c, to_dims(x.shape))) return false;
  return sparse_places(x) ||
         c.argument(false, "sparse", "an index inside of the shape for each value", "others");
}

constexpr std::string_view kConstantForms[] = {"value",        "sparse_value", "value_float",
                                               "value_floats", "value_int",    "value_ints",
                                               "value_string", "value_strings"};

void require_constant(Check& c) {
  const auto given = std::count_if(std::begin(kConstantForms), std::end(kConstantForms),
                                   [&](std::string_view form) { return c.site.has(form); });
  if (given != 1) {
    c.argument(false, "one-value", "one attribute with a value", fmt::format("{}", given));
    return;
  }
  if (const SparseTensor* sparse = sparse_value(c.site)) require_sparse(c, *sparse);
  if (const Tensor* value = c.site.tensor("value"); value && !value->defined())
    c.argument(false, "one-value", "a tensor", "none");
}

Tensor constant_value(const Site& site) {
  if (const Tensor* value = site.tensor("value")) return *value;
  if (const SparseTensor* sparse = sparse_value(site)) return dense(*sparse);
  if (site.has("value_float")) return make_scalar(ElementType::f32, site.real("value_float"));
  if (site.has("value_int")) {
    const std::int64_t value = site.integer("value_int");
    return make_integers(ElementType::i64, {}, {&value, 1});
  }
  if (site.has("value_ints")) return make_vector(site.integers("value_ints"));
  if (site.has("value_string")) return make_strings({}, {site.text("value_string")});
  if (site.has("value_strings")) {
    std::vector<std::string> texts = site.texts("value_strings");
    const auto count = static_cast<std::int64_t>(texts.size());
    return make_strings({count}, std::move(texts));
  }
  const std::vector<double>& values = site.reals("value_floats");
  return make_tensor(ElementType::f32, {static_cast<std::int64_t>(values.size())}, values);
}

void infer_constant(Infer& n) {
  if (const SparseTensor* sparse = sparse_value(n.site))
    return n.output(0, sparse->values.type(), to_dims(sparse->shape));
  const Tensor value = constant_value(n.site);
  n.output(0, value.type(), to_dims(value.shape()));
}

Operator constant_operator() {
  return {.name = "Constant",
          .versions = {1, 9, 11, 12, 13, 19, 21, 23, 24, 25},
          .summary = "The tensor that an attribute holds, densely, sparsely or as plain numbers.",
          .attributes = {{"sparse_value", Role::value},
                         {"value", Role::value},
                         {"value_float", Role::factor},
                         {"value_floats", Role::factors},
                         {"value_int", Role::number},
                         {"value_ints", Role::number},
                         {"value_string", Role::text},
                         {"value_strings", Role::text}},
          .require = require_constant,
          .infer = infer_constant,
          .meaning = custom(Pattern::generate,
                            [](Call& call) { call.outputs[0] = constant_value(call.site); })};
}

void require_constant_of_shape(Check& c) {
  if (const Tensor* value = c.site.tensor("value")) {
    if (value->size() != 1) {
      c.argument(false, "value-size", "one element in value", to_text(value->shape()));
      return;
    }
    if (!require_output_type(c, "T2", value->type())) return;
  }
  if (!c.rank("input", exactly(1))) return;
  const Numbers shape = numbers(c.site, "", 0);
  if (!shape.values) return c.undecided("extent-range", "the elements of input");
  for (std::int64_t extent : *shape.values)
    if (extent < 0) {
      c.argument(false, "extent-range", "extents of 0 or more", fmt::format("{}", extent));
      return;
    }
  sensible_size(c, to_dims(*shape.values));
}

void infer_constant_of_shape(Infer& n) {
  const Tensor* value = n.site.tensor("value");
  ValueType type = ValueType::tensor(value ? value->type() : ElementType::f32);
  type.dims = dims_from_input(n.site, 0);
  n.output(0, std::move(type));
}

void evaluate_constant_of_shape(Call& call) {
  call.exact(0);
  const Tensor* value = call.site.tensor("value");
  const Shape shape = call.output_shape(0);
  if (!value || element_count(shape) == 0) {
    call.outputs[0] = Tensor(call.output_type(0), shape);
    return;
  }
  const std::vector<Value> inputs = {Value(*value)};
  const Call filled{call.site, call.reading, inputs, {}, {}, call.evaluator};
  call.outputs[0] = moved(filled, {{}, 0, false}, call.output_type(0), shape);
}

Operator constant_of_shape() {
  return {.name = "ConstantOfShape",
          .versions = {9, 20, 21, 23, 24, 25},
          .summary = "A tensor of the given shape, filled with one value.",
          .attributes = {{"value", Role::value}},
          .require = require_constant_of_shape,
          .infer = infer_constant_of_shape,
          .meaning = custom(Pattern::generate, evaluate_constant_of_shape)};
}

ElementType eye_type(const Site& site) {
  if (!site.has("dtype")) return site.element(0);
  const std::int64_t type = site.integer("dtype");
  return type > 0 && type < kElementTypeCount ? static_cast<ElementType>(type)
                                              : ElementType::undefined;
}

void require_eye_like(Check& c) {
  c.rank("input", exactly(2));
  if (c.site.has("dtype")) require_output_type(c, "T2", eye_type(c.site));
}

void infer_eye_like(Infer& n) {
  ValueType type = ValueType::tensor(eye_type(n.site), {Dim(), Dim()});
  if (const Dims* x = n.dims(0); x && x->size() == 2) type.dims = *x;
  n.output(0, std::move(type));
}

void evaluate_eye_like(Call& call) {
  const Shape shape = call.output_shape(0);
  const std::int64_t rows = shape[0], columns = shape[1];
  const std::int64_t k = std::clamp(call.site.integer("k"), -rows, columns);
  Tensor result(call.output_type(0), shape);
  visit_storage(result.type(), [&]<class T>(T*) {
    if constexpr (std::is_arithmetic_v<T>) {
      const auto out = result.mutate<T>();
      for (std::int64_t i = std::max<std::int64_t>(0, -k); i < rows && i + k < columns; ++i)
        out[static_cast<std::size_t>(i * columns + i + k)] = T(1);
    }
  });
  call.outputs[0] = std::move(result);
}

Operator eye_like() {
  return {.name = "EyeLike",
          .versions = {9, 22},
          .summary = "Ones on the k-th diagonal of a matrix of the input's shape, zeros elsewhere.",
          .attributes = {{"dtype", Role::type}, {"k", Role::number}},
          .require = require_eye_like,
          .infer = infer_eye_like,
          .meaning = custom(Pattern::generate, evaluate_eye_like)};
}

// The number of elements of a range; absent if the ends are not known, negative if they are not
// finite, the step is zero or the number is beyond all bounds.
std::optional<std::int64_t> range_count(const Site& site) {
  const Tensor *start = site.constant(0), *limit = site.constant(1), *delta = site.constant(2);
  if (!start || !limit || !delta) return std::nullopt;
  if (start->size() != 1 || limit->size() != 1 || delta->size() != 1) return std::nullopt;
  if (is_integer(start->type())) {
    const __int128 from = start->integer(0), to = limit->integer(0), step = delta->integer(0);
    if (step == 0) return -1;
    const __int128 length = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
    const __int128 count = length <= 0 ? 0 : (length - 1) / stride + 1;
    return count > kMostElements ? -1 : static_cast<std::int64_t>(count);
  }
  const double count = std::ceil((limit->real(0) - start->real(0)) / delta->real(0));
  if (!(std::abs(count) <= static_cast<double>(kMostElements))) return count < 0 ? 0 : -1;
  return static_cast<std::int64_t>(std::max(count, 0.0));
}

void require_range(Check& c) {
  for (const char* input : {"start", "limit", "delta"})
    if (!c.element_count_is(input, 1)) return;
  const ElementType type = c.site.element(0);
  const std::int64_t stash = c.site.integer("stash_type", 1);
  if ((type == ElementType::f16 || type == ElementType::bf16) && stash != 1 && stash != 11) {
    c.argument(false, "stash-type", "float or double", fmt::format("{}", stash));
    return;
  }
  if (const Tensor* delta = c.site.constant(2); delta && delta->real(0) == 0) {
    c.argument(false, "delta-zero", "a delta other than 0", "0");
    return;
  }
  const auto count = range_count(c.site);
  if (!count) return c.undecided("count", "start, limit and delta");
  if (*count < 0)
    c.argument(false, "count", fmt::format("at most {} numbers", kMostElements), "more");
}

void infer_range(Infer& n) {
  if (const auto count = range_count(n.site)) return n.output(0, n.element(0), {Dim(*count)});
  // From 0 in steps of 1: as many as the limit says, be it only a name.
  const Tensor *start = n.site.constant(0), *delta = n.site.constant(2);
  const auto limit = n.site.extents(1);
  const bool whole = start && delta && is_integer(start->type()) && start->size() == 1 &&
                     delta->size() == 1 && limit && limit->size() == 1;
  const bool counts = whole && start->integer(0) == 0 && delta->integer(0) == 1;
  n.output(0, n.element(0), {counts ? limit->front() : Dim()});
}

struct Range {
  template <class S>
  void operator()(Frame<S>& frame) const {
    for (std::size_t i = 0; i < 3; ++i) frame.exact(i);
    const S start = frame.input(0)[0], delta = frame.input(2)[0];
    const Shape shape = frame.output_shape(0);
    Settler<S> y(frame.call().output_type(0), shape);
    std::array<S, 1024> piece;
    for (std::int64_t begin = 0; begin < shape[0]; begin += std::ssize(piece)) {
      const std::int64_t count = std::min<std::int64_t>(std::ssize(piece), shape[0] - begin);
      for (std::int64_t i = 0; i < count; ++i)
        piece[static_cast<std::size_t>(i)] = start + constant<S>(begin + i) * delta;
      y.put(begin, count, piece.data());
    }
    frame.output(0, y.finish());
  }
};

Operator range() {
  return {.name = "Range",
          .versions = {11, 27},
          .summary = "The numbers from start up to limit, in steps of delta.",
          .attributes = {{"stash_type", Role::type}},
          .require = require_range,
          .infer = infer_range,
          .meaning = compute<Range, RealsAndIntegers>(Pattern::generate)};
}

}  // namespace

std::vector<Operator> layout_operators() {
  std::vector<Operator> all = {constant_operator(), constant_of_shape(), eye_like(), range()};
  for (Operator& entry : layout_border_operators()) all.push_back(std::move(entry));
  for (Operator& entry : layout_block_operators()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay
