// What assay compare is about: the data in pieces, the labels, the criteria.
#include <filesystem>

#include <fmt/format.h>

#include "cli/compare_backends.h"
#include "tensor/npy.h"

namespace assay {
namespace {

// As many instances at a time as the model takes.
Result<std::vector<std::vector<Value>>> cut_into_pieces(const Graph& graph,
                                                        const CompareRequest& request) {
  Graph relaxed = graph;
  std::int64_t taken = 0;  // instances that the model takes at once; 0: any number
  for (NamedType& input : relaxed.inputs) {
    if (!input.type.is_tensor() || !input.type.dims || input.type.dims->empty()) continue;
    Dim& first = input.type.dims->front();
    if (first.known()) taken = std::max<std::int64_t>(first.value, 1);
    if (!request.data.inputs.empty()) first = Dim();
  }
  Result<std::vector<Value>> all = read_inputs(relaxed, request.data);
  if (!all) return all.error();
  std::int64_t count = 0;
  for (const Value& value : *all) {
    if (value.is_tensor() && value.tensor().rank() > 0) {
      count = std::max(count, value.shape()[0]);
    }
  }
  if (taken == 0 || count <= taken) return std::vector<std::vector<Value>>{*std::move(all)};
  std::vector<std::vector<Value>> pieces;
  if (count % taken != 0) {
    return Error{"usage",
                 fmt::format("{} instances do not divide among runs of {}, which is what the model "
                             "takes at once",
                             count, taken),
                 request.data.inputs.front()};
  }
  for (std::int64_t start = 0; start < count; start += taken) {
    std::vector<Value> piece;
    for (const Value& value : *all) piece.push_back(slice_rows(value, start, taken, count));
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

Result<void> read_labels(const CompareRequest& request, Subject& subject) {
  if (request.labels.empty()) return {};
  Result<Tensor> labels = read_npy(request.labels);
  if (!labels) return labels.error();
  std::int64_t instances = 0;
  for (const std::vector<Value>& piece : subject.pieces) {
    for (const Value& value : piece) {
      if (!value.is_tensor() || value.tensor().rank() == 0) continue;
      instances += value.shape()[0];
      break;
    }
  }
  if (labels->rank() == 0 || labels->shape()[0] != instances) {
    return Error{"usage",
                 fmt::format("{}: {} labels for {} instances", request.labels,
                             labels->rank() == 0 ? 0 : labels->shape()[0], instances),
                 request.labels};
  }
  subject.labels = *std::move(labels);
  return {};
}

}  // namespace

std::string model_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path + "/model.onnx" : path;
}

Result<Subject> read_subject(const CompareRequest& request, std::shared_ptr<const Model> model) {
  Subject subject;
  subject.model = std::move(model);
  subject.path = model_file(request.model);
  const Graph& graph = subject.model->graph;
  Result<std::vector<std::vector<Value>>> pieces = cut_into_pieces(graph, request);
  if (!pieces) return pieces.error();
  subject.pieces = *std::move(pieces);
  if (Result<void> labels = read_labels(request, subject); !labels) return labels.error();
  Result<Criteria> criteria =
      read_criteria(graph, request.relative, request.absolute, request.metrics);
  if (!criteria) return criteria.error();
  subject.criteria = *std::move(criteria);
  return subject;
}

}  // namespace assay
