#include "formats/onnx_export.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "formats/onnx_encode.h"
#include "formats/onnx_tensor.h"
#include "generated/onnx.pb.h"
#include "graph/order.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::uint64_t initializer_bytes(const Graph& graph) {
  std::uint64_t total = 0;
  for (const NamedTensor& value : graph.initializers) {
    total += file_size(value.tensor.type(), value.tensor.size()).value_or(0);
  }
  for (const Node& node : graph.nodes) {
    for_each_subgraph(
        node, [&](const std::string&, const Graph& inner) { total += initializer_bytes(inner); });
  }
  return total;
}

Error cannot_write(const fs::path& path, const std::string& reason) {
  return {"unreadable", fmt::format("{}: cannot be written: {}", path.string(), reason),
          path.string()};
}

Result<std::string> serialize(const onnx::ModelProto& proto) {
  if (proto.ByteSizeLong() > std::numeric_limits<int>::max()) {
    return Error{"limit", "the model takes 2 GiB or more, which no ONNX file can hold", ""};
  }
  return proto.SerializeAsString();
}

// A file under a name of its own until it is whole.
class PartialFile {
 public:
  explicit PartialFile(fs::path path) : path_(std::move(path)), partial_(path_.string() + ".part") {
    stream_.open(partial_, std::ios::binary | std::ios::trunc);
  }
  ~PartialFile() {
    std::error_code ignored;
    if (!done_) fs::remove(partial_, ignored);
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  std::ostream& stream() { return stream_; }
  Result<void> finish() {
    stream_.close();
    if (!stream_) return cannot_write(path_, std::strerror(errno));
    std::error_code failed;
    fs::rename(partial_, path_, failed);
    if (failed) return cannot_write(path_, failed.message());
    done_ = true;
    return {};
  }

 private:
  fs::path path_, partial_;
  std::ofstream stream_;
  bool done_ = false;
};

}  // namespace

Result<void> write_file(const fs::path& path, const std::string& bytes) {
  PartialFile file(path);
  file.stream() << bytes;
  return file.finish();
}

Result<std::string> to_onnx(const Model& model) {
  onnx::ModelProto proto;
  encode_model(model, nullptr, proto);
  return serialize(proto);
}

Result<void> write_onnx(const Model& model, const fs::path& path, const ExportOptions& options) {
  onnx::ModelProto proto;
  if (initializer_bytes(model.graph) > options.largest_inside) {
    const fs::path data = path.string() + ".data";
    PartialFile file(data);
    ExternalWriter external(file.stream(), data.filename().string());
    encode_model(model, &external, proto);
    if (auto done = file.finish(); !done) return done;
  } else {
    encode_model(model, nullptr, proto);
  }
  const Result<std::string> bytes = serialize(proto);
  if (!bytes) return bytes.error();
  return write_file(path, *bytes);
}

}  // namespace assay
