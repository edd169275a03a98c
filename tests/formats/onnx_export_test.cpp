// Writing models: what was read comes out again.
#include "formats/onnx_export.h"

#include "support.h"

namespace assay {
namespace {

// A model with something in every field that is kept, in the form in which it is written.
onnx::ModelProto rich_model() {
  auto model = small_model();
  model.set_ir_version(11);
  model.set_producer_name("maker");
  model.set_producer_version("1");
  model.set_domain("example");
  model.set_model_version(3);
  model.set_doc_string("about");
  auto& property = *model.add_metadata_props();
  property.set_key("key");
  property.set_value("value");
  auto& local = *model.add_opset_import();
  local.set_domain("local");
  local.set_version(1);
  model.add_training_info()->mutable_algorithm()->set_name("train");
  model.add_configuration()->set_name("two devices");
  auto& graph = *model.mutable_graph();
  graph.set_doc_string("graph");
  add_value(*graph.add_value_info(), "a");
  graph.mutable_value_info(0)->set_doc_string("inner");
  auto& shape = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(0)->set_dim_param("batch");
  shape.mutable_dim(0)->set_denotation("DATA_BATCH");
  graph.mutable_input(0)->mutable_type()->set_denotation("IMAGE");
  graph.mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->Clear();
  auto& annotation = *graph.add_quantization_annotation();
  annotation.set_tensor_name("w");
  auto& scale = *annotation.add_quant_parameter_tensor_names();
  scale.set_key("SCALE_TENSOR");
  scale.set_value("s");
  auto& sparse = *graph.add_sparse_initializer();
  *sparse.mutable_values() = graph.initializer(0);
  sparse.mutable_values()->set_name("sparse");
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(2);
  sparse.mutable_indices()->set_raw_data(std::string("\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16));
  sparse.add_dims(9);
  auto& node = *graph.mutable_node(0);
  node.set_domain("local");
  node.set_op_type("f");
  node.set_overload("wide");
  node.set_doc_string("node");
  auto& trace = *node.add_metadata_props();
  trace.set_key("stack_trace");
  trace.set_value("line 1\nline 2");
  node.add_device_configurations()->set_configuration_id("two devices");
  auto& attribute = *node.add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPHS);
  attribute.set_doc_string("graphs");
  attribute.add_graphs()->set_name("inner");
  auto& function = *model.add_functions();
  function.set_name("f");
  function.set_domain("local");
  function.set_overload("wide");
  function.add_input("a");
  function.add_input("b");
  function.add_output("c");
  function.add_attribute("alpha");
  auto& fallback = *function.add_attribute_proto();
  fallback.set_name("beta");
  fallback.set_type(onnx::AttributeProto::FLOAT);
  fallback.set_f(0.1F);
  auto& inner = *function.add_node();
  inner.set_op_type("Elu");
  inner.add_input("a");
  inner.add_output("c");
  auto& reference = *inner.add_attribute();
  reference.set_name("alpha");
  reference.set_type(onnx::AttributeProto::FLOAT);
  reference.set_ref_attr_name("alpha");
  auto& opset = *function.add_opset_import();
  opset.set_domain("");
  opset.set_version(17);
  function.set_doc_string("function");
  add_value(*function.add_value_info(), "c");
  return model;
}

TEST(Export, WritesAllThatWasRead) {
  const auto proto = rich_model();
  const auto model = parse(proto);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto bytes = to_onnx(*model);
  ASSERT_TRUE(bytes.has_value());
  onnx::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(*bytes));
  EXPECT_EQ(written.SerializeAsString(), proto.SerializeAsString());
}

TEST(Export, ConvertsTypedElementsToRawOnes) {
  auto proto = small_model();
  auto& weight = *proto.mutable_graph()->mutable_initializer(0);
  weight.clear_raw_data();
  weight.add_float_data(1);
  weight.add_float_data(2);
  const auto model = parse(proto);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(to_onnx(*model).value(), small_model().SerializeAsString());
}

TEST(Export, OfTheOldestFilesImportsNoOperatorSets) {
  auto proto = small_model();
  proto.set_ir_version(2);
  proto.clear_opset_import();
  const auto model = parse(proto);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(to_onnx(*model).value(), proto.SerializeAsString());
}

TEST(Export, NamesAGraphThatHasNoName) {
  auto proto = small_model();
  proto.mutable_graph()->clear_name();
  onnx::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(to_onnx(parse(proto).value()).value()));
  EXPECT_FALSE(written.graph().name().empty());
}

TEST(Export, PutsLargeWeightsBesideTheModel) {
  const TemporaryFolder folder;
  auto proto = small_model();
  auto& large = *proto.mutable_graph()->add_initializer();
  large.set_name("large");
  large.set_data_type(onnx::TensorProto::FLOAT);
  large.add_dims(500);
  large.set_raw_data(std::string(2000, '\1'));
  const auto model = parse(proto);
  ASSERT_TRUE(model.has_value());
  ExportOptions options;
  options.largest_inside = 100;
  ASSERT_TRUE(write_onnx(*model, folder / "m.onnx", options).has_value());
  EXPECT_EQ(std::filesystem::file_size(folder / "m.onnx.data"), 2000U);
  EXPECT_LT(std::filesystem::file_size(folder / "m.onnx"), 1000U);
  auto again = read_onnx(folder / "m.onnx");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(identical(again->graph.initializers[1].tensor, model->graph.initializers[1].tensor));
  // The tensor lives in the very file that is written now.
  ASSERT_TRUE(write_onnx(*again, folder / "m.onnx", options).has_value());
  EXPECT_TRUE(identical(again->graph.initializers[1].tensor, model->graph.initializers[1].tensor));
  EXPECT_EQ(to_onnx(read_onnx(folder / "m.onnx").value()).value(), to_onnx(*model).value());
}

TEST(Export, SaysWhereItCannotWrite) {
  const auto model = parse(small_model());
  const auto failed = write_onnx(*model, "/nonexistent/folder/m.onnx");
  ASSERT_FALSE(failed.has_value());
  EXPECT_TRUE(has(failed.error().message, "/nonexistent/folder/m.onnx: cannot be written"));
}

}  // namespace
}  // namespace assay
