#include "semantics/fold.h"

#include <algorithm>
#include <array>
#include <set>

#include "semantics/evaluator.h"
#include "semantics/run.h"

namespace assay {
namespace {

constexpr std::size_t kFoldingBytes = 64 << 20;  // that an evaluation may take
constexpr std::size_t kMostTrials = 32;

// A hostile node must not take more memory here than a model of its kind needs.
class FoldingLimit {
 public:
  FoldingLimit() : outer_(memory_limit()) {
    set_memory_limit(std::min(outer_, live_tensor_bytes() + kFoldingBytes));
  }
  ~FoldingLimit() { set_memory_limit(outer_); }
  FoldingLimit(const FoldingLimit&) = delete;
  FoldingLimit& operator=(const FoldingLimit&) = delete;

 private:
  std::size_t outer_;
};

bool may_fold(const PlannedNode& node) {
  if (!node.found.entry || !node.subgraphs.empty()) return false;
  const Pattern pattern = node.found.entry->meaning.pattern;
  return pattern != Pattern::random && pattern != Pattern::control;
}

std::optional<Shape> concrete_shape(const ValueType& type) {
  return type.is_tensor() && type.dims ? to_shape(*type.dims) : std::nullopt;
}

bool is_small(const ValueType& type) {
  const auto shape = concrete_shape(type);
  if (!shape) return false;
  const auto count = checked_element_count(*shape);
  return count && *count <= kMostFolded;
}

// Whether the output may be evaluated: small, or of an extent that only the data decide, which then
// cannot be more than the data have room for.
bool may_be_small(const ValueType& type) {
  return !type.is_tensor() || !concrete_shape(type) || is_small(type);
}

std::optional<std::vector<Value>> constants(const Site& site) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < site.input_count(); ++i) {
    const Tensor* known = site.constant(i);
    if (site.has_input(i) && (!known || known->size() > kMostFolded)) return std::nullopt;
    values.push_back(known ? Value(*known) : Value());
  }
  return values;
}

// An operator that is a graph of others may have a random one among them.
std::vector<Value> with_another_seed(const PlannedNode& node, std::span<const Value> inputs) {
  if (!node.found.entry->meaning.composition) return {};
  EvaluateOptions options;
  options.seed = 0x5EED;
  return evaluate_planned(node, inputs, options);
}

std::optional<Violation> fold_constants(const PlannedNode& node, std::span<const Value> inputs,
                                        std::vector<Known>& outputs) {
  try {
    const FoldingLimit limit;
    const std::vector<Value> results = evaluate_planned(node, inputs, {});
    const std::vector<Value> others = with_another_seed(node, inputs);
    for (std::size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
      if (!results[i].is_tensor() || results[i].tensor().size() > kMostFolded) continue;
      if (i < others.size() && !identical(results[i].tensor(), others[i].tensor())) continue;
      outputs[i].type = results[i].value_type();
      outputs[i].constant = results[i].tensor();
    }
  } catch (const EvaluationError& failure) {
    return Violation{"Argument Error", failure.rule(), "", "", kArgumentBadness, failure.what()};
  } catch (const MemoryLimitError&) {  // a run may have room for it
  } catch (const std::bad_alloc&) {
  }
  return std::nullopt;
}

// The unknown elements of a node's inputs as variables, and its evaluation on assignments to them.
class Trials {
 public:
  // False: nothing is to be learned.
  bool prepare(const PlannedNode& node, const Site& site, const std::vector<Known>& outputs);
  void run(const PlannedNode& planned, std::vector<Known>& outputs);

 private:
  struct Input {
    Tensor constant;  // if defined, all elements
    ElementType type{};
    Shape shape;
    std::vector<int> variables;        // by element; -1: known
    std::vector<std::int64_t> values;  // of a variable, what it is multiplied by
  };
  struct Guess {
    enum class Kind : std::uint8_t { open, constant, variable, none };
    Kind kind = Kind::open;
    std::int64_t value = 0;
    struct Multiple {
      int variable;
      std::int64_t factor;
    };
    std::vector<Multiple> multiples;  // that it may be
  };

  bool add_input(const Site& site, std::size_t i);
  int variable(const Dim& dim);
  void note_number(std::int64_t value);
  std::vector<std::vector<std::int64_t>> assignments() const;
  bool evaluate(const PlannedNode& node, const std::vector<std::int64_t>& assignment,
                RunMemory& memory);
  static void refine(Guess& guess, std::int64_t found, const std::vector<std::int64_t>& assignment);
  void settle(std::vector<Known>& outputs) const;

  std::vector<Input> inputs_;
  std::vector<Symbol> symbols_;              // of the variables; "" for one without a name
  std::set<std::int64_t> numbers_;           // that the node might compare with
  std::vector<std::vector<Guess>> guesses_;  // by output; empty: not looked at
  bool informed_ = false;                    // something is known of an input that is not all known
  bool multiples_ = false;                   // an input has several times an extent
};

bool is_extent_type(ElementType type) {
  return type == ElementType::i64 || type == ElementType::i32;
}

int Trials::variable(const Dim& dim) {
  if (!dim.symbol.empty()) {
    const auto known = std::find(symbols_.begin(), symbols_.end(), dim.symbol.base());
    if (known != symbols_.end()) return static_cast<int>(known - symbols_.begin());
  }
  symbols_.push_back(dim.symbol.base());
  return static_cast<int>(symbols_.size()) - 1;
}

void Trials::note_number(std::int64_t value) {
  for (std::int64_t near : {value - 1, value, value + 1}) {
    if (std::abs(near) < 1'000'000) numbers_.insert(near);
  }
}

bool Trials::add_input(const Site& site, std::size_t i) {
  Input input;
  if (!site.has_input(i)) {
    inputs_.push_back(std::move(input));
    return true;
  }
  if (const Tensor* constant = site.constant(i)) {
    if (constant->size() > kMostFolded) return false;
    if (is_integer(constant->type())) {
      for (std::int64_t value : constant->integers()) note_number(value);
    }
    input.constant = *constant;
    inputs_.push_back(std::move(input));
    return true;
  }
  const auto shape = concrete_shape(site.type(i));
  if (!shape || !is_extent_type(site.element(i)) || !is_small(site.type(i))) return false;
  input.type = site.element(i);
  input.shape = *shape;
  const auto count = static_cast<std::size_t>(element_count(*shape));
  std::vector<Dim> elements = site.extents(i).value_or(std::vector<Dim>(count));
  elements.resize(count);
  for (const Dim& element : elements) {
    informed_ = informed_ || element.known() || !element.symbol.empty();
    multiples_ = multiples_ || element.symbol.factor() > 1;
    input.variables.push_back(element.known() ? -1 : variable(element));
    input.values.push_back(element.known() ? element.value : element.symbol.factor());
    if (element.known()) note_number(element.value);
  }
  inputs_.push_back(std::move(input));
  return true;
}

bool Trials::prepare(const PlannedNode& node, const Site& site, const std::vector<Known>& outputs) {
  bool wanted = false, small = true;
  for (const Known& output : outputs) {
    small = small && is_small(output.type);
    const bool fits = is_small(output.type) && (is_extent_type(output.type.element) ||
                                                output.type.element == ElementType::boolean);
    guesses_.emplace_back(
        fits ? static_cast<std::size_t>(element_count(*concrete_shape(output.type))) : 0);
    wanted = wanted || fits;
    if (!may_be_small(output.type)) return false;
  }
  if (!wanted || site.input_count() == 0) return false;
  for (std::size_t i = 0; i < site.input_count(); ++i) {
    if (!add_input(site, i)) return false;
  }
  const Pattern pattern = node.found.entry->meaning.pattern;
  const bool moves = pattern == Pattern::move || pattern == Pattern::gather;
  if (symbols_.empty() || !(informed_ || moves)) return false;
  if (multiples_ && !small) return false;  // what counts up to one would have millions of elements
  for (const Attribute& attribute : node.node.attributes) {
    if (const auto* one = std::get_if<std::int64_t>(&attribute.value)) note_number(*one);
    if (const auto* many = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
      for (std::int64_t value : *many) note_number(value);
    }
  }
  return true;
}

// First all variables different and large, twice; then all of them equal to each number that the
// node might compare with, since Min(n, 4) is 4 for every large n.
std::vector<std::vector<std::int64_t>> Trials::assignments() const {
  std::vector<std::vector<std::int64_t>> result(3);
  for (std::size_t v = 0; v < symbols_.size(); ++v) {
    const auto n = static_cast<std::int64_t>(v);
    result[0].push_back(10'007 + 2 * n * n + 34 * n);
    result[1].push_back(20'011 + 6 * n * n + 58 * n);
    result[2].push_back(n + 2);
  }
  std::set<std::int64_t> numbers = numbers_;
  numbers.insert({1, 2, 3});
  for (std::int64_t number : numbers) {
    if (result.size() >= kMostTrials) break;
    std::vector<std::int64_t> all;
    all.reserve(symbols_.size());
    for (const Symbol symbol : symbols_) {
      all.push_back(symbol.empty() ? number : std::max<std::int64_t>(number, 0));
    }
    result.push_back(std::move(all));
  }
  return result;
}

void Trials::refine(Guess& guess, std::int64_t found, const std::vector<std::int64_t>& assignment) {
  using Multiple = Guess::Multiple;
  const auto is_found = [&](const Multiple& one) {
    return one.factor * assignment[static_cast<std::size_t>(one.variable)] == found;
  };
  switch (guess.kind) {
    case Guess::Kind::open:
      guess.kind = Guess::Kind::constant;
      guess.value = found;
      for (std::size_t v = 0; v < assignment.size(); ++v) {
        const Multiple one{static_cast<int>(v), assignment[v] > 0 ? found / assignment[v] : 0};
        if (one.factor > 0 && is_found(one)) guess.multiples.push_back(one);
      }
      break;
    case Guess::Kind::constant:
      if (found == guess.value) break;
      guess.kind = Guess::Kind::variable;
      [[fallthrough]];
    case Guess::Kind::variable:
      std::erase_if(guess.multiples, [&](const Multiple& one) { return !is_found(one); });
      if (guess.multiples.empty()) guess.kind = Guess::Kind::none;
      break;
    case Guess::Kind::none:
      break;
  }
}

bool Trials::evaluate(const PlannedNode& node, const std::vector<std::int64_t>& assignment,
                      RunMemory& memory) {
  std::vector<Value> values;
  for (const Input& input : inputs_) {
    if (input.constant.defined() || input.type == ElementType::undefined) {
      values.push_back(input.constant.defined() ? Value(input.constant) : Value());
      continue;
    }
    std::vector<std::int64_t> elements = input.values;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const int v = input.variables[i];
      if (v >= 0) elements[i] *= assignment[static_cast<std::size_t>(v)];
    }
    values.emplace_back(make_integers(input.type, input.shape, elements));
  }
  const EvaluateOptions options;
  const std::vector<Value> results = Run(options, memory).run_single(node, values);
  for (std::size_t i = 0; i < guesses_.size() && i < results.size(); ++i) {
    const bool fits = results[i].is_tensor() &&
                      results[i].tensor().size() == static_cast<std::int64_t>(guesses_[i].size());
    for (std::size_t k = 0; k < guesses_[i].size(); ++k) {
      if (fits) {
        refine(guesses_[i][k], results[i].tensor().integer(static_cast<std::int64_t>(k)),
               assignment);
      } else {
        guesses_[i][k].kind = Guess::Kind::none;
      }
    }
  }
  return std::any_of(guesses_.begin(), guesses_.end(), [](const std::vector<Guess>& output) {
    return std::any_of(output.begin(), output.end(),
                       [](const Guess& guess) { return guess.kind != Guess::Kind::none; });
  });
}

void Trials::settle(std::vector<Known>& outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<Guess>& guesses = guesses_[i];
    if (guesses.empty() || outputs[i].constant.defined()) continue;
    std::vector<std::int64_t> values;
    std::vector<Dim> elements;
    for (const Guess& guess : guesses) {
      values.push_back(guess.value);
      if (guess.kind == Guess::Kind::constant) {
        elements.push_back(guess.value >= 0 ? Dim(guess.value) : Dim());
      } else if (guess.kind == Guess::Kind::variable) {
        const Guess::Multiple& one = guess.multiples.front();
        const Symbol symbol = symbols_[static_cast<std::size_t>(one.variable)];
        elements.push_back(Dim::named(symbol.times(one.factor)));
      } else {
        elements.emplace_back();
      }
    }
    const bool all = std::all_of(guesses.begin(), guesses.end(), [](const Guess& guess) {
      return guess.kind == Guess::Kind::constant;
    });
    if (all) {
      outputs[i].constant =
          make_integers(outputs[i].type.element, *concrete_shape(outputs[i].type), values);
    } else if (is_extent_type(outputs[i].type.element)) {
      outputs[i].extents = std::move(elements);
    }
  }
}

void Trials::run(const PlannedNode& planned, std::vector<Known>& outputs) {
  const FoldingLimit limit;
  PlannedNode node(planned.node, planned.found);  // by itself, so that it is remembered
  node.inputs = planned.inputs;
  node.outputs = planned.outputs;
  RunMemory memory;
  memory.nodes.resize(1);
  memory.seen.resize(1);
  memory.expect_more();
  const std::vector<std::vector<std::int64_t>> all = assignments();
  std::vector<bool> legal(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto same = static_cast<std::size_t>(std::ranges::find(all, all[i]) - all.begin());
    legal[i] = same == i || legal[same];
    if (same < i) continue;  // it says nothing new
    try {
      if (!evaluate(node, all[i], memory)) return;
    } catch (const EvaluationError&) {
      legal[i] = false;
    } catch (const MemoryLimitError&) {
      return;
    }
  }
  if (std::ranges::count(legal, true) >= 3) settle(outputs);
}

}  // namespace

void set_elements(Known& known, const std::vector<Dim>& elements) {
  const bool all =
      std::all_of(elements.begin(), elements.end(), [](const Dim& d) { return d.known(); });
  const auto shape = concrete_shape(known.type);
  if (!all || !shape || element_count(*shape) != static_cast<std::int64_t>(elements.size())) {
    known.extents = elements;
    return;
  }
  std::vector<std::int64_t> values;
  values.reserve(elements.size());
  for (const Dim& element : elements) values.push_back(element.value);
  known.constant = make_integers(known.type.element, *shape, values);
}

std::optional<Violation> fold(const PlannedNode& node, const Site& site,
                              std::vector<Known>& outputs) {
  if (!may_fold(node)) return std::nullopt;
  const bool small = std::all_of(outputs.begin(), outputs.end(),
                                 [](const Known& output) { return may_be_small(output.type); });
  if (!small) return std::nullopt;
  if (const auto inputs = constants(site)) return fold_constants(node, *inputs, outputs);
  Trials trials;
  if (trials.prepare(node, site, outputs)) trials.run(node, outputs);
  return std::nullopt;
}

}  // namespace assay
