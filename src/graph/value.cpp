#include "graph/value.h"

#include <utility>

namespace assay {

Value::Value(Tensor tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}

Value Value::bounded(Tensor values, Buffer<double> errors) {
  ASSAY_CHECK(static_cast<std::int64_t>(errors.size()) == values.size());
  Value value(std::move(values));
  if (errors.empty()) return value;  // of nothing, all is known
  auto rest = std::make_shared<Rest>();
  rest->errors = std::make_unique<const Buffer<double>>(std::move(errors));
  value.rest_ = std::move(rest);
  return value;
}

Value Value::ranges(ElementType type, Shape shape, std::vector<Interval> ranges) {
  Value value(Tensor(type, std::move(shape)));
  ASSAY_CHECK(static_cast<std::int64_t>(ranges.size()) == value.tensor_.size());
  if (ranges.empty()) return value;
  auto rest = std::make_shared<Rest>();
  rest->ranges = std::make_unique<const std::vector<Interval>>(std::move(ranges));
  value.rest_ = std::move(rest);
  return value;
}

Value Value::container(Kind kind, ValueType element_type, std::vector<Value> elements) {
  Value value;
  value.kind_ = kind;
  auto rest = std::make_shared<Rest>();
  rest->element_type = std::move(element_type);
  rest->elements = std::make_unique<const std::vector<Value>>(std::move(elements));
  value.rest_ = std::move(rest);
  return value;
}

Value Value::sequence(ValueType element_type, std::vector<Value> elements) {
  return container(Kind::sequence, std::move(element_type), std::move(elements));
}

Value Value::optional(ValueType element_type) {
  return container(Kind::optional, std::move(element_type), {});
}

Value Value::optional(Value element) {
  ASSAY_CHECK(element.present());
  ValueType type = element.value_type();
  return container(Kind::optional, std::move(type), {std::move(element)});
}

Value Value::map(Tensor keys, Tensor values) {
  ASSAY_CHECK(keys.rank() == 1);
  ASSAY_CHECK(values.rank() >= 1);
  ASSAY_CHECK(keys.size() == values.shape()[0]);
  return container(Kind::map, {}, {std::move(keys), std::move(values)});
}

Value Value::unknown() {
  Value value;
  value.kind_ = Kind::unknown;
  return value;
}

ValueType Value::value_type() const {
  switch (kind_) {
    case Kind::tensor:
      return ValueType::tensor(tensor_.type(), to_dims(tensor_.shape()));
    case Kind::sequence:
      return ValueType::sequence(rest_->element_type);
    case Kind::optional:
      return ValueType::optional(rest_->element_type);
    case Kind::map: {
      const Shape& shape = mapped().shape();  // the first axis runs over the keys
      Dims dims(shape.begin() + 1, shape.end());
      return ValueType::map(keys().type(), ValueType::tensor(mapped().type(), std::move(dims)));
    }
    case Kind::absent:
    case Kind::unknown:
      break;
  }
  return {};
}

Value Value::reshaped(Shape shape) const {
  ASSAY_CHECK(is_tensor());
  Value value = *this;
  value.tensor_ = tensor_.reshaped(std::move(shape));
  return value;
}

}  // namespace assay
