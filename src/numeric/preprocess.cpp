#include "numeric/preprocess.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "numeric/retype.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr int kMostSteps = 6;
constexpr std::int64_t kMostElements = 1 << 20;

// What a number becomes: the smallest and the largest over all elements, as channels differ.
struct Image {
  double low = 0, high = 0;
  bool near(double x) const { return std::fabs(low - x) < 0.01 && std::fabs(high - x) < 0.01; }
  bool within(double a, double b) const { return a <= low && high <= b; }
};

// The ways in which pixels are prepared: to [0, 1] or [-1, 1], by the usual means and deviations,
// or by the means alone.
std::optional<Interval> decide(const Image& zero, const Image& one, const Image& most) {
  const Interval pixels{0, 255, false}, shares{0, 1, false};
  const bool scaled = zero.near(0) || zero.near(-1) || zero.near(-0.5);
  if (scaled && (most.near(1) || (zero.near(-0.5) && most.near(0.5)))) return pixels;
  if (zero.near(-1) && one.near(1)) return shares;
  const bool standard = zero.within(-2.2, -1.7);
  if (standard && most.within(2.1, 2.75)) return pixels;
  if (standard && one.within(2.1, 2.75)) return shares;
  if (zero.within(-124, -103) && most.within(255 - 124, 255 - 103)) return pixels;
  return std::nullopt;
}

class Chain {
 public:
  Chain(const Model& model, const NamedType& input) : from_(&model), input_(&input) {
    for (const NamedTensor& one : model.graph.initializers) constants_.insert(one.name);
    for (const Node& node : model.graph.nodes) {
      for (const std::string& name : node.inputs) readers_[name].push_back(&node);
      if (node.inputs.empty())
        for (const std::string& name : node.outputs) makers_[name] = &node;
    }
  }

  std::optional<PreparedInput> follow() {
    std::string value = input_->name;
    for (int step = 0; step < kMostSteps; ++step) {
      const auto readers = readers_.find(value);
      if (readers == readers_.end() || readers->second.size() != 1) return std::nullopt;
      const Node& node = *readers->second.front();
      if (node.outputs.size() != 1 || !add(node, value)) return std::nullopt;
      value = node.outputs[0];
      const auto zero = image_of(0, value), one = image_of(1, value), most = image_of(255, value);
      if (!zero || !one || !most) return std::nullopt;
      const auto place = static_cast<std::size_t>(&node - from_->graph.nodes.data());
      if (const auto range = decide(*zero, *one, *most))
        return PreparedInput{*range, operation_name(node, place)};
    }
    return std::nullopt;
  }

 private:
  // A node that reads nothing else but constants.
  bool add(const Node& node, const std::string& value) {
    for (const std::string& name : node.inputs) {
      if (name.empty() || name == value || constants_.contains(name)) continue;
      const auto maker = makers_.find(name);
      if (maker == makers_.end()) return false;
      nodes_.push_back(*maker->second);
      constants_.insert(name);
    }
    nodes_.push_back(node);
    return true;
  }

  std::optional<Image> image_of(double number, const std::string& target) const {
    Shape shape;
    for (const Dim& dim : *input_->type.dims) shape.push_back(dim.known() ? dim.value : 1);
    if (element_count(shape) == 0 || element_count(shape) > kMostElements) return std::nullopt;
    auto part = std::make_shared<Model>();
    part->ir_version = from_->ir_version;
    part->opsets = from_->opsets;
    part->functions = from_->functions;
    part->graph.nodes = nodes_;
    part->graph.inputs = {*input_};
    part->graph.outputs = {{target, {}, {}, {}}};
    std::set<std::string> read;
    for (const Node& node : nodes_) read.insert(node.inputs.begin(), node.inputs.end());
    for (const NamedTensor& one : from_->graph.initializers)
      if (read.contains(one.name)) part->graph.initializers.push_back(one);
    const auto evaluator = Evaluator::make(part);
    if (!evaluator) return std::nullopt;
    const std::vector<double> same(static_cast<std::size_t>(element_count(shape)), number);
    const Value given(make_tensor(input_->type.element, shape, same));
    const auto outputs = (*evaluator)->run(std::span(&given, 1), {});
    if (!outputs || outputs->size() != 1 || !(*outputs)[0].is_tensor()) return std::nullopt;
    const Tensor& tensor = (*outputs)[0].tensor();
    if (!has_numbers(tensor.type()) || tensor.size() == 0) return std::nullopt;
    const std::vector<double> elements = tensor.reals();
    const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
    return Image{*low, *high};
  }

  const Model* from_;
  const NamedType* input_;
  std::set<std::string> constants_;
  std::unordered_map<std::string, std::vector<const Node*>> readers_;
  std::unordered_map<std::string, const Node*> makers_;
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<PreparedInput> prepared_input(const Model& model, const NamedType& input) {
  const bool image = input.type.is_tensor() && is_real(input.type.element) && input.type.dims &&
                     input.type.dims->size() >= 2;
  if (!image) return std::nullopt;
  return Chain(model, input).follow();
}

}  // namespace assay
