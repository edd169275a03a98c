#include "formats/tensorflow_read.h"

#include <limits>

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include "formats/external_data.h"
#include "formats/failure.h"
#include "formats/inflate.h"
#include "formats/tensorflow_decode.h"
#include "generated/tensorflow.pb.h"
#include "graph/names.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;
namespace wire = tensorflow_wire;

constexpr std::size_t kMostBytes = std::numeric_limits<int>::max();
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

void check_size(std::string_view bytes) {
  if (bytes.empty()) {
    throw FormatError("unreadable", "the file is empty, a TensorFlow graph is expected");
  }
  if (bytes.size() > kMostBytes) {
    throw FormatError("limit", "a TensorFlow graph of 2 GiB or more cannot be decoded");
  }
}

// A graph in text form as it would lie in a binary file.
template <class Proto>
std::string to_binary(std::string_view text) {
  Proto message;
  parse_text(text, message);
  std::string bytes;
  if (message.ByteSizeLong() > kMostBytes || !message.SerializeToString(&bytes)) {
    throw FormatError("limit", "a TensorFlow graph of 2 GiB or more cannot be decoded");
  }
  return bytes;
}

tensorflow::GraphDef decode_graph(std::string_view bytes, TensorflowForm form) {
  check_size(bytes);
  tensorflow::GraphDef graph =
      decode_graph_def(form == TensorflowForm::text ? to_binary<wire::GraphDef>(bytes) : bytes);
  if (graph.nodes.empty()) throw FormatError("unreadable", "the graph has no nodes");
  return graph;
}

tensorflow::GraphDef decode_saved(std::string_view bytes, TensorflowForm form) {
  check_size(bytes);
  return decode_saved_model(form == TensorflowForm::text ? to_binary<wire::SavedModel>(bytes)
                                                         : bytes);
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
    return saved ? decode_saved(bytes, kind.form) : decode_graph(bytes, kind.form);
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
