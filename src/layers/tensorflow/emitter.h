// Emits the nodes of a TensorFlow graph into a model's graph, scope by scope.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "layers/splice.h"
#include "layers/tensorflow/frames.h"
#include "layers/tensorflow/translate.h"
#include "layers/tensorflow/wiring.h"

namespace assay::tensorflow {

// Where nodes are put. Values that have another name here than in the file stand in `names`, by
// value_name of the file.
struct Scope {
  Graph* graph;
  std::string path;    // "", "loop/body/"
  std::string suffix;  // of a node that is there a second time
  std::unordered_map<std::string, std::string> names;
  std::unordered_set<std::size_t> loops{};  // frames that are done
};

// The value that decides between the two inputs of a Merge, and which of them it takes if it holds.
struct Choice {
  Edge decides;
  std::size_t if_true;
};

class Emitter {
 public:
  Emitter(const Wiring& wiring, const Frames& frames, KnownValues& known, Model& model)
      : wiring_(wiring), frames_(frames), known_(known), model_(model) {}

  void emit_all();
  std::size_t unresolved() const { return unresolved_; }

 private:
  void emit(std::size_t node, Scope& scope);
  void emit_part(std::size_t node, Scope& scope);
  void emit_value(std::size_t node, Scope& scope);
  void note_slots(const WiredNode& node);
  void emit_constant(std::size_t node, Scope& scope);
  void emit_unknown(std::size_t node, Scope& scope, const std::string& reason);

  // emit_inputs.cpp
  void emit_input(std::size_t node, const std::string& part);
  void emit_default(std::size_t node, Scope& scope);
  void emit_source(std::size_t node);

  // emit_control.cpp
  void find_sides(std::size_t node);
  void note_sides(std::size_t node, const Scope& scope, std::size_t first);
  void emit_control(std::size_t node, Scope& scope);
  void emit_switch(std::size_t node, Scope& scope);
  void emit_merge(std::size_t node, Scope& scope);
  void emit_loop(std::size_t frame, Scope& scope);
  Graph loop_body(const Frame& frame, const Scope& outside, const std::string& place);
  std::string decide(const Frame& frame, Scope scope);
  void emit_unstructured(std::size_t frame, Scope& scope);
  void add_copy(std::size_t node, const std::string& from, const std::string& to, Scope& scope);

  std::string value(const Edge& edge, const Scope& scope) const;
  std::string input(std::size_t node, std::size_t i, const Scope& scope) const;
  std::string own_value(std::size_t node, std::size_t output, Scope& scope);
  std::vector<std::string> inputs(std::size_t node, const Scope& scope) const;
  std::vector<std::string> outputs(std::size_t node, Scope& scope);
  // Of input i, which has the name here.
  Known known_of(std::size_t node, std::size_t i, const std::string& name,
                 const Scope& scope) const;

  const Wiring& wiring_;
  const Frames& frames_;
  KnownValues& known_;
  Model& model_;
  SharedConstants constants_;                                       // of the main graph
  std::unordered_map<std::size_t, Choice> choices_;                 // by Merge
  std::unordered_map<std::string_view, std::size_t> input_places_;  // of the model, by name
  // Of a node on a side of a branch: what decides, and the side.
  using Sides = std::map<std::string, std::size_t>;
  std::unordered_map<std::size_t, Sides> sides_;
  std::size_t unresolved_ = 0;
};

const AttributeValue* find_attribute(const NodeDef& def, std::string_view name);
ElementType type_attribute(const NodeDef& def, std::string_view name);

}  // namespace assay::tensorflow
