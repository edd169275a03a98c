#include "formats/case_line.h"

#include <array>
#include <bit>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "formats/failure.h"
#include "formats/inflate.h"
#include "formats/keras_config.h"
#include "formats/keras_masks.h"
#include "formats/keras_weights.h"
#include "graph/names.h"
#include "layers/keras/layers.h"

namespace assay {
namespace {

using Element = simdjson::dom::element;

constexpr std::size_t kMostBytes = std::size_t{1} << 31;
constexpr std::int64_t kKerasVersion = 2;  // where a line does not say

// The fields of an object that are wanted, numbered as in `keys` and found in one pass. Of two with
// one key the first counts.
template <std::size_t kCount>
class Fields {
 public:
  using Keys = std::array<std::string_view, kCount>;

  Fields(Element element, const Keys& keys) : keys_(keys) {
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return;
    std::size_t next = 0;  // mostly they come in this order
    for (const auto& [key, value] : object) {
      const std::size_t place = place_of(key, next);
      if (place == kCount) continue;
      if (!values_[place]) values_[place] = value;
      next = place + 1;
    }
  }

  bool has(std::size_t place) const { return values_[place].has_value(); }
  template <class T>
  T get(std::size_t place) const {
    T value{};
    if (!has(place) || values_[place]->get(value) != simdjson::SUCCESS) {
      throw FormatError("unreadable",
                        fmt::format("not a case: {} is missing", in_quotes(keys_[place])));
    }
    return value;
  }
  std::string text(std::size_t place) const { return std::string(get<std::string_view>(place)); }

 private:
  std::size_t place_of(std::string_view key, std::size_t next) const {
    for (std::size_t i = next; i < kCount; ++i) {
      if (keys_[i] == key) return i;
    }
    for (std::size_t i = 0; i < next; ++i) {
      if (keys_[i] == key) return i;
    }
    return kCount;
  }

  const Keys& keys_;
  std::array<std::optional<Element>, kCount> values_;
};

enum LayerField : std::size_t { kClass, kConfig, kName, kFrom, kLayerFields };
constexpr std::array<std::string_view, kLayerFields> kLayerKeys = {"class", "config", "name",
                                                                   "inputs"};
enum LineField : std::size_t {
  kId,
  kKeras,
  kLayers,
  kWeights,
  kInputs,
  kModelInputs,
  kOutput,
  kShapes,
  kRecorded,
  kLineFields
};
constexpr std::array<std::string_view, kLineFields> kLineKeys = {
    "id",           "keras",  "layers",       "weights",   "inputs",
    "model_inputs", "output", "input_shapes", "tensorflow"};
using Line = Fields<kLineFields>;

ValueType input_type(const Line& line, std::string_view name, const Value& recorded) {
  if (recorded.present()) return recorded.value_type();
  Dims dims = {Dim::named("batch")};
  const auto shapes = line.get<simdjson::dom::object>(kShapes);
  simdjson::dom::array extents;
  if (shapes[name].get(extents) != simdjson::SUCCESS) return ValueType::tensor(ElementType::f64);
  for (Element extent : extents) {
    std::int64_t value = -1;
    dims.push_back(extent.get(value) == simdjson::SUCCESS ? Dim(value) : Dim());
  }
  return ValueType::tensor(ElementType::f64, std::move(dims));
}

void read_inputs(const Line& line, LayerCase& result) {
  const auto values = line.get<simdjson::dom::object>(kInputs);
  const auto names = line.get<simdjson::dom::array>(kModelInputs);
  result.inputs.reserve(names.size());
  result.model.graph.inputs.reserve(names.size());
  for (Element name : names) {
    const std::string_view input = name;
    Element value;
    result.inputs.emplace_back();
    if (values[input].get(value) == simdjson::SUCCESS) result.inputs.back() = read_tensor(value);
    result.model.graph.inputs.push_back(
        {std::string(input), input_type(line, input, result.inputs.back()), {}, {}});
  }
}

void add_weights(Element weights, std::int64_t version, Node& node, Graph& graph) {
  std::vector<Tensor> tensors;
  for (Element weight : simdjson::dom::array(weights)) tensors.push_back(read_tensor(weight));
  const std::vector<std::string> names =
      keras::weight_names(node, static_cast<int>(version), tensors.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    graph.initializers.push_back({names[i], std::move(tensors[i]), {}, {}});
  }
  keras::attach_weights(names, static_cast<int>(version), node);
}

void read_node(Element element, const simdjson::dom::object& weights, std::int64_t version,
               Graph& graph) {
  const Fields layer(element, kLayerKeys);
  Node& node = graph.nodes.emplace_back(read_layer(layer.get<std::string_view>(kClass),
                                                   layer.text(kName), layer.get<Element>(kConfig)));
  const auto inputs = layer.get<simdjson::dom::array>(kFrom);
  node.inputs.reserve(inputs.size());
  for (Element input : inputs) node.inputs.emplace_back(std::string_view(input));
  Element own;
  if (weights[node.name].get(own) == simdjson::SUCCESS) add_weights(own, version, node, graph);
  node.outputs.push_back(node.name);
}

LayerCase read_case(Element root) {
  const Line line(root, kLineKeys);
  LayerCase result;
  result.id = line.text(kId);
  Model& model = result.model;
  model.ir_version = 10;
  const auto version = line.has(kKeras) ? line.get<std::int64_t>(kKeras) : kKerasVersion;
  model.opsets = {{std::string(keras::kDomain), version}};
  model.graph.name = result.id;
  read_inputs(line, result);
  const auto weights = line.get<simdjson::dom::object>(kWeights);
  const auto layers = line.get<simdjson::dom::array>(kLayers);
  model.graph.nodes.reserve(layers.size());
  for (Element layer : layers) {
    read_node(layer, weights, version, model.graph);
  }
  model.graph.outputs.push_back({line.text(kOutput), ValueType::tensor(ElementType::f64), {}, {}});
  keras::spread_masks(model);
  if (line.has(kRecorded)) result.expected = read_tensor(line.get<Element>(kRecorded));
  return result;
}

Element parse_json(std::string_view line) {
  thread_local simdjson::dom::parser parser;
  // By itself it would take new memory for each line that is longer than all before.
  auto failure = simdjson::SUCCESS;
  if (line.size() > parser.capacity()) failure = parser.allocate(std::bit_ceil(line.size()));
  Element root;
  if (failure == simdjson::SUCCESS) {
    failure = parser.parse(line.data(), line.size(), false).get(root);
  }
  if (failure != simdjson::SUCCESS) {
    throw FormatError("unreadable", fmt::format("not JSON: {}", simdjson::error_message(failure)));
  }
  return root;
}

Buffer<char> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FormatError("unreadable", "cannot be read");
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (!failure && size > 0 && size <= kMostBytes) {
    Buffer<char> bytes;
    bytes.reserve(size + simdjson::SIMDJSON_PADDING);
    bytes.resize(size);
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
  }
  std::ostringstream content;  // a pipe has no size
  content << file.rdbuf();     // which fails for a file without a byte
  const std::string bytes = std::move(content).str();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string CaseLines::where(std::size_t i) const { return fmt::format("{}:{}", file_, i + 1); }

bool is_case_file(const std::string& path) {
  return path.ends_with(".jsonl") || path.ends_with(".jsonl.gz");
}

Result<CaseLines> read_case_lines(const std::filesystem::path& path) {
  return guard_format(path.string(), [&] {
    keras::use_layers();
    Buffer<char> bytes = read_bytes(path);
    if (path.extension() == ".gz") {
      bytes = inflate<Buffer<char>>({bytes.data(), bytes.size()}, kMostBytes,
                                    simdjson::SIMDJSON_PADDING);
    }
    bytes.insert(bytes.end(), simdjson::SIMDJSON_PADDING, '\n');
    CaseLines result;
    result.file_ = path.string();
    result.bytes_ = std::make_shared<const Buffer<char>>(std::move(bytes));
    std::string_view rest(result.bytes_->data(), result.bytes_->size());
    rest.remove_suffix(simdjson::SIMDJSON_PADDING);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (end > 0) result.lines_.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (result.lines_.empty()) throw FormatError("unreadable", "no case is in it");
    return result;
  });
}

Result<LayerCase> parse_case_line(std::string_view line, const std::string& where) {
  return guard_format(where, [&] { return read_case(parse_json(line)); });
}

bool names_case(const std::string& path) {
  const auto sign = path.rfind('#');
  return sign != std::string::npos && is_case_file(path.substr(0, sign));
}

Result<LayerCase> read_named_case(const std::string& path) {
  const auto sign = path.rfind('#');
  const std::string file = path.substr(0, sign), id = path.substr(sign + 1);
  const Result<CaseLines> lines = read_case_lines(file);
  if (!lines) return lines.error();
  for (std::size_t i = 0; i < lines->size(); ++i) {
    const Result<bool> found = guard_format(
        lines->where(i), [&] { return Line(parse_json((*lines)[i]), kLineKeys).text(kId) == id; });
    if (!found) return found.error();
    if (*found) return parse_case_line((*lines)[i], lines->where(i));
  }
  return Error{"unreadable", fmt::format("{}: no case has the id {}", file, in_quotes(id)), file};
}

}  // namespace assay
