#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <random>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "numeric/idioms/idiom.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr int kMostBefore = 10, kMostBehind = 10;  // values around the operation that are tried
constexpr int kMostNodes = 24;                     // between one and the other
constexpr std::int64_t kMostElements = 1 << 16;
constexpr std::int64_t kOpenPoints = 3;  // elements along an open axis

// Which node makes a value, and which read it.
struct Wiring {
  std::unordered_map<std::string, const Node*> maker;
  std::unordered_map<std::string, std::vector<const Node*>> readers;
  std::set<std::string> constants;

  Wiring(const Graph& graph, const Model& model) {
    for (const auto* one : {&graph, &model.graph})
      for (const NamedTensor& tensor : one->initializers) constants.insert(tensor.name);
    for (const NamedType& input : graph.inputs) constants.erase(input.name);
    for (const Node& node : graph.nodes) {
      for (const std::string& output : node.outputs)
        if (!output.empty()) maker[output] = &node;
      for (const std::string& input : node.inputs)
        if (!input.empty()) readers[input].push_back(&node);
    }
  }
};

// Values up to a few nodes away, the nearest first.
std::vector<std::string> values_near(const Wiring& wiring, const Node& from, bool before) {
  std::vector<std::string> found;
  std::deque<const Node*> open = {&from};
  const std::size_t most = before ? kMostBefore : kMostBehind;
  while (!open.empty() && found.size() < most) {
    const Node* node = open.front();
    open.pop_front();
    for (const std::string& name : before ? node->inputs : node->outputs) {
      if (name.empty() || wiring.constants.contains(name) ||
          std::find(found.begin(), found.end(), name) != found.end())
        continue;
      found.push_back(name);
      if (before) {
        const auto maker = wiring.maker.find(name);
        if (maker != wiring.maker.end()) open.push_back(maker->second);
      } else if (const auto readers = wiring.readers.find(name); readers != wiring.readers.end()) {
        open.insert(open.end(), readers->second.begin(), readers->second.end());
      }
    }
  }
  return found;
}

// The nodes that compute `target` from `source` and constants alone, in order; none if there is
// something else that it depends on.
class Between {
 public:
  Between(const Wiring& wiring, const std::string& source) : wiring_(&wiring), source_(&source) {}

  bool collect(const std::string& name) {
    if (name.empty() || name == *source_ || wiring_->constants.contains(name)) {
      reaches_ = reaches_ || name == *source_;
      return true;
    }
    const auto found = wiring_->maker.find(name);
    if (found == wiring_->maker.end()) return false;
    const Node* node = found->second;
    if (seen_.contains(node)) return true;
    if (seen_.size() >= kMostNodes) return false;
    seen_.insert(node);
    for (const Attribute& attribute : node->attributes)
      if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute.value)) return false;
    for (const std::string& input : node->inputs)
      if (!collect(input)) return false;
    nodes.push_back(*node);
    return true;
  }
  bool reaches() const { return reaches_; }

  std::vector<Node> nodes;

 private:
  const Wiring* wiring_;
  const std::string* source_;
  std::set<const Node*> seen_;
  bool reaches_ = false;
};

Model part_of(const Model& model, const Graph& graph, std::vector<Node> nodes, ValueType type,
              const std::string& source, const std::string& target) {
  Model part;
  part.ir_version = model.ir_version;
  part.opsets = model.opsets;
  part.functions = model.functions;
  part.graph.nodes = std::move(nodes);
  part.graph.inputs = {{source, std::move(type), {}, {}}};
  part.graph.outputs = {{target, {}, {}, {}}};
  std::set<std::string> read;
  for (const Node& node : part.graph.nodes) read.insert(node.inputs.begin(), node.inputs.end());
  std::set<std::string> taken;
  for (const auto* one : {&graph, &model.graph})
    for (const NamedTensor& tensor : one->initializers)
      if (read.contains(tensor.name) && taken.insert(tensor.name).second)
        part.graph.initializers.push_back(tensor);
  return part;
}

std::optional<Tensor> run_on(Model part, const Tensor& points) {
  const auto evaluator = Evaluator::make(std::make_shared<const Model>(std::move(part)));
  if (!evaluator) return std::nullopt;
  const Value input(points);
  const auto outputs = (*evaluator)->run(std::span(&input, 1), {});
  if (!outputs || outputs->size() != 1 || !(*outputs)[0].is_tensor()) return std::nullopt;
  return (*outputs)[0].tensor();
}

bool agree(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.type() != b.type() || a.size() == 0) return false;
  const std::vector<double> x = a.reals(), y = b.reals();
  const double loose = format_of(a.type()).precision > 20 ? 1e-4 : 3e-2;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::fabs(x[i] - y[i]) <= loose * std::max(1.0, std::fabs(y[i])))) return false;
  return true;
}

Tensor draw_points(const ValueType& type) {
  Shape shape;
  for (const Dim& dim : *type.dims) shape.push_back(dim.known() ? dim.value : kOpenPoints);
  if (element_count(shape) > kMostElements) return {};
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 1.5);
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (double& value : values) value = normal(random);
  return make_tensor(type.element, shape, values);
}

Rewrite rewrite_of(const Idiom& idiom, std::int64_t axis, bool keep, const std::string& source,
                   const std::string& target) {
  Rewrite result;
  result.name = idiom.name;
  result.text = fmt::format("compute {} by {} from {}", target, idiom.name, source);
  result.why = idiom.text;
  result.body = idiom.safe;
  if (idiom.along_axis) result.parameters.push_back(attribute("axis", axis));
  if (idiom.reduces) result.parameters.push_back(attribute("keepdims", keep ? 1 : 0));
  result.source = source;
  result.target = target;
  result.check = idiom.check;
  return result;
}

// Every way to read the idiom along an axis of the points.
std::vector<Rewrite> readings(const Idiom& idiom, const Shape& shape, const std::string& source,
                              const std::string& target) {
  std::vector<Rewrite> result;
  const auto rank = idiom.along_axis ? static_cast<std::int64_t>(shape.size()) : 1;
  for (std::int64_t axis = rank; axis-- > 0;)
    for (const bool keep : {true, false}) {
      if (!keep && !idiom.reduces) continue;
      if (idiom.along_axis && shape[static_cast<std::size_t>(axis)] < 2) continue;
      result.push_back(rewrite_of(idiom, axis, keep, source, target));
    }
  return result;
}

std::optional<Tensor> safe_form(const Rewrite& rewrite, const Tensor& points) {
  const ValueType type = ValueType::tensor(points.type(), to_dims(points.shape()));
  Model model;
  model.ir_version = 10;
  model.opsets = newest_opsets();
  model.graph.inputs = {{"x", type, {}, {}}};
  model.graph.outputs = {{"y", {}, {}, {}}};
  Node given;
  given.op = "Identity";
  given.inputs = {"x"};
  given.outputs = {"y"};
  model.graph.nodes = {given};
  Rewrite placed = rewrite;
  placed.source = "x";
  placed.target = "y";
  if (!apply_rewrite(
          placed, "", [&](const std::string&) -> const ValueType& { return type; }, model.graph))
    return std::nullopt;
  return run_on(std::move(model), points);
}

}  // namespace

std::span<const Idiom> idioms() {
  static const std::array kIdioms = {kLogSoftmaxIdiom, kSoftmaxIdiom,    kLogSumExpIdiom,
                                     kSoftplusIdiom,   kLogSigmoidIdiom, kLogComplementIdiom,
                                     kSigmoidIdiom,    kTanhIdiom,       kVarianceIdiom};
  return kIdioms;
}

std::vector<Rewrite> idioms_around(const Graph& graph, const Model& model, const Node& operation,
                                   const TypeOf& type_of) {
  std::vector<Rewrite> result;
  const Wiring wiring(graph, model);
  const std::vector<std::string> sources = values_near(wiring, operation, true);
  std::vector<std::string> targets = values_near(wiring, operation, false);
  // A variance is what the operation gets, not what it gives.
  if (!sources.empty()) targets.insert(targets.begin(), sources[0]);
  for (auto target = targets.rbegin(); target != targets.rend(); ++target)
    for (const std::string& source : sources) {
      if (source == *target) continue;
      Between between(wiring, source);
      if (!between.collect(*target) || !between.reaches()) continue;
      const ValueType type = type_of(source);
      if (!type.is_tensor() || !is_real(type.element) || !type.dims) continue;
      const Tensor points = draw_points(type);
      if (!points.defined()) continue;
      const auto given =
          run_on(part_of(model, graph, between.nodes, type, source, *target), points);
      if (!given || !is_real(given->type())) continue;
      for (const Idiom& idiom : idioms())
        for (const Rewrite& reading : readings(idiom, points.shape(), source, *target)) {
          const auto safe = safe_form(reading, points);
          if (safe && agree(*safe, *given)) result.push_back(reading);
        }
    }
  return result;
}

}  // namespace assay
