#include "formats/onnx_import.h"

#include <cstdint>
#include <fcntl.h>
#include <limits>
#include <unistd.h>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include "formats/failure.h"
#include "formats/onnx_decode.h"
#include "formats/onnx_scan.h"
#include "generated/onnx.pb.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
namespace pb_io = google::protobuf::io;

constexpr std::int64_t kFirstIrWithOpsets = 3;

[[noreturn]] void fail(const std::string& reason) {
  throw FormatError("unreadable", "not a whole ONNX model: " + reason);
}

// Looks at the bytes without decoding them; throws what is wrong with them.
void inspect(std::string_view bytes, const ImportOptions& options) {
  if (bytes.empty())
    throw FormatError("unreadable", "the file is empty, an ONNX model is expected");
  if (bytes.size() > std::numeric_limits<int>::max()) {
    throw FormatError("limit", "an ONNX file of 2 GiB or more cannot be decoded");
  }
  const auto scanned = scan_onnx(bytes, {options.max_nesting, options.max_bytes});
  if (!scanned) throw FormatError(scanned.error().kind, scanned.error().message);
}

// A subgraph is three messages deep: graph, node, attribute. The rest is for types and tensors.
int recursion_limit(const ImportOptions& options) { return 3 * options.max_nesting + 200; }

void decode(pb_io::CodedInputStream& input, const ImportOptions& options, onnx::ModelProto& proto) {
  input.SetRecursionLimit(recursion_limit(options));
  if (!proto.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    fail("a list of numbers in it is malformed");
  }
}

Model to_model(onnx::ModelProto& proto, const fs::path& folder) {
  if (proto.ir_version() <= 0) fail("it has no IR version");
  if (!proto.has_graph()) fail("it has no graph");
  const bool has_opsets = proto.ir_version() >= kFirstIrWithOpsets;
  if (has_opsets && proto.opset_import().empty()) fail("it imports no operator set");
  ExternalFiles files(folder);
  Model model = OnnxDecoder(files).model(proto);
  if (model.opsets.empty()) model.opsets[""] = 1;
  return model;
}

void decode_file(const fs::path& path, const ImportOptions& options, onnx::ModelProto& proto) {
  // Read in blocks, not from the mapped file: pages of a mapping would stay in memory beside the
  // decoded weights.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw FormatError("unreadable", "the file cannot be opened again");
  pb_io::FileInputStream stream(file, 1 << 20);
  stream.SetCloseOnDelete(true);
  pb_io::CodedInputStream input(&stream);
  decode(input, options, proto);
}

}  // namespace

Result<Model> read_onnx(const fs::path& path, const ImportOptions& options) {
  return guard_format(path.string(), [&] {
    inspect(map_file(path).bytes, options);
    onnx::ModelProto proto;
    decode_file(path, options, proto);
    const fs::path beside = path.has_parent_path() ? path.parent_path() : fs::path(".");
    return to_model(proto, options.folder.empty() ? beside : options.folder);
  });
}

Result<Model> parse_onnx(std::string_view bytes, const std::string& where,
                         const ImportOptions& options) {
  return guard_format(where, [&] {
    inspect(bytes, options);
    onnx::ModelProto proto;
    pb_io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                  static_cast<int>(bytes.size()));
    decode(input, options, proto);
    return to_model(proto, options.folder);
  });
}

}  // namespace assay
