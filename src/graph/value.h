// Value: what flows along an edge when a graph is evaluated, in any of the readings.
#pragma once

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

#include "graph/types.h"
#include "scalar/bounded.h"
#include "scalar/interval.h"
#include "tensor/buffer.h"
#include "tensor/tensor.h"

namespace assay {

// How a graph is read: its values, its values with rounding errors, or ranges of them.
enum class Reading : std::uint8_t { value, bounded, interval };

// A tensor that is exact carries no spread, whatever the reading: shapes, indices and weights stay
// plain tensors. A bounded value adds an error per element; a range replaces the elements.
class Value {
 public:
  enum class Kind : std::uint8_t { absent, tensor, sequence, optional, map, unknown };

  Value() = default;     // an optional input that is not given
  Value(Tensor tensor);  // NOLINT(google-explicit-constructor)
  static Value bounded(Tensor values, Buffer<double> errors);
  template <std::same_as<std::vector<double>> Errors>
  static Value bounded(Tensor values, const Errors& errors) {
    return bounded(std::move(values), Buffer<double>(errors.begin(), errors.end()));
  }
  static Value ranges(ElementType type, Shape shape, std::vector<Interval> ranges);
  static Value sequence(ValueType element_type, std::vector<Value> elements);
  static Value optional(ValueType element_type);  // empty
  static Value optional(Value element);
  static Value map(Tensor keys, Tensor values);
  static Value unknown();  // of a node that nobody can evaluate

  Kind kind() const { return kind_; }
  bool present() const { return kind_ != Kind::absent; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  bool exact() const { return !errors() && !intervals(); }  // of a tensor

  // A tensor's type and shape hold in every reading; its elements only where it has no ranges.
  ElementType type() const { return tensor_.type(); }
  const Shape& shape() const { return tensor_.shape(); }
  const Tensor& tensor() const { return tensor_; }
  const Buffer<double>* errors() const { return rest_ ? rest_->errors.get() : nullptr; }
  const std::vector<Interval>* intervals() const { return rest_ ? rest_->ranges.get() : nullptr; }

  const std::vector<Value>& elements() const {  // of a sequence, or of an optional (0 or 1)
    return *rest_->elements;
  }
  const Tensor& keys() const { return elements().at(0).tensor(); }  // map
  const Tensor& mapped() const { return elements().at(1).tensor(); }
  ValueType value_type() const;  // with all that is known

  Value reshaped(Shape shape) const;  // same elements, in every reading

 private:
  static Value container(Kind kind, ValueType element_type, std::vector<Value> elements);

  Kind kind_ = Kind::absent;
  Tensor tensor_;  // with ranges: a tensor of the right type and shape whose elements mean nothing
  // What a plain tensor has not, in one place: values are moved about a lot, and most are plain.
  struct Rest {
    std::unique_ptr<const Buffer<double>> errors{};
    std::unique_ptr<const std::vector<Interval>> ranges{};
    std::unique_ptr<const std::vector<Value>> elements{};
    ValueType element_type{};
  };
  std::shared_ptr<const Rest> rest_;
};

}  // namespace assay
