// Layer: an entry of the table of Keras layers, each a function over the catalogue's operators.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/operator.h"

namespace assay::keras {

class Body;

// An argument of a layer's constructor. Without a fallback it must be given, unless it is optional:
// then absent is Python's None.
struct Argument {
  std::string_view name;
  Role role;
  std::optional<AttributeValue> fallback{};
  bool optional = false;
  std::optional<AttributeValue> fallback_before_3{};  // where Keras 2 had another one
};

// One of the tensors of get_weights(), as the layer's arguments and the input's shape make it.
// Where a model gives none, it has its initial value, if that is a number.
struct Weight {
  std::string_view name;
  Dims shape;
  double initial = std::numeric_limits<double>::quiet_NaN();
  bool trained = true;  // false: counted among those that training does not change
};
using Weights = std::vector<Weight>;

// What becomes of the mask that an input has: which steps of a sequence count.
enum class Masks : std::uint8_t {
  end,    // what comes out has none
  pass,   // it is the output's too
  use,    // the layer leaves steps out; its weight "mask" is the mask, where argument masked is set
  keep,   // the same, and it is the output's too
  merge,  // those of all inputs become one
  make    // the layer makes one
};

struct Layer {
  std::string_view name;
  std::string_view summary;  // one sentence
  std::vector<Argument> arguments = {};
  int spatial = 0;                               // axes that windows slide over
  Weights (*weights)(const Site&) = nullptr;     // those it has, in the order of get_weights()
  void (*require)(Check&) = nullptr;             // beyond the weights' shapes
  std::string (*build)(Body&) = nullptr;         // the value of its first output
  std::string_view alias = "";                   // another name of the class
  std::vector<std::string_view> inputs = {"x"};  // "inputs": any number; all but the first optional
  std::string_view truths = "";                  // the input of which only counts what is not 0
  bool indices = false;                          // its input is of another type than its weights
  int since = 2;                                 // the first Keras that has it
  int outputs = 1;                               // most that it has
  std::size_t (*results)(const Node&) = nullptr;  // how many of them, where the flags do not tell
  Masks masks = Masks::end;
  bool draws = false;                  // random in training
  bool learns = false;                 // computes something else in training
  std::vector<Variant> variants = {};  // beyond those of the operators in its body
};

}  // namespace assay::keras
