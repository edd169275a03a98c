#include "formats/tensorflow_read.h"

#include <array>
#include <limits>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include "formats/external_data.h"
#include "formats/failure.h"
#include "formats/inflate.h"
#include "formats/tensorflow_decode.h"
#include "formats/tensorflow_scan.h"
#include "formats/wire.h"
#include "generated/tensorflow.pb.h"
#include "graph/names.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;
namespace wire = tensorflow_wire;

constexpr std::size_t kMostBytes = std::numeric_limits<int>::max();
constexpr std::size_t kMostDecoded = std::size_t{8} << 30;
constexpr int kTextNesting = 100;

// Keeps the first complaint of the text parser; the others follow from it.
class FirstError : public pb::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  void AddWarning(int, int, const std::string&) override {}  // fields that mean nothing here
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void parse_text(std::string_view bytes, pb::Message& message) {
  pb::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  FirstError errors;
  pb::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kTextNesting);
  parser.RecordErrorsTo(&errors);
  if (parser.Parse(&stream, &message)) return;
  throw FormatError("unreadable",
                    "not a TensorFlow graph in text form: " +
                        one_line(errors.text().empty() ? "it does not parse" : errors.text()));
}

// Adds what is in the bytes, which have been looked at, to a message.
void merge_binary(std::string_view bytes, pb::Message& message) {
  pb::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                 static_cast<int>(bytes.size()));
  if (!message.MergeFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    throw FormatError("unreadable", "not a whole TensorFlow graph: a field in it is malformed");
  }
}

void parse_binary(std::string_view bytes, pb::Message& message) {
  scan_message(bytes, *message.GetDescriptor(), kMostDecoded);
  merge_binary(bytes, message);
}

void check_size(std::string_view bytes) {
  if (bytes.empty()) {
    throw FormatError("unreadable", "the file is empty, a TensorFlow graph is expected");
  }
  if (bytes.size() > kMostBytes) {
    throw FormatError("limit", "a TensorFlow graph of 2 GiB or more cannot be decoded");
  }
}

void parse(std::string_view bytes, TensorflowForm form, pb::Message& message) {
  check_size(bytes);
  form == TensorflowForm::text ? parse_text(bytes, message) : parse_binary(bytes, message);
}

std::size_t count_nodes(std::string_view bytes) {
  std::size_t count = 0;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    const bool is_node = field->number == wire::GraphDef::kNodeFieldNumber;
    count += is_node && field->type == WireType::bytes ? 1 : 0;
  }
  return count;
}

// Node by node: the messages of all nodes together take several times the memory of the file.
tensorflow::GraphDef decode_nodes(std::string_view bytes) {
  check_size(bytes);
  scan_message(bytes, *wire::GraphDef::descriptor(), kMostDecoded);
  tensorflow::GraphDef graph;
  graph.nodes.reserve(count_nodes(bytes));
  wire::NodeDef node;
  wire::FunctionDefLibrary library;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->type != WireType::bytes) continue;
    if (field->number == wire::GraphDef::kNodeFieldNumber) {
      node.Clear();
      merge_binary(field->bytes, node);
      graph.nodes.push_back(to_node(node));
    } else if (field->number == wire::GraphDef::kLibraryFieldNumber) {
      merge_binary(field->bytes, library);
    }
  }
  graph.functions = to_functions(library);
  return graph;
}

tensorflow::GraphDef decode_text(std::string_view bytes) {
  wire::GraphDef proto;
  parse(bytes, TensorflowForm::text, proto);
  return to_graph_def(proto);
}

tensorflow::GraphDef decode_graph(std::string_view bytes, TensorflowForm form) {
  tensorflow::GraphDef graph =
      form == TensorflowForm::text ? decode_text(bytes) : decode_nodes(bytes);
  if (graph.nodes.empty()) throw FormatError("unreadable", "the graph has no nodes");
  return graph;
}

// The graph of a SavedModel that is for serving, else its first.
tensorflow::GraphDef decode_saved_model(std::string_view bytes, TensorflowForm form) {
  wire::SavedModel proto;
  parse(bytes, form, proto);
  if (proto.meta_graphs_size() == 0) throw FormatError("unreadable", "the SavedModel has no graph");
  wire::MetaGraphDef* chosen = proto.mutable_meta_graphs(0);
  for (auto& graph : *proto.mutable_meta_graphs()) {
    const auto& tags = graph.meta_info_def().tags();
    if (tags.size() == 1 && tags[0] == "serve") chosen = &graph;
  }
  tensorflow::GraphDef graph = to_graph_def(*chosen->mutable_graph_def());
  graph.producer_version = to_utf8(chosen->meta_info_def().tensorflow_version());
  return graph;
}

struct Kind {
  TensorflowForm form;
  bool compressed = false;
};

std::optional<Kind> kind_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".pb")) return Kind{TensorflowForm::binary};
  if (name.ends_with(".pbtxt")) return Kind{TensorflowForm::text};
  if (name.ends_with(".pb.gz")) return Kind{TensorflowForm::binary, true};
  if (name.ends_with(".pbtxt.gz")) return Kind{TensorflowForm::text, true};
  return std::nullopt;
}

std::optional<fs::path> saved_model_in(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return std::nullopt;
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt"}) {
    if (fs::exists(folder / name, ignored)) return folder / name;
  }
  return std::nullopt;
}

}  // namespace

Result<tensorflow::GraphDef> read_tensorflow(const fs::path& path) {
  return guard_format(path.string(), [&] {
    const fs::path file = saved_model_in(path).value_or(path);
    const Kind kind = kind_of(file).value_or(Kind{TensorflowForm::binary});
    const SharedBytes mapped = map_file(file);
    std::string inflated;
    if (kind.compressed) inflated = inflate(mapped.bytes, kMostBytes);
    const std::string_view bytes = kind.compressed ? inflated : mapped.bytes;
    const bool saved = file.filename().string().starts_with("saved_model.");
    return saved ? decode_saved_model(bytes, kind.form) : decode_graph(bytes, kind.form);
  });
}

Result<tensorflow::GraphDef> parse_tensorflow(std::string_view bytes, TensorflowForm form,
                                              const std::string& where) {
  return guard_format(where, [&] { return decode_graph(bytes, form); });
}

bool is_tensorflow(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return saved_model_in(path).has_value();
  return kind_of(path).has_value();
}

}  // namespace assay
