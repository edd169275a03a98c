#include "graph/value.h"

#include <utility>

namespace assay {

Value::Value(Tensor tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}

Value Value::bounded(Tensor values, std::vector<double> errors) {
  ASSAY_CHECK(static_cast<std::int64_t>(errors.size()) == values.size());
  Value value(std::move(values));
  if (errors.empty()) return value;  // of nothing, all is known
  value.errors_ = std::make_shared<const std::vector<double>>(std::move(errors));
  return value;
}

Value Value::ranges(ElementType type, Shape shape, std::vector<Interval> ranges) {
  Value value(Tensor(type, std::move(shape)));
  ASSAY_CHECK(static_cast<std::int64_t>(ranges.size()) == value.tensor_.size());
  if (ranges.empty()) return value;
  value.ranges_ = std::make_shared<const std::vector<Interval>>(std::move(ranges));
  return value;
}

Value Value::sequence(ValueType element_type, std::vector<Value> elements) {
  Value value;
  value.kind_ = Kind::sequence;
  value.element_type_ = std::make_shared<const ValueType>(std::move(element_type));
  value.elements_ = std::make_shared<const std::vector<Value>>(std::move(elements));
  return value;
}

Value Value::optional(ValueType element_type) {
  Value value;
  value.kind_ = Kind::optional;
  value.element_type_ = std::make_shared<const ValueType>(std::move(element_type));
  value.elements_ = std::make_shared<const std::vector<Value>>();
  return value;
}

Value Value::optional(Value element) {
  ASSAY_CHECK(element.present());
  Value value = optional(element.value_type());
  std::vector<Value> elements;
  elements.push_back(std::move(element));
  value.elements_ = std::make_shared<const std::vector<Value>>(std::move(elements));
  return value;
}

Value Value::map(Tensor keys, Tensor values) {
  ASSAY_CHECK(keys.rank() == 1);
  ASSAY_CHECK(values.rank() >= 1);
  ASSAY_CHECK(keys.size() == values.shape()[0]);
  Value value;
  value.kind_ = Kind::map;
  value.elements_ = std::make_shared<const std::vector<Value>>(
      std::vector<Value>{Value(std::move(keys)), Value(std::move(values))});
  return value;
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
      return ValueType::sequence(*element_type_);
    case Kind::optional:
      return ValueType::optional(*element_type_);
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
