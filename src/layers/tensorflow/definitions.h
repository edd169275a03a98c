// TensorFlow's operations, each as a function over the catalogue: a short graph of the standard's
// operators, written with the same Builder as the catalogue's own functions.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "patterns/function.h"

namespace assay::tensorflow {

// What becomes of a node of an operation.
enum class Part : std::uint8_t {
  value,      // the graph that `body` makes of it
  constant,   // an initialiser
  input,      // an input of the model that its user gives
  defaulted,  // such an input that has a value if nobody gives one
  parameter,  // an input of the model that training changes
  source,     // inputs of the model, which come out of a queue, an iterator or a file
  handle,     // names a queue, an iterator, a table: what reads it finds it by its name
  silent,     // nobody wants a value of it: summaries, checks, files that are written
  control,    // Switch, Merge and the nodes of loops
};

// What a variable that an optimiser keeps for itself holds, whatever the gradients are.
struct SlotRange {
  std::size_t input;
  double least, most;
};

struct Definition {
  std::string_view op;
  Composition body = nullptr;
  int outputs = 1;
  std::string_view outputs_attribute = "";  // how many more outputs there are: a number, or a list
  Part part = Part::value;
  std::span<const SlotRange> slots = {};
};

// Thrown by a body for a node that it cannot express, with the reason: the node is then unknown.
class NotDefined : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::span<const Definition> definitions();  // sorted by operation
const Definition* find_definition(std::string_view op);

// The families, one file each.
std::vector<Definition> activation_definitions();
std::vector<Definition> activation_gradient_definitions();
std::vector<Definition> arithmetic_definitions();
std::vector<Definition> conv_definitions();
std::vector<Definition> fill_definitions();
std::vector<Definition> gather_definitions();
std::vector<Definition> image_definitions();
std::vector<Definition> layout_definitions();
std::vector<Definition> logic_definitions();
std::vector<Definition> loss_definitions();
std::vector<Definition> matrix_definitions();
std::vector<Definition> norm_definitions();
std::vector<Definition> optimizer_definitions();
std::vector<Definition> pool_definitions();
std::vector<Definition> random_definitions();
std::vector<Definition> reduce_definitions();
std::vector<Definition> scatter_definitions();
std::vector<Definition> select_definitions();
std::vector<Definition> shape_definitions();
std::vector<Definition> slice_definitions();
std::vector<Definition> source_definitions();
std::vector<Definition> state_definitions();
std::vector<Definition> tensor_array_definitions();
std::vector<Definition> trigonometry_definitions();
std::vector<Definition> unary_definitions();

}  // namespace assay::tensorflow
