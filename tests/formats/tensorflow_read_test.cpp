// TensorFlow graphs from files: both forms, compressed or not, and all that can be wrong with them.
#include "formats/tensorflow_read.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <zlib.h>

#include "generated/tensorflow.pb.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = R"(
node {
  name: "c"
  op: "Const"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr {
    key: "value"
    value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: 1 float_val: 2 } }
  }
}
node { name: "y" op: "Log" input: "c:0" input: "^c" attr { key: "T" value { type: DT_FLOAT_REF } } }
versions { producer: 27 }
from_a_later_release { x: 1 }
)";

class TensorflowRead : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / "assay_tensorflow_read";
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  fs::path folder_;
};

std::string gzip(const std::string& bytes) {
  const fs::path path = fs::temp_directory_path() / "assay_gzip_test.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  std::string compressed((std::istreambuf_iterator<char>(in)), {});
  fs::remove(path);
  return compressed;
}

std::string binary() {
  tensorflow_wire::GraphDef graph;
  auto* node = graph.add_node();
  node->set_name("x");
  node->set_op("Placeholder");
  auto* attribute = node->add_attr();
  attribute->set_key("dtype");
  attribute->mutable_value()->set_type(tensorflow_wire::DT_HALF);
  return graph.SerializeAsString();
}

void expect_error(const Result<tensorflow::GraphDef>& result, const std::string& kind,
                  const std::string& part) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, kind);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
}

TEST_F(TensorflowRead, ReadsTheTextForm) {
  const auto graph = read_tensorflow(write("g.pbtxt", kText));
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[1].inputs, (std::vector<std::string>{"c:0", "^c"}));
  EXPECT_EQ(std::get<std::int64_t>(graph->nodes[1].attributes.list()[0].value),
            1);  // of a reference: f32
  const Tensor& value = std::get<Tensor>(graph->nodes[0].attributes.list()[1].value);
  EXPECT_EQ(value.reals(), (std::vector<double>{1, 2, 2}));  // the last one goes on
}

TEST_F(TensorflowRead, ReadsTheBinaryForm) {
  const auto graph = read_tensorflow(write("g.pb", binary()));
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->nodes[0].op, "Placeholder");
}

TEST_F(TensorflowRead, ReadsCompressedFiles) {
  EXPECT_TRUE(read_tensorflow(write("g.pbtxt.gz", gzip(kText))).has_value());
  EXPECT_TRUE(read_tensorflow(write("g.pb.gz", gzip(binary()))).has_value());
}

TEST_F(TensorflowRead, ReadsTheServingGraphOfASavedModel) {
  tensorflow_wire::SavedModel model;
  model.set_saved_model_schema_version(1);
  model.add_meta_graphs()->mutable_meta_info_def()->add_tags("train");
  auto* serving = model.add_meta_graphs();
  serving->mutable_meta_info_def()->add_tags("serve");
  serving->mutable_meta_info_def()->set_tensorflow_version("1.13.1");
  serving->mutable_graph_def()->ParseFromString(binary());
  write("saved_model.pb", model.SerializeAsString());
  const auto graph = read_tensorflow(folder_);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->producer_version, "1.13.1");
  EXPECT_EQ(graph->nodes.size(), 1U);
  EXPECT_TRUE(is_tensorflow(folder_));
}

TEST_F(TensorflowRead, SaysInWhichLineTheTextIsBroken) {
  expect_error(read_tensorflow(write("g.pbtxt", "node {\n  name: \"x\"\n  op 3\n}\n")),
               "unreadable", "line 3");
  expect_error(read_tensorflow(write("g.pbtxt", std::string(kText).substr(0, 60))), "unreadable",
               "line");
}

TEST_F(TensorflowRead, RefusesWhatIsNoGraph) {
  expect_error(read_tensorflow(write("g.pb", "")), "unreadable", "empty");
  expect_error(read_tensorflow(write("g.pbtxt", "# nothing\n")), "unreadable", "no nodes");
  expect_error(read_tensorflow(write("g.pb", binary().substr(0, 9))), "unreadable", "whole");
  expect_error(read_tensorflow(write("g.pb", "\x89PNG\r\n\x1a\n")), "unreadable", "");
  expect_error(read_tensorflow(folder_ / "none.pb"), "missing", "");
  const std::string whole = gzip(kText);
  expect_error(read_tensorflow(write("g.pbtxt.gz", whole.substr(0, whole.size() / 2))),
               "unreadable", "gzip");
  expect_error(read_tensorflow(write("g.pbtxt.gz", kText)), "unreadable", "gzip");
}

TEST_F(TensorflowRead, RefusesTensorsThatContradictThemselves) {
  const auto with_tensor = [](const std::string& tensor) {
    return "node { name: \"c\" op: \"Const\" attr { key: \"value\" value { tensor { " + tensor +
           " } } } }";
  };
  expect_error(
      read_tensorflow(write("g.pbtxt", with_tensor("dtype: DT_FLOAT tensor_shape { dim { "
                                                   "size: 1 } } float_val: 1 float_val: 2"))),
      "invalid", "has 2 values");
  expect_error(
      read_tensorflow(write("g.pbtxt", with_tensor("dtype: DT_FLOAT tensor_shape { dim { "
                                                   "size: 2 } } tensor_content: \"abc\""))),
      "invalid", "3 bytes");
  expect_error(read_tensorflow(write("g.pbtxt", with_tensor("dtype: DT_FLOAT tensor_shape { dim { "
                                                            "size: -2 } }"))),
               "invalid", "shape");
}

TEST_F(TensorflowRead, BoundsNesting) {
  std::string text = "node { name: \"x\" op: \"X\" attr { key: \"f\" value { ";
  for (int i = 0; i < 300; ++i) text += "func { attr { key: \"f\" value { ";
  for (int i = 0; i < 300; ++i) text += "} } }";
  expect_error(read_tensorflow(write("g.pbtxt", text + "} } }")), "unreadable", "");
  std::string inner;
  for (int i = 0; i < 300; ++i) {
    tensorflow_wire::AttrEntry entry;
    entry.set_key("f");
    entry.mutable_value()->mutable_func()->MergeFromString(inner);
    tensorflow_wire::NameAttrList list;
    *list.add_attr() = entry;
    inner = list.SerializeAsString();
  }
  tensorflow_wire::GraphDef graph;
  auto* attribute = graph.add_node()->add_attr();
  attribute->mutable_value()->mutable_func()->ParsePartialFromString(inner);
  expect_error(read_tensorflow(write("g.pb", graph.SerializeAsString())), "limit", "nested");
}

}  // namespace
}  // namespace assay
