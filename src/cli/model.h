// What commands take: a model that is right, and data for its inputs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

// A model as it lies in a file. An Error of kind "usage" if the name says that it is of a format
// that is not read.
Result<Model> read_model(const std::string& path);
// Whether the file, by its name, is one of Keras' layers.
bool holds_layers(const std::string& path);

// The same for commands that need a right model: the first finding of validate is an Error of kind
// "invalid".
Result<std::shared_ptr<const Model>> read_valid_model(const std::string& path);

// The first finding as such an Error, for a model that is not valid.
Result<void> require_valid(const Model& model, const std::string& path);

struct DataOptions {
  // F.npz, a folder with input_0.pb …, name=F.npy, name=F.pb, or CASES.jsonl#ID; later ones win.
  std::vector<std::string> inputs;
  bool random = false;  // draw what is not given
  std::uint64_t seed = 0;
  std::map<std::string, std::int64_t> extents;  // of named dimensions
};

// A case comes with inputs of its own, which count where nothing else is asked for.
void bring_own_data(const std::string& model, DataOptions& options);

// A value for each input of the graph, absent where an initialiser serves. What is missing is an
// Error of kind "usage" that lists the inputs with type and shape; a value of another type or shape
// one of kind "invalid".
Result<std::vector<Value>> read_inputs(const Graph& graph, const DataOptions& options);

// The instances from `start` on of data that has `count` of them along its first axis; other values
// are the same for every instance.
Value slice_rows(const Value& value, std::int64_t start, std::int64_t rows, std::int64_t count);

// Values by name, from an .npz file.
Result<std::map<std::string, Tensor>> read_values(const std::string& path);

}  // namespace assay
