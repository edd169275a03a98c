// A Keras network as its config writes it down, before any of it is given a meaning: layers, where
// each is called, and what the network takes and gives. Keras 2 and Keras 3 write it differently.
#pragma once

#include <simdjson.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/element_type.h"

namespace assay::keras {

using Json = simdjson::dom::element;

// One of the tensors that a call of a layer has given.
struct TensorReference {
  std::string layer;
  std::int64_t call = 0;
  std::int64_t output = 0;
};

struct LayerCall {
  std::vector<TensorReference> inputs;
  bool only_tensors = true;  // false: it is called on other things too
  // Arguments of the call by name: tensors, or plain values.
  std::vector<std::pair<std::string, std::vector<TensorReference>>> named;
  std::vector<std::pair<std::string, Json>> options;
};

struct DescribedLayer {
  std::string class_name;  // with its module or package in front if it is not Keras' own
  std::string name;
  Json config;
  std::vector<LayerCall> calls;
  std::string stored;  // what the weights of a .keras file call it: "dense_1"

  bool is_network() const;
  bool is_input() const { return class_name == "InputLayer"; }
};

struct DescribedNetwork {
  std::string name;
  bool sequential = false;
  std::vector<DescribedLayer> layers;
  std::vector<TensorReference> inputs, outputs;
};

// Throws FormatError where it is not what Keras writes, or a class of its own in Python code.
DescribedNetwork describe(const DescribedLayer& network);
// {"class_name": …, "config": …}, as networks and layers are written.
DescribedLayer read_description(Json described);

// Of an RNN of several cells, what the weights of a .keras file call them; otherwise nothing.
std::vector<std::string> stored_cells(const DescribedLayer& layer);

// The types that a layer computes with and keeps its variables in.
struct Precision {
  ElementType computed = ElementType::f32, kept = ElementType::f32;
};
Precision precision(Json config);

}  // namespace assay::keras
