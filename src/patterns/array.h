// Array<S>: the elements of a value as scalars of one reading, and the way back into a value.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "graph/value.h"
#include "scalar/sequences.h"
#include "scalar/tighten.h"
#include "scalar/vocabulary.h"

namespace assay {

template <class S>
struct Array {
  Shape shape;
  std::vector<S> data;

  Array() = default;
  explicit Array(Shape extents, S fill = S())
      : shape(std::move(extents)), data(static_cast<std::size_t>(element_count(shape)), fill) {}
  std::int64_t size() const { return static_cast<std::int64_t>(data.size()); }
  S& operator[](std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
  const S& operator[](std::int64_t i) const { return data[static_cast<std::size_t>(i)]; }
};

// Elements [begin, end) of a value. S: double, Bounded, Interval (real, integer and boolean
// values), std::int64_t, std::uint64_t (integer and boolean values that are exact).
template <class S>
void load(const Value& value, std::int64_t begin, std::int64_t end, S* out);
template <class S>
Array<S> load(const Value& value);

// Collects the elements of an output and settles them in its type: rounds to the format (the error
// grows by what rounding moved), wraps integers (a range that may wrap becomes the whole range).
template <class S>
class Settler {
 public:
  Settler(ElementType type, Shape shape);
  void put(std::int64_t begin, std::int64_t count, const S* values);  // disjoint parts, any thread
  // The same with values and errors apart.
  void put(std::int64_t begin, std::int64_t count, const double* values, const double* errors)
    requires std::is_same_v<S, Bounded>;
  Value finish();

 private:
  void* place(std::int64_t at);

  ElementType type_;
  Tensor tensor_;
  Buffer<double> errors_;
  std::vector<Interval> ranges_;
};

template <class S>
Value settle(ElementType type, const Array<S>& array);

// Rounds numbers to float32; their errors grow by what that moves.
void settle_singles(const double* given, std::int64_t count, float* values, double* errors);

// The rounding that the type's operations have (exact for integers).
const Rounding& rounding_of(ElementType type);
// Every value of the type, NaN and infinities included.
Interval whole_range(ElementType type);

}  // namespace assay
