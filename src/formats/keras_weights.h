// Where the weights of a Keras network lie: in groups of a .keras file's HDF5 part, by layer in an
// .h5 file, or nowhere.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/hdf5.h"
#include "formats/keras_described.h"
#include "graph/graph.h"
#include "layers/keras/layer.h"

namespace assay::keras {

class WeightStore {
 public:
  virtual ~WeightStore() = default;
  // The tensors of get_weights(), as many as there are.
  virtual std::vector<Tensor> weights(const DescribedLayer& layer) const = 0;
  // Of a network that is a layer of this one.
  virtual std::unique_ptr<WeightStore> inside(const DescribedLayer& network) const = 0;
};

// A config alone.
std::unique_ptr<WeightStore> no_weights();
// model.weights.h5 of a .keras file.
std::unique_ptr<WeightStore> archived_weights(std::shared_ptr<const Hdf5File> file);
// An .h5 file, with weights by the names of layers; `version` is that of Keras, 2 or 3.
std::unique_ptr<WeightStore> named_weights(std::shared_ptr<const Hdf5File> file, int version);

// The weights that the layer's arguments make it have; their shapes are open.
Weights expected_weights(const Node& node, int version);

// The names that the weights of a node have in the model: "dense/kernel"; "dense/weight2" for one
// more than the layer has.
std::vector<std::string> weight_names(const Node& node, int version, std::size_t count);
// Makes them inputs of the node, behind its own, and of the layer inside it.
void attach_weights(const std::vector<std::string>& names, int version, Node& node);

}  // namespace assay::keras
