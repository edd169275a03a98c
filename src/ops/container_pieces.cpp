#include "ops/container_pieces.h"

#include <algorithm>

#include "patterns/array.h"

namespace assay {
namespace {

// How a tensor is cut by one axis: `outer` blocks of `extent` rows of `inner` elements.
struct Cut {
  std::int64_t outer = 1, extent = 1, inner = 1;
};

Cut cut(const Shape& shape, std::size_t axis) {
  Cut c;
  c.outer = element_count(std::span(shape).first(axis));
  c.extent = shape[axis];
  c.inner = element_count(std::span(shape).subspan(axis + 1));
  return c;
}

template <class T>
void copy_rows(const T* from, std::int64_t from_step, T* to, std::int64_t to_step,
               std::int64_t blocks, std::int64_t count) {
  for (std::int64_t o = 0; o < blocks; ++o)
    std::copy_n(from + o * from_step, count, to + o * to_step);
}

// Errors or ranges of a part that has none of its own.
std::vector<double> errors_of(const Value& value) {
  if (const auto* errors = value.errors()) return {errors->begin(), errors->end()};
  return std::vector<double>(static_cast<std::size_t>(value.tensor().size()));
}

bool any_ranges(std::span<const Value> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Value& v) { return v.intervals(); });
}

bool any_errors(std::span<const Value> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Value& v) { return v.errors(); });
}

// Calls copy(part, to, step) for each part: where its first row goes and how far its blocks lie
// apart in the result.
template <class Copy>
void for_parts(std::span<const Value> parts, const Shape& shape, std::size_t axis, Copy&& copy) {
  const std::int64_t inner = cut(shape, axis).inner, step = shape[axis] * inner;
  std::int64_t to = 0;
  for (const Value& part : parts) {
    copy(part, to, step);
    to += part.shape()[axis] * inner;
  }
}

template <class T, class Source>
std::vector<T> join_side(std::span<const Value> parts, const Shape& shape, std::size_t axis,
                         Source&& source) {
  std::vector<T> result(static_cast<std::size_t>(element_count(shape)));
  for_parts(parts, shape, axis, [&](const Value& part, std::int64_t to, std::int64_t step) {
    const Cut c = cut(part.shape(), axis);
    const std::vector<T> data = source(part);
    copy_rows(data.data(), c.extent * c.inner, result.data() + to, step, c.outer,
              c.extent * c.inner);
  });
  return result;
}

Tensor join_tensors(std::span<const Value> parts, const Shape& shape, std::size_t axis) {
  Tensor result(parts[0].type(), shape);
  visit_storage(result.type(), [&]<class T>(T*) {
    T* target = result.mutate<T>().data();
    for_parts(parts, shape, axis, [&](const Value& part, std::int64_t to, std::int64_t step) {
      const Cut c = cut(part.shape(), axis);
      copy_rows(part.tensor().data<T>().data(), c.extent * c.inner, target + to, step, c.outer,
                c.extent * c.inner);
    });
  });
  return result;
}

Dim common_dim(const Dim& a, const Dim& b) { return a.same_as(b) ? a : Dim(); }

}  // namespace

Shape without_axis(Shape shape, std::size_t axis) {
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return shape;
}

Shape with_axis(Shape shape, std::size_t axis, std::int64_t extent) {
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), extent);
  return shape;
}

Value piece(const Value& value, std::size_t axis, std::int64_t begin, std::int64_t end) {
  const Cut c = cut(value.shape(), axis);
  Shape shape = value.shape();
  shape[axis] = end - begin;
  const std::int64_t count = (end - begin) * c.inner, from = begin * c.inner;
  const auto take = [&]<class T>(const T* data) {
    std::vector<T> side(static_cast<std::size_t>(c.outer * count));
    copy_rows(data + from, c.extent * c.inner, side.data(), count, c.outer, count);
    return side;
  };
  if (value.intervals()) return Value::ranges(value.type(), shape, take(value.intervals()->data()));
  Tensor result(value.type(), shape);
  visit_storage(value.type(), [&]<class T>(T*) {
    copy_rows(value.tensor().data<T>().data() + from, c.extent * c.inner, result.mutate<T>().data(),
              count, c.outer, count);
  });
  if (value.errors()) return Value::bounded(std::move(result), take(value.errors()->data()));
  return result;
}

Value joined(std::span<const Value> parts, std::size_t axis) {
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Value& part : parts) shape[axis] += part.shape()[axis];
  if (any_ranges(parts))
    return Value::ranges(parts[0].type(), shape,
                         join_side<Interval>(parts, shape, axis, [](const Value& part) {
                           return load<Interval>(part).data;
                         }));
  Tensor result = join_tensors(parts, shape, axis);
  if (!any_errors(parts)) return result;
  return Value::bounded(std::move(result), join_side<double>(parts, shape, axis, errors_of));
}

ValueType common_type(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind || a.element != b.element) return {};
  ValueType result = a;
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) {
    result.dims.reset();
  } else {
    for (std::size_t d = 0; d < a.dims->size(); ++d)
      (*result.dims)[d] = common_dim((*a.dims)[d], (*b.dims)[d]);
  }
  if (a.inner && b.inner)
    result.inner = std::make_shared<const ValueType>(common_type(*a.inner, *b.inner));
  return result;
}

ValueType common_type(std::span<const Value> values) {
  ValueType type = values.empty() ? ValueType() : values[0].value_type();
  for (const Value& value : values) type = common_type(type, value.value_type());
  return type;
}

namespace {

template <class S>
Value hull_tensors(const Value& a, const Value& b) {
  Array<S> x = load<S>(a);
  const Array<S> y = load<S>(b);
  for (std::int64_t i = 0; i < x.size(); ++i) x[i] = hull(x[i], y[i]);
  return settle(a.type(), x);
}

bool has_ranges(ElementType type) {
  return is_real(type) || is_integer(type) || type == ElementType::boolean;
}

}  // namespace

Value hull_of(const Value& a, const Value& b, Reading reading) {
  if (a.kind() != b.kind()) return Value::unknown();
  if (a.is_tensor()) {
    if (a.type() != b.type() || a.shape() != b.shape()) return Value::unknown();
    if (a.exact() && b.exact() && identical(a.tensor(), b.tensor())) return a;
    if (!has_ranges(a.type()) || reading == Reading::value) return Value::unknown();
    return reading == Reading::interval ? hull_tensors<Interval>(a, b)
                                        : hull_tensors<Bounded>(a, b);
  }
  if (a.kind() != Value::Kind::sequence && a.kind() != Value::Kind::optional)
    return Value::unknown();
  if (a.elements().size() != b.elements().size()) return Value::unknown();
  std::vector<Value> elements;
  for (std::size_t i = 0; i < a.elements().size(); ++i) {
    elements.push_back(hull_of(a.elements()[i], b.elements()[i], reading));
    if (elements.back().kind() == Value::Kind::unknown) return Value::unknown();
  }
  if (a.kind() == Value::Kind::optional)
    return elements.empty() ? a : Value::optional(std::move(elements.front()));
  return Value::sequence(*common_type(a.value_type(), b.value_type()).inner, std::move(elements));
}

}  // namespace assay
