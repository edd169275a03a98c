// Site: a node with what is known about its inputs before anything is computed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

// What is known of one input: its type, and its elements if they are fixed.
struct Known {
  bool present = false;
  ValueType type;
  Tensor constant;                          // undefined unless the elements are known
  std::optional<std::vector<Dim>> extents;  // elements of a small integer tensor, partly known
};

// Attributes are read with the standard's default filled in (see complete() in ops/catalogue.h),
// so an absent one means that the standard gives none: then the fallback is the answer.
class Site {
 public:
  Site(const Node& node, int version) : node_(&node), version_(version) {}

  const Node& node() const { return *node_; }
  int version() const { return version_; }  // the since_version of the schema that applies

  std::size_t input_count() const { return inputs.size(); }
  std::size_t output_count() const { return node_->outputs.size(); }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i].present; }
  bool has_output(std::size_t i) const {
    return i < node_->outputs.size() && !node_->outputs[i].empty();
  }
  const ValueType& type(std::size_t i) const;  // kind unknown if there is no such input
  ElementType element(std::size_t i) const {
    return has_input(i) ? inputs[i].type.element : ElementType::undefined;
  }
  const Dims* dims(std::size_t i) const;  // nullptr if the rank is unknown
  std::optional<std::int64_t> rank(std::size_t i) const;
  const Tensor* constant(std::size_t i) const;  // nullptr if the elements are unknown
  // The elements of a small integer tensor as extents; nullopt if not even their number is known.
  std::optional<std::vector<Dim>> extents(std::size_t i) const;

  bool has(std::string_view attribute) const { return node_->find(attribute) != nullptr; }
  std::int64_t integer(std::string_view attribute, std::int64_t fallback = 0) const;
  double real(std::string_view attribute, double fallback = 0) const;
  const std::string& text(std::string_view attribute) const;  // "" if absent
  // Lists stay with the node; empty if absent.
  const std::vector<std::int64_t>& integers(std::string_view attribute) const;
  const std::vector<double>& reals(std::string_view attribute) const;
  const std::vector<std::string>& texts(std::string_view attribute) const;
  const Tensor* tensor(std::string_view attribute) const;
  const Graph* graph(std::string_view attribute) const;

  // Which inputs' elements were asked for so far: bit i for input i, the last for all from 63 on.
  // What an answer about the node depends on, beside types and attributes.
  std::uint64_t elements_read() const { return elements_read_; }

  // Which inputs' types were asked for since forget_shapes(), as more than element types and ranks.
  std::uint64_t shapes_read() const { return shapes_read_; }
  void forget_shapes() { shapes_read_ = 0; }

  std::vector<Known> inputs;
  // Where the node is evaluated, its inputs: constant() answers from these, not from `inputs`.
  std::span<const Value> values{};

 private:
  const Node* node_;
  int version_;
  mutable std::uint64_t elements_read_ = 0, shapes_read_ = 0;
};

// axis in [-rank, rank) to [0, rank); nullopt outside.
std::optional<std::int64_t> normalize_axis(std::int64_t axis, std::int64_t rank);

}  // namespace assay
