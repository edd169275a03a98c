// Small ONNX models and folders for the tests of formats/.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "formats/onnx_import.h"
#include "generated/onnx.pb.h"

namespace assay {

// A folder of its own, gone at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "assay-formats-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline void add_value(onnx::ValueInfoProto& value, const std::string& name) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_value(2);
}

// y = Add(x, w).
inline onnx::ModelProto small_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  auto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(17);
  auto& graph = *model.mutable_graph();
  graph.set_name("small");
  add_value(*graph.add_input(), "x");
  add_value(*graph.add_output(), "y");
  auto& node = *graph.add_node();
  node.set_op_type("Add");
  node.set_name("sum");
  node.add_input("x");
  node.add_input("w");
  node.add_output("y");
  auto& weight = *graph.add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(2);
  weight.set_raw_data(std::string("\0\0\x80\x3f\0\0\0\x40", 8));  // 1, 2
  return model;
}

inline Result<Model> parse(const onnx::ModelProto& proto, const ImportOptions& options = {}) {
  return parse_onnx(proto.SerializeAsString(), "model.onnx", options);
}

// "kind: message", after checking what every error must be like.
inline std::string error_of(const Result<Model>& result) {
  if (result.has_value()) return "accepted";
  const Error& error = result.error();
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  EXPECT_NE(error.message.find(".onnx"), std::string::npos) << error.message;
  EXPECT_LT(error.message.size(), 2000U);
  return error.kind + ": " + error.message;
}

// Whether the text has the part; prints both if not.
inline testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

}  // namespace assay
