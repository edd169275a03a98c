#include "validate/edits.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "graph/names.h"
#include "layers/keras/layers.h"
#include "ops/catalogue.h"
#include "validate/reshaping.h"

namespace assay {
namespace {

// What a change costs: an argument least, then layers in between, then weights, which somebody has
// trained, and data that is thrown away. An input of another rank than the others makes most merges
// valid, but rarely what was meant. Among equals, how far the value moves.
constexpr double kArgument = 1, kLayer = 10, kWeight = 40, kLoss = 20, kOuterProduct = 100;

std::string value_text(const AttributeValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* list = std::get_if<Extents>(&value)) {
    return list->size() == 1 ? fmt::format("{}", list->front()) : to_text(*list);
  }
  return "?";
}

double distance(const AttributeValue& a, const AttributeValue& b) {
  const auto* x = std::get_if<Extents>(&a);
  const auto* y = std::get_if<Extents>(&b);
  if (x && y && x->size() == y->size()) {
    double sum = 0;
    for (std::size_t i = 0; i < x->size(); ++i) {
      sum += std::abs(static_cast<double>((*x)[i] - (*y)[i]));
    }
    return sum;
  }
  const auto* m = std::get_if<std::int64_t>(&a);
  const auto* n = std::get_if<std::int64_t>(&b);
  return m && n ? std::abs(static_cast<double>(*m - *n)) : 3;
}

class EditMaker {
 public:
  EditMaker(const Model& model, const ModelTypes& types, std::size_t index)
      : model_(model), node_(model.graph.nodes[index]), layer_(keras::find_layer(node_.op)) {
    for (const NamedValueType& value : types.values) known_[value.name] = value.known.get();
  }

  std::vector<Edit> run() {
    if (!layer_) return {};
    change_arguments();
    const std::size_t own =
        is_variadic() ? node_.inputs.size() : std::min(node_.inputs.size(), layer_->inputs.size());
    for (std::size_t i = 0; i < own; ++i) {
      if (const auto has = extents(node_.inputs[i])) change_shape(i, *has, own);
    }
    fit_weights();
    std::ranges::stable_sort(edits_, {}, &Edit::cost);
    return std::move(edits_);
  }

 private:
  bool is_variadic() const { return layer_->inputs.front() == "inputs"; }

  // The shape of a value behind the batch, if it is known.
  std::optional<Extents> extents(const std::string& value) const {
    const auto found = known_.find(value);
    if (found == known_.end() || !found->second->type.dims || found->second->type.dims->empty()) {
      return std::nullopt;
    }
    Extents result;
    for (std::size_t d = 1; d < found->second->type.dims->size(); ++d) {
      const Dim& dim = (*found->second->type.dims)[d];
      if (!dim.known()) return std::nullopt;
      result.push_back(dim.value);
    }
    return result;
  }

  void change_arguments() {
    const Lookup found = find_operator(keras::kDomain, node_.op, version());
    const Node whole = found.schema ? complete(node_, *found.schema) : node_;
    for (const keras::Argument& argument : layer_->arguments) {
      const AttributeValue* now = whole.find(argument.name);
      if (!now) continue;
      for (AttributeValue& value : other_values(argument, *now)) {
        const double cost = kArgument + distance(*now, value) / 100;
        Edit edit{fmt::format("{}: {} in place of {}", argument.name, value_text(value),
                              value_text(*now)),
                  cost,
                  node_,
                  {},
                  {}};
        edit.node.set(std::string(argument.name), std::move(value));
        edits_.push_back(std::move(edit));
      }
    }
    // An argument that the layer has not can only go.
    for (const Attribute& one : node_.attributes) {
      if (std::ranges::find(layer_->arguments, one.name, &keras::Argument::name) !=
          layer_->arguments.end()) {
        continue;
      }
      Edit edit{fmt::format("without {}", printable(one.name)), kArgument, node_, {}, {}};
      std::erase_if(edit.node.attributes, [&](const Attribute& a) { return a.name == one.name; });
      edits_.push_back(std::move(edit));
    }
  }

  std::vector<AttributeValue> other_values(const keras::Argument& argument,
                                           const AttributeValue& now) const {
    std::vector<AttributeValue> values;
    const Extents shape =
        node_.inputs.empty() ? Extents() : extents(node_.inputs[0]).value_or(Extents());
    const auto rank = static_cast<std::int64_t>(shape.size()) + 1;
    const auto* list = std::get_if<Extents>(&now);  // a model may hold something else
    const Extents numbers = list ? *list : Extents();
    switch (argument.role) {
      case Role::sizes:
      case Role::pads:
        add_lists(numbers, shape, argument.role == Role::pads, values);
        break;
      case Role::axis:
        for (std::int64_t axis = 1; axis < rank; ++axis) values.emplace_back(axis);
        break;
      case Role::axes:
        for (std::int64_t a = 1; a < rank; ++a) {
          values.emplace_back(Extents{a});
          for (std::int64_t b = 1; b < 6 && numbers.size() == 2; ++b) {
            values.emplace_back(Extents{a, b});
          }
        }
        break;
      case Role::permutation: {
        Extents order;
        for (std::int64_t axis = 1; axis < rank; ++axis) order.push_back(axis);
        values.emplace_back(std::move(order));
        break;
      }
      case Role::count:
        for (std::int64_t n : {1, 2, 3, 4}) values.emplace_back(n);
        for (std::int64_t n : shape) values.emplace_back(n);
        break;
      case Role::choice:
        add_words(argument.name, values);
        break;
      default:
        break;
    }
    return values;
  }

  // Each number alone, and all of them, made smaller or as large as the input allows.
  static void add_lists(const Extents& now, const Extents& shape, bool from_zero,
                        std::vector<AttributeValue>& values) {
    const std::int64_t least = from_zero ? 0 : 1;
    for (std::int64_t n = least; n <= least + 3; ++n) values.emplace_back(Extents(now.size(), n));
    for (std::size_t i = 0; i < now.size(); ++i) {
      for (std::int64_t n = least; n < std::min<std::int64_t>(now[i], 16); ++n) {
        Extents other = now;
        other[i] = n;
        values.emplace_back(std::move(other));
      }
    }
    std::int64_t all = 1;
    for (std::int64_t n : shape) all *= n;
    values.emplace_back(Extents{all});
    Extents open = now;
    if (!open.empty()) open.back() = -1;
    values.emplace_back(std::move(open));
  }

  static void add_words(std::string_view argument, std::vector<AttributeValue>& values) {
    const auto add = [&](std::initializer_list<const char*> words) {
      for (const char* word : words) values.emplace_back(std::string(word));
    };
    if (argument == "padding") add({"same", "valid"});
    if (argument == "data_format") add({"channels_last", "channels_first"});
    if (argument.ends_with("activation")) add({"linear", "relu"});
    if (argument == "interpolation") add({"nearest"});
    if (argument == "merge_mode") add({"concat"});
  }

  // Other shapes for an input: of another rank, that of another input, that of a weight.
  void change_shape(std::size_t input, const Extents& has, std::size_t own) {
    for (std::size_t axes = 1; axes <= 4; ++axes) {
      if (axes == has.size()) continue;
      for (const Extents& wants : shapes_of_rank(has, axes)) {
        insert(input, has, wants, is_variadic() ? kOuterProduct : 0);
      }
    }
    for (std::size_t other = 0; other < node_.inputs.size(); ++other) {
      if (other == input) continue;
      const auto wants = other < own ? extents(node_.inputs[other]) : weight(node_.inputs[other]);
      if (wants) insert(input, has, *wants);
      if (other < own && wants && wants->size() == has.size()) insert_along(input, has, *wants);
    }
  }

  // As the other input along all axes but one, for what joins along that one.
  void insert_along(std::size_t input, const Extents& has, const Extents& wants) {
    for (std::size_t d = 0; d < has.size(); ++d) {
      Extents mixed = wants;
      mixed[d] = has[d];
      insert(input, has, mixed);
    }
  }

  std::optional<Extents> weight(const std::string& name) const {
    const auto found = known_.find(name);
    if (found == known_.end() || !found->second->type.dims) return std::nullopt;
    const auto shape = to_shape(*found->second->type.dims);
    return shape ? std::optional<Extents>({shape->begin(), shape->end()}) : std::nullopt;
  }

  void insert(std::size_t input, const Extents& has, const Extents& wants, double more = 0) {
    if (wants == has) return;
    ShapeChain chain = shape_chain(node_.inputs[input], has, wants, node_.name);
    if (chain.layers.empty()) return;
    const std::string in_front =
        is_variadic() ? fmt::format("between {} and it", printable(node_.inputs[input]))
                      : "in front";
    double cost = more + kLayer * static_cast<double>(chain.layers.size());
    for (const Node& layer : chain.layers) cost += layer.op.starts_with("Cropping") ? kLoss : 0;
    Edit edit{fmt::format("{} {}", chain.what, in_front), cost, node_, {}, {}};
    edit.node.inputs[input] = chain.layers.back().outputs.front();
    edit.before = std::move(chain.layers);
    edits_.push_back(std::move(edit));
  }

  // Weights of the shapes that the layer asks for: what they have of them, and zeros.
  void fit_weights() {
    if (!layer_->weights) return;
    const Lookup found = find_operator(keras::kDomain, node_.op, version());
    const Node whole = found.schema ? complete(node_, *found.schema) : node_;
    Site site(whole, version());
    for (const std::string& input : node_.inputs) {
      const auto one = known_.find(input);
      site.inputs.push_back(one == known_.end() ? Known() : *one->second);
    }
    Edit edit{"", kWeight, node_, {}, {}};
    const keras::Weights expected = layer_->weights(site);
    edit.node.inputs.resize(layer_->inputs.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto shape = to_shape(expected[i].shape);
      const std::size_t place = layer_->inputs.size() + i;
      if (!shape) return;
      const std::string name = place < node_.inputs.size() ? node_.inputs[place] : "";
      edit.node.inputs.push_back(name.empty() ? fmt::format("{}/{}", node_.name, expected[i].name)
                                              : name);
      const Tensor old = initializer(name);
      if (old.defined() && old.shape() == *shape) continue;
      const ElementType type = old.defined() ? old.type() : element();
      edit.weights.push_back({edit.node.inputs.back(), fitted(old, type, *shape), {}, {}});
      if (!edit.what.empty()) edit.what += ", ";
      edit.what += fmt::format("{} of shape {}", expected[i].name, to_text(*shape));
    }
    if (edit.weights.empty() && edit.node.inputs.size() == node_.inputs.size()) return;
    if (edit.what.empty()) edit.what = "without the weights that it has not";
    edits_.push_back(std::move(edit));
  }

  ElementType element() const {
    const auto found = known_.find(node_.inputs.front());
    return found == known_.end() || layer_->indices ? ElementType::f32
                                                    : found->second->type.element;
  }

  Tensor initializer(const std::string& name) const {
    const auto found = std::ranges::find(model_.graph.initializers, name, &NamedTensor::name);
    return found == model_.graph.initializers.end() ? Tensor() : found->tensor;
  }

  static Tensor fitted(const Tensor& old, ElementType type, const Shape& shape) {
    Tensor result(type, shape);
    if (!old.defined() || old.rank() != result.rank()) return result;
    std::vector<double> values(static_cast<std::size_t>(result.size()));
    for (std::int64_t i = 0; i < result.size(); ++i) {
      std::int64_t rest = i, place = 0, step = 1;
      bool inside = true;
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
        const std::int64_t at = rest % shape[d];
        inside = inside && at < old.shape()[d];
        place += at * step;
        step *= old.shape()[d];
      }
      if (inside) values[static_cast<std::size_t>(i)] = old.real(place);
    }
    return make_tensor(type, shape, values);
  }

  int version() const { return static_cast<int>(model_.opsets.at(std::string(keras::kDomain))); }

  const Model& model_;
  const Node& node_;
  const keras::Layer* layer_;
  std::unordered_map<std::string, const Known*> known_;
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> possible_edits(const Model& model, const ModelTypes& types, std::size_t index) {
  return EditMaker(model, types, index).run();
}

}  // namespace assay
