// Analysis: the abstract evaluation of a whole model, node by node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/name_index.h"
#include "numeric/transfer.h"
#include "semantics/infer_types.h"

namespace assay {

// One node and what was found out about it. In a loop, nodes of the body are seen several times
// until their ranges hold for every round; `settled` says that these do.
struct Analyzed {
  const PlannedNode& node;
  const std::string& path;  // "loop/body/"
  std::span<const Abstract> inputs;
  std::span<const Abstract> outputs;
  std::span<const Applied> applied;
  bool unknown = false;                 // the outputs are only what their types allow
  std::string reason{};                 // why
  bool overflows = false;               // finite operands may give an infinity, or NaN
  Interval before_overflow{};           // the range of such results
  bool from_infinity = false;           // the operands may be infinite: then only NaN counts
  std::optional<Interval> left_type{};  // a result that an integer type does not hold all of
  std::string failure{};  // the node cannot be evaluated at all: an index out of range
  bool unreachable = false;

  std::string name() const { return path + node.label(); }
};

struct AnalysisOptions {
  Setting setting;
  // Ranges by the name of a value, or of a node of which it is an output.
  std::map<std::string, Interval> overrides;
  std::function<void(const Analyzed&)> observe;
  // As inferred from what the model declares, which roots of its inputs' types do not change.
  std::shared_ptr<const ModelTypes> types{};
};

// Inferred types and small constants of the values of a model, by path and name.
class KnownNames {
 public:
  explicit KnownNames(std::shared_ptr<const ModelTypes> types) : types_(std::move(types)) {}
  const Known* find(std::string_view name) const;  // null: there is no such value
  // The same for those who ask in the order of the values: `next` is about where the name stands.
  const Known* find(std::string_view name, std::size_t& next) const;
  // Of a slot of the plan that the types came with.
  const Known* at(int slot) const {
    return types_->values[static_cast<std::size_t>(slot)].known.get();
  }

 private:
  void number_all() const;
  std::optional<std::size_t> place_of(std::string_view name) const;

  std::shared_ptr<const ModelTypes> types_;
  // Made when somebody first asks for a name out of turn.
  mutable std::once_flag numbered_;
  mutable NameIndex names_;
  mutable std::vector<std::uint32_t> last_;  // place by the name's number: some are told twice
};

class Analysis {
 public:
  Analysis(const Model& model, AnalysisOptions options);
  ~Analysis();

  // Inputs of the main graph by name. What an initialiser gives need not be there.
  std::map<std::string, Abstract> inputs;
  // May be run again with other inputs of the same types. `only` has a flag for each node of the
  // main graph: others are left out.
  void run(const std::vector<bool>* only = nullptr);
  // Such flags: nodes of which, or of one inside of which, `wanted` holds, and all that they need.
  using Wanted = std::function<bool(const std::string& path, const PlannedNode&)>;
  std::vector<bool> needed_for(const Wanted& wanted) const;
  // As inferred, by path and name; nothing is known of a name that does not exist.
  ValueType type_of(const std::string& name) const;

 private:
  struct Scope;
  void run_in(const Plan& plan, Scope& scope, const std::vector<bool>* only = nullptr);
  void run_node(const PlannedNode& node, Scope& scope);
  std::vector<Abstract> transfer(Situation& s, Scope& scope, Analyzed& seen);
  std::vector<Abstract> derived(Situation& s, Analyzed& seen);
  std::vector<Abstract> unknown(const Situation& s, Analyzed& seen, std::string reason);
  std::vector<Abstract> composed(Situation& s, Analyzed& seen);
  std::vector<Abstract> control(Situation& s, Scope& scope, Analyzed& seen);
  std::vector<Abstract> branches(Situation& s, Scope& scope);
  std::vector<Abstract> loop(Situation& s, Scope& scope, Analyzed& seen);
  std::vector<Abstract> scan(Situation& s, Scope& scope, Analyzed& seen,
                             const AttributeValue& count);
  // Where a loop's node and its body have the values that one round hands to the next.
  struct Carried {
    std::size_t input = 0, count = 0;  // of the node and of its body
    std::size_t result = 0;            // of the body
    bool enters = true;                // there may be a round
    bool always = false;               // there is one
  };
  std::vector<Abstract> rounds(Situation& s, Scope& scope, Analyzed& seen,
                               std::vector<Abstract> state, const Carried& carried);
  std::vector<Abstract> next_state(const Situation& s, Scope& scope,
                                   const std::vector<Abstract>& state, const Carried& carried);
  bool settle_loop(const Situation& s, Scope& scope, std::vector<Abstract>& state,
                   const Carried& carried);
  static std::vector<ValueType> body_types(const PlannedNode& node, const PlannedSubgraph& graph,
                                           const Scope& scope);
  std::vector<Abstract> unfollowed(Situation& s, Scope& scope, Analyzed& seen);
  void settle(Situation& s, std::vector<Abstract>& outputs, Analyzed& seen);
  const Interval* override_of(const Analyzed& seen, std::size_t output) const;
  void give_forms(Abstract& value);
  static void narrow(Abstract& output, bool operands_finite, Analyzed& seen);
  static void inherit(const Situation& s, bool unknown, Abstract& output);
  std::vector<ValueType> types_of(const PlannedNode& node, const Scope& scope,
                                  std::span<const Abstract> inputs) const;
  std::vector<Abstract> body(const PlannedNode& node, const PlannedSubgraph& graph,
                             std::span<const Abstract> inputs, Scope& scope, bool reachable);
  void emit(const Analyzed& seen);

  const Model* model_;
  AnalysisOptions options_;
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const KnownNames> known_;
  Forms forms_;
  KnownSteps steps_;
  RangeMemory ranges_;
  TransferMemory transfers_;
  // The composed operator that this is inside of; what its nodes do is what it does.
  struct Collected {
    Situation& situation;
    std::optional<Interval> overflow;  // of the first node that may overflow
  };
  Collected* collecting_ = nullptr;
  bool quiet_ = false;  // while a loop is not settled
};

// The hull of two values of one name, as after a branch or a round of a loop.
Abstract join(const Abstract& a, const Abstract& b, TensorMode mode);

}  // namespace assay
