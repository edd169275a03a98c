// Infer: where an entry says what type and shape its outputs have, also with unknown extents.
#pragma once

#include <vector>

#include "patterns/site.h"

namespace assay {

class SubgraphTypes;  // infers the outputs of a body graph; semantics/ implements it

class Infer {
 public:
  explicit Infer(const Site& site, SubgraphTypes* subgraphs = nullptr)
      : site(site), outputs(site.output_count()), subgraphs(subgraphs) {}

  const Site& site;
  std::vector<ValueType> outputs;
  // Elements of integer outputs that follow from extents alone (Shape, Size), by output. Elements
  // that follow from elements need no rule: the meaning is evaluated.
  std::vector<std::optional<Dims>> elements;
  SubgraphTypes* subgraphs;  // null where a node is evaluated: its bodies then say what they give

  const Dims* dims(std::size_t i) const { return site.dims(i); }
  ElementType element(std::size_t i) const { return site.element(i); }
  void output(std::size_t i, ValueType type) {
    if (i < outputs.size()) outputs[i] = std::move(type);
  }
  void output(std::size_t i, ElementType type, Dims dims) {
    output(i, ValueType::tensor(type, std::move(dims)));
  }
  void output(std::size_t i, ElementType type) { output(i, ValueType::tensor(type)); }
  void known_elements(std::size_t i, Dims dims) {
    elements.resize(outputs.size());
    if (i < elements.size()) elements[i] = std::move(dims);
  }
};

// Types of a body graph's outputs, given those of its inputs (and of the names around it). A body
// that an entry does not ask for, though it asks for another, is one that never runs.
class SubgraphTypes {
 public:
  virtual ~SubgraphTypes() = default;
  virtual std::vector<ValueType> infer(const Graph& body, std::span<const ValueType> inputs) = 0;
};

// Shared rules.
void same_as_first(Infer& n);      // type and shape of input 0
void broadcast_all(Infer& n);      // type of input 0, all inputs broadcast
void broadcast_to_bool(Infer& n);  // a comparison
// The extents of numpy broadcasting, as far as they are known.
Dims broadcast_dims(const Dims& a, const Dims& b);
Dim product(const Dims& dims, std::size_t begin, std::size_t end);
// A shape given as a 1-D integer input: known elements become extents, others unknown.
std::optional<Dims> dims_from_input(const Site& site, std::size_t i);

}  // namespace assay
