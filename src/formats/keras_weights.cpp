#include "formats/keras_weights.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "formats/failure.h"
#include "formats/keras_config.h"
#include "graph/names.h"
#include "layers/keras/layers.h"
#include "ops/defaults.h"

namespace assay::keras {

Weights expected_weights(const Node& node, int version) {
  const Layer* layer = find_layer(node.op);
  if (!layer || !layer->weights) return {};
  const Lookup found = find_operator(kDomain, node.op, version);
  Node whole = node;
  if (found.schema) fill_defaults(whole, *found.schema);
  Site site(whole, version);
  site.inputs.resize(layer->inputs.size());
  return layer->weights(site);
}

namespace {

class NoWeights : public WeightStore {
 public:
  std::vector<Tensor> weights(const DescribedLayer&) const override { return {}; }
  std::unique_ptr<WeightStore> inside(const DescribedLayer&) const override {
    return std::make_unique<NoWeights>();
  }
};

// "0", "1", … "10" as numbers; what is no number comes last.
int place(const std::string& name) {
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : INT32_MAX;
}

class ArchivedWeights : public WeightStore {
 public:
  ArchivedWeights(std::shared_ptr<const Hdf5File> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  std::vector<Tensor> weights(const DescribedLayer& layer) const override {
    std::vector<Tensor> found;
    const std::vector<std::string> cells = stored_cells(layer);
    for (const std::string& cell : cells) {
      const std::string path = fmt::format("{}/cell/cells/{}", group(layer), cell);
      if (file_->has(path)) gather(path, 0, found);
    }
    if (cells.empty() && file_->has(group(layer))) gather(group(layer), 0, found);
    leave_out_seconds(layer, found);
    return found;
  }

  std::unique_ptr<WeightStore> inside(const DescribedLayer& network) const override {
    return std::make_unique<ArchivedWeights>(file_, group(network) + "/");
  }

 private:
  std::string group(const DescribedLayer& layer) const {
    const std::string older = path_ + "_layer_checkpoint_dependencies";
    if (file_->has(older)) return fmt::format("{}/{}", older, older_name(older, layer.stored));
    return fmt::format("{}layers/{}", path_, layer.stored);
  }

  // A layer that takes a variable of the one inside it for its own has it twice.
  static void leave_out_seconds(const DescribedLayer& layer, std::vector<Tensor>& found) {
    constexpr int kNewest = 3;
    const Node node = read_layer(layer.class_name, layer.name, layer.config);
    const bool around = std::ranges::any_of(node.attributes, [](const Attribute& one) {
      return std::holds_alternative<std::shared_ptr<const Graph>>(one.value);
    });
    if (!around) return;
    const std::size_t known = expected_weights(node, kNewest).size();
    for (std::size_t i = 1; i < found.size() && found.size() > known; ++i) {
      const auto end = found.begin() + static_cast<std::ptrdiff_t>(i);
      const bool again =
          std::any_of(found.begin(), end, [&](const Tensor& t) { return identical(t, found[i]); });
      if (again) found.erase(end);
    }
  }

  // The first releases that write such files count a layer with weights twice, so that the second
  // Dense is dense_2: of the groups of a class the layer has that of its place.
  std::string older_name(const std::string& path, const std::string& stored) const {
    const std::size_t sign = stored.rfind('_');
    const int number = sign == std::string::npos ? INT32_MAX : place(stored.substr(sign + 1));
    const std::string plain = number == INT32_MAX ? stored : stored.substr(0, sign);
    std::vector<std::pair<int, std::string>> alike;
    for (const std::string& member : file_->members(path)) {
      if (member == plain) alike.emplace_back(0, member);
      if (!member.starts_with(plain + "_")) continue;
      const int counted = place(member.substr(plain.size() + 1));
      if (counted != INT32_MAX) alike.emplace_back(counted, member);
    }
    std::ranges::sort(alike);
    const auto index = static_cast<std::size_t>(number == INT32_MAX ? 0 : number);
    return index < alike.size() ? alike[index].second : stored;
  }

  // A layer's own variables, then those of its parts: a cell, the layer inside a wrapper.
  void gather(const std::string& path, int depth, std::vector<Tensor>& found) const {
    constexpr int kMostParts = 8;
    if (depth > kMostParts) throw FormatError("unreadable", "weights lie too deep in groups");
    std::vector<std::string> members = file_->members(path);
    std::ranges::stable_sort(members, {}, [](const std::string& name) { return order(name); });
    for (const std::string& member : members) {
      const std::string inner = fmt::format("{}/{}", path, member);
      if (member == "vars") {
        gather_variables(inner, found);
      } else if (member != "seed_generator" && !file_->is_array(inner)) {
        gather(inner, depth + 1, found);
      }
    }
  }

  // get_weights() lists parts in the order in which the layer makes them, a group has them by name.
  static int order(const std::string& member) {
    constexpr std::string_view kOrder[] = {"vars",        "forward_layer", "backward_layer",
                                           "query_dense", "key_dense",     "gate_dense",
                                           "value_dense", "output_dense"};
    const std::size_t name = std::min(member.find_first_not_of('_'), member.size());
    const auto found = std::ranges::find(kOrder, std::string_view(member).substr(name));
    return static_cast<int>(found - std::begin(kOrder));
  }

  void gather_variables(const std::string& path, std::vector<Tensor>& found) const {
    std::vector<std::string> names = file_->members(path);
    std::ranges::stable_sort(names, {}, place);
    for (const std::string& name : names)
      found.push_back(file_->read(fmt::format("{}/{}", path, name)));
  }

  std::shared_ptr<const Hdf5File> file_;
  std::string path_;
};

// The tensors of a nested network, which an .h5 file keeps in one list: all that are trained, layer
// by layer, then all others.
class ListedWeights : public WeightStore {
 public:
  using Lists = std::map<std::string, std::vector<Tensor>>;
  ListedWeights(std::shared_ptr<const Lists> lists, std::string path)
      : lists_(std::move(lists)), path_(std::move(path)) {}

  std::vector<Tensor> weights(const DescribedLayer& layer) const override {
    const auto found = lists_->find(path_ + layer.name);
    return found == lists_->end() ? std::vector<Tensor>() : found->second;
  }
  std::unique_ptr<WeightStore> inside(const DescribedLayer& network) const override {
    return std::make_unique<ListedWeights>(lists_, path_ + network.name + "/");
  }

 private:
  std::shared_ptr<const Lists> lists_;
  std::string path_;
};

bool is_trained(const DescribedLayer& layer) {
  bool trained = true;
  return !layer.config.is_object() || layer.config["trainable"].get(trained) != simdjson::SUCCESS ||
         trained;
}

class Distribution {
 public:
  explicit Distribution(int version) : version_(version) {}

  void walk(const DescribedLayer& network, const std::string& path, bool trained, int depth) {
    constexpr int kMostNesting = 50;
    if (depth > kMostNesting) throw FormatError("unreadable", "networks are nested too deep");
    for (const DescribedLayer& layer : describe(network).layers) {
      const bool both = trained && is_trained(layer);
      if (layer.is_network()) {
        walk(layer, path + layer.name + "/", both, depth + 1);
      } else if (!layer.is_input()) {
        add(layer, path + layer.name, both);
      }
    }
  }

  ListedWeights::Lists deal(std::vector<Tensor> tensors) {
    ListedWeights::Lists lists;
    std::size_t next = 0;
    for (bool trained : {true, false}) {
      for (const Slot& slot : slots_) {
        if (slot.trained != trained || next == tensors.size()) continue;
        lists[slot.layer].push_back(std::move(tensors[next++]));
      }
    }
    if (next < tensors.size() && !slots_.empty()) {
      for (; next < tensors.size(); ++next) {
        lists[slots_.back().layer].push_back(std::move(tensors[next]));
      }
    }
    return lists;
  }

 private:
  struct Slot {
    std::string layer;
    bool trained;
  };

  void add(const DescribedLayer& layer, const std::string& path, bool trained) {
    const Node node = read_layer(layer.class_name, layer.name, layer.config);
    for (const Weight& weight : expected_weights(node, version_)) {
      slots_.push_back({path, trained && weight.trained});
    }
  }

  int version_;
  std::vector<Slot> slots_;
};

class NamedWeights : public WeightStore {
 public:
  NamedWeights(std::shared_ptr<const Hdf5File> file, int version)
      : file_(std::move(file)), version_(version) {
    if (file_->has("model_weights")) path_ = "model_weights/";
  }

  std::vector<Tensor> weights(const DescribedLayer& layer) const override {
    const std::string group = path_ + layer.name;
    std::vector<Tensor> found;
    if (!file_->has(group)) return found;
    for (const std::string& name : names(group))
      found.push_back(file_->read(fmt::format("{}/{}", group, name)));
    return layer.is_network() ? found : in_order(layer, std::move(found));
  }

  std::unique_ptr<WeightStore> inside(const DescribedLayer& network) const override {
    Distribution distribution(version_);
    distribution.walk(network, "", is_trained(network), 0);
    return std::make_unique<ListedWeights>(
        std::make_shared<const ListedWeights::Lists>(distribution.deal(weights(network))), "");
  }

 private:
  // The file has those that are trained before the others.
  std::vector<Tensor> in_order(const DescribedLayer& layer, std::vector<Tensor> found) const {
    const Weights known =
        expected_weights(read_layer(layer.class_name, layer.name, layer.config), version_);
    if (known.size() != found.size()) return found;
    const auto trained = static_cast<std::size_t>(std::ranges::count_if(known, &Weight::trained));
    std::size_t first = 0, rest = trained;
    std::vector<Tensor> sorted;
    for (const Weight& one : known) sorted.push_back(found[one.trained ? first++ : rest++]);
    return sorted;
  }

  // A list that is too long for one attribute lies in weight_names0, weight_names1, …
  std::vector<std::string> names(const std::string& group) const {
    if (auto all = file_->texts(group, "weight_names")) return *std::move(all);
    std::vector<std::string> joined;
    for (int i = 0;; ++i) {
      const auto some = file_->texts(group, fmt::format("weight_names{}", i));
      if (!some) return joined;
      joined.insert(joined.end(), some->begin(), some->end());
    }
  }

  std::shared_ptr<const Hdf5File> file_;
  int version_;
  std::string path_;
};

// A layer inside another one has its weights: they are inputs of its graph too.
void pass_weights_in(std::size_t count, int version, Node& node) {
  for (Attribute& one : node.attributes) {
    const auto* inner = std::get_if<std::shared_ptr<const Graph>>(&one.value);
    if (!inner) continue;
    auto graph = std::make_shared<Graph>(**inner);
    for (Node& layer : graph->nodes) {
      const Layer* known = find_layer(layer.op);
      if (!known || count == 0) continue;
      layer.inputs.resize(std::max(layer.inputs.size(), known->inputs.size()));
      // Where there are several layers inside, each has some of the weights.
      const std::size_t own = std::min(expected_weights(layer, version).size(), count);
      for (std::size_t i = 0; i < own; ++i) {
        graph->inputs.push_back({fmt::format("weight{}", graph->inputs.size() - 1), {}, {}, {}});
        layer.inputs.push_back(graph->inputs.back().name);
      }
    }
    one.value = std::shared_ptr<const Graph>(std::move(graph));
  }
}

}  // namespace

std::unique_ptr<WeightStore> no_weights() { return std::make_unique<NoWeights>(); }

std::unique_ptr<WeightStore> archived_weights(std::shared_ptr<const Hdf5File> file) {
  return std::make_unique<ArchivedWeights>(std::move(file), "");
}

std::unique_ptr<WeightStore> named_weights(std::shared_ptr<const Hdf5File> file, int version) {
  return std::make_unique<NamedWeights>(std::move(file), version);
}

std::vector<std::string> weight_names(const Node& node, int version, std::size_t count) {
  const Weights known = expected_weights(node, version);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = node.name + "/";
    name += i < known.size() ? std::string(known[i].name) : fmt::format("weight{}", i);
    // Both directions of a Bidirectional have a kernel.
    if (std::ranges::find(names, name) != names.end()) name += std::to_string(i);
    names.push_back(std::move(name));
  }
  return names;
}

void attach_weights(const std::vector<std::string>& names, int version, Node& node) {
  if (names.empty()) return;
  if (const Layer* layer = find_layer(node.op)) {
    node.inputs.resize(std::max(node.inputs.size(), layer->inputs.size()));
  }
  node.inputs.insert(node.inputs.end(), names.begin(), names.end());
  pass_weights_in(names.size(), version, node);
}

}  // namespace assay::keras
