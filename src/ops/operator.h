// Operator: an entry of the catalogue. All that Assay knows about an operator stands here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/check.h"
#include "ops/infer.h"
#include "patterns/call.h"
#include "patterns/function.h"

namespace assay {

// What an attribute is for. A role owns the legal and the hostile values (ops/roles.h).
enum class Role : std::uint8_t {
  sizes,        // extents of windows, strides, dilations
  pads,         // paddings
  axis,         // one axis, negative from the end
  axes,         // several
  permutation,  // of all axes
  flag,         // 0 or 1
  count,        // a whole number of things: groups, heads, blocks
  index,        // a position; may be negative
  number,       // any whole number
  epsilon,      // a small positive number that keeps a division or a root away from zero
  ratio,        // in [0, 1]
  factor,       // any real number
  factors,      // a list of them
  bounds,       // a lower or an upper end
  choice,       // one of a few words
  type,         // an element type
  seed,
  body,   // a graph
  value,  // a tensor
  text,   // free text, patterns, keys
  table,  // parallel lists of a model (trees, supports, classes)
};

struct AttributeRole {
  std::string_view name;
  Role role;
};

// A known other reading of an operator.
struct Variant {
  enum class Kind : std::uint8_t { difference, defect };
  std::string_view name;  // "padding-is-counted"
  Kind kind;
  std::string_view source;  // who computes so
  Composition rewrite;      // the graph that computes so
};

// The gradient: a graph from the node's inputs (0…), then its outputs, then the outputs' gradients,
// to the gradients of its inputs. Without one, `reason` says why.
struct Adjoint {
  Composition graph = nullptr;
  std::string_view reason = "no adjoint is defined yet";
};

struct Alignment;  // ops/alignment.h

struct Operator {
  std::string_view name;
  std::string_view domain = "";
  std::vector<int> versions;              // schema versions to which this entry gives the meaning
  std::string_view summary;               // one sentence
  std::vector<AttributeRole> attributes;  // every attribute of every version
  void (*require)(Check&) = nullptr;      // beyond types, arity and attribute kinds
  void (*infer)(Infer&) = nullptr;
  // Which axes run along together, where the pattern alone does not say it.
  std::optional<Alignment> (*align)(const Call&) = nullptr;
  Meaning meaning;
  Adjoint adjoint = {};
  std::vector<Variant> variants = {};
};

}  // namespace assay
