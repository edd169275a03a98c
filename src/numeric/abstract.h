// Abstract: what is known of a tensor before anything runs: ranges, one for each cell of a grid.
//
// Smashing is a grid of one cell, expansion one of as many cells as there are elements, and
// partitioning starts with one cell and cuts where operators treat elements differently.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rare.h"
#include "graph/types.h"
#include "numeric/root_set.h"
#include "scalar/interval.h"
#include "tensor/tensor.h"

namespace assay {

enum class TensorMode : std::uint8_t { smash, expand, partition };
enum class NumberMode : std::uint8_t { interval, affine };

// Inner positions of each axis, ascending: [2, 5] cuts an axis of 8 into [0,2), [2,5) and [5,8).
using Cuts = std::vector<std::vector<std::int64_t>>;

struct Cell {
  Interval range;
  std::uint32_t form = 0;  // the linear form (numeric/forms.h) of every element; 0: none
};

struct Abstract {
  ValueType type;             // extents may be unknown: then the axis has no cuts
  Tensor exact;               // if defined, the elements; cells are not filled in then
  Cuts cuts;                  // one list an axis; none if not even the rank is known
  std::vector<Cell> cells;    // row-major; empty if nothing is known or there are no elements
  bool assumed = false;       // rests on the range of a type, or on an open extent: nobody gave it
  bool may_be_empty = false;  // how many elements there are, data decide
  Rare<Dims> extents;         // of a list of extents: its elements, some of them open
  RootSet roots;              // the inputs and weights that it depends on
  RootSet mixed;              // those of which one element here depends on several elements

  bool is_tensor() const { return type.is_tensor(); }
  bool ranked() const { return type.dims.has_value(); }
  std::size_t rank() const { return type.dims ? type.dims->size() : 0; }
  bool real() const { return is_tensor() && is_real(type.element); }
};

// How many cells each axis has.
Shape cells_of(const Cuts& cuts);
// The numbers that either list has.
std::vector<std::int64_t> united(const std::vector<std::int64_t>& a,
                                 const std::vector<std::int64_t>& b);
std::vector<std::int64_t> every_position(std::int64_t extent);

// The finite numbers of a type.
Interval finite_range(ElementType type);
// A tensor of which only the range is known.
Abstract uniform(const ValueType& type, const Interval& range);
Abstract constant_abstract(const Tensor& tensor);
// Nothing is known, but that elements are of the type.
Abstract anything(const ValueType& type);

// The smallest range that holds every element; no number for a tensor without elements.
Interval hull_of(const Abstract& x);
// Of elements that may be there: whether all are finite numbers, and whether any is NaN.
struct ElementKinds {
  bool finite = true, nan = false;
};
ElementKinds kinds_of(const Abstract& x);  // of reals
// The range of each cell of another grid, whose cuts are per axis; an exact tensor is looked
// through element by element. The form of a cell stays where it covers the new cell.
std::vector<Cell> regrid(const Abstract& x, const Cuts& cuts);
// The cuts that the elements of a tensor suggest: all of them if they are few.
Cuts natural_cuts(const Abstract& x, TensorMode mode);

// A grid of at most so many cells: axes with the most cells lose their cuts first.
Cuts limited(Cuts cuts, std::int64_t most);

std::string to_text(const Interval& range);

}  // namespace assay
