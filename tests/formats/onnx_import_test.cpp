// Reading models: what is kept, and what is refused and how.
#include "formats/onnx_import.h"

#include <random>

#include "formats/wire.h"
#include "support.h"

namespace assay {
namespace {

onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const std::string& name,
                                    onnx::AttributeProto::AttributeType type) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

TEST(Import, KeepsNodesValuesAndWeights) {
  const auto model = parse(small_model());
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->opsets.at(""), 17);
  ASSERT_EQ(model->graph.nodes.size(), 1U);
  EXPECT_EQ(model->graph.nodes[0].inputs, std::vector<std::string>({"x", "w"}));
  EXPECT_EQ(to_text(model->graph.inputs[0].type), "f32[2]");
  ASSERT_EQ(model->graph.initializers.size(), 1U);
  EXPECT_EQ(model->graph.initializers[0].tensor.reals(), std::vector<double>({1, 2}));
}

TEST(Import, KeepsEveryKindOfAttribute) {
  auto proto = small_model();
  auto& node = *proto.mutable_graph()->mutable_node(0);
  using A = onnx::AttributeProto;
  add_attribute(node, "f", A::FLOAT).set_f(0.5F);
  add_attribute(node, "i", A::INT).set_i(-3);
  add_attribute(node, "s", A::STRING).set_s("text");
  add_attribute(node, "fs", A::FLOATS).add_floats(1.5F);
  add_attribute(node, "is", A::INTS).add_ints(7);
  add_attribute(node, "none", A::FLOATS);
  add_attribute(node, "zero", A::INT);
  *add_attribute(node, "t", A::TENSOR).mutable_t() = proto.graph().initializer(0);
  add_attribute(node, "tp", A::TYPE_PROTO).mutable_tp()->mutable_sequence_type();
  add_attribute(node, "r", A::INT).set_ref_attr_name("outer");
  const auto model = parse(proto);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Node& read = model->graph.nodes[0];
  EXPECT_EQ(std::get<double>(*read.find("f")), 0.5);
  EXPECT_EQ(std::get<std::int64_t>(*read.find("i")), -3);
  EXPECT_EQ(std::get<std::string>(*read.find("s")), "text");
  EXPECT_EQ(std::get<std::vector<double>>(*read.find("fs")), std::vector<double>({1.5}));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(*read.find("is")), std::vector<std::int64_t>({7}));
  EXPECT_TRUE(std::get<std::vector<double>>(*read.find("none")).empty());
  EXPECT_EQ(std::get<std::int64_t>(*read.find("zero")), 0);
  EXPECT_EQ(std::get<Tensor>(*read.find("t")).real(1), 2);
  EXPECT_EQ(std::get<ValueType>(*read.find("tp")).kind, ValueType::Kind::sequence);
  EXPECT_EQ(std::get<AttributeReference>(*read.find("r")).name, "outer");
}

TEST(Import, GuessesTheAttributeTypesOfTheOldestFiles) {
  auto proto = small_model();
  proto.set_ir_version(1);
  proto.clear_opset_import();
  auto& node = *proto.mutable_graph()->mutable_node(0);
  auto& attribute = *node.add_attribute();
  attribute.set_name("shape");
  attribute.add_ints(2);
  auto& text = *node.add_attribute();
  text.set_name("mode");
  text.set_s("same");
  const auto model = parse(proto);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(*model->graph.nodes[0].find("shape"))[0], 2);
  EXPECT_EQ(std::get<std::string>(*model->graph.nodes[0].find("mode")), "same");
  EXPECT_EQ(model->opsets.at(""), 1);
}

TEST(Import, ReadsTheStandardsOtherNameAsItsOwn) {
  auto proto = small_model();
  proto.mutable_opset_import(0)->set_domain("ai.onnx");
  proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  const auto model = parse(proto);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->opsets.at(""), 17);
  EXPECT_EQ(model->graph.nodes[0].domain, "");
}

TEST(Import, RefusesEveryCutOfAModel) {
  const std::string bytes = small_model().SerializeAsString();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto model = parse_onnx(std::string_view(bytes).substr(0, size), "cut.onnx");
    EXPECT_TRUE(has(error_of(model), "unreadable")) << size;
  }
}

TEST(Import, RefusesNoise) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string noise(1 + random() % 300, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    EXPECT_TRUE(has(error_of(parse_onnx(noise, "noise.onnx")), "unreadable"));
  }
}

TEST(Import, RefusesJunkBeforeAndAfterAModel) {
  const std::string bytes = small_model().SerializeAsString();
  EXPECT_TRUE(has(error_of(parse_onnx(std::string(8, '\xff') + bytes, "a.onnx")), "unreadable"));
  EXPECT_TRUE(has(error_of(parse_onnx(bytes + "\xff", "a.onnx")), "unreadable"));
  std::string unknown = bytes;
  put_bytes(unknown, 99, "what is this");
  EXPECT_TRUE(has(error_of(parse_onnx(unknown, "a.onnx")), "there is no field 99"));
  EXPECT_TRUE(has(error_of(parse_onnx("{\"graph\": 1}", "a.onnx")), "not a whole ONNX model"));
}

TEST(Import, RefusesModelsThatLackTheEssentials) {
  auto proto = small_model();
  proto.clear_graph();
  EXPECT_TRUE(has(error_of(parse(proto)),
                  "unreadable: model.onnx: not a whole ONNX model: it has no"
                  " graph"));
  proto = small_model();
  proto.clear_opset_import();
  EXPECT_TRUE(has(error_of(parse(proto)), "imports no operator set"));
  proto = small_model();
  proto.clear_ir_version();
  EXPECT_TRUE(has(error_of(parse(proto)), "no IR version"));
  proto.set_ir_version(15);
  EXPECT_TRUE(has(error_of(parse(proto)), "IR version 15 is newer than 14"));
  proto = small_model();
  proto.mutable_opset_import(0)->set_version(0);
  EXPECT_TRUE(has(error_of(parse(proto)), "invalid"));
}

TEST(Import, SaysWhichNodeAndAttributeIsWrong) {
  auto proto = small_model();
  auto& node = *proto.mutable_graph()->mutable_node(0);
  auto& tensor = *add_attribute(node, "value", onnx::AttributeProto::TENSOR).mutable_t();
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(3);
  tensor.set_raw_data("12345678");
  EXPECT_TRUE(has(error_of(parse(proto)),
                  "invalid: model.onnx: node 'sum', attribute 'value': tensor '' i64[3]: the shape "
                  "needs 24 bytes, there are 8"));
  node.clear_attribute();
  add_attribute(node, "value", onnx::AttributeProto::TENSOR);
  EXPECT_TRUE(has(error_of(parse(proto)), "node 'sum': attribute 'value' has no value"));
  node.clear_attribute();
  auto& both = add_attribute(node, "both", onnx::AttributeProto::INT);
  both.set_i(1);
  both.set_f(1);
  EXPECT_TRUE(has(error_of(parse(proto)), "attribute 'both' has more than one value"));
  node.clear_attribute();
  add_attribute(node, "wrong", onnx::AttributeProto::INT).set_f(1);
  EXPECT_TRUE(has(error_of(parse(proto)), "attribute 'wrong' has no value of the type"));
}

TEST(Import, RefusesNamesThatAreNoText) {
  auto proto = small_model();
  proto.mutable_graph()->mutable_node(0)->set_name("bad\xff\nname");
  EXPECT_TRUE(has(error_of(parse(proto)), "is not UTF-8"));
  proto = small_model();
  proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(77);
  proto.mutable_graph()->mutable_input(0)->set_name("x\ny");
  EXPECT_TRUE(has(error_of(parse(proto)), "value 'x\\x0ay': there is no element type 77"));
}

TEST(Import, RepairsDescriptionsThatAreNoText) {
  auto proto = small_model();
  proto.set_doc_string("caf\xe9");
  const auto model = parse(proto);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->doc, "caf\uFFFD");
}

// A model whose only node has a subgraph, whose only node has one, and so on; made from the inside
// out, back to front, because it is too deep for recursion.
std::string nested_model(int depth) {
  std::string reversed;
  const auto wrap = [&](std::uint32_t number) {
    std::string head;
    put_varint(head, std::uint64_t{number} << 3 | 2);
    put_varint(head, reversed.size());
    reversed.append(head.rbegin(), head.rend());
  };
  for (int i = 0; i < depth; ++i) {
    wrap(6);  // AttributeProto.g
    std::string head;
    put_bytes(head, 1, "b");
    put_integer(head, 20, 5);
    reversed.append(head.rbegin(), head.rend());
    wrap(5);  // NodeProto.attribute
    wrap(1);  // GraphProto.node
  }
  wrap(7);  // ModelProto.graph
  std::string tail;
  put_integer(tail, 1, 8);
  std::string opset;
  put_integer(opset, 2, 17);
  put_bytes(tail, 8, opset);
  return tail + std::string(reversed.rbegin(), reversed.rend());
}

TEST(Import, ReadsHundredsOfNestedSubgraphs) {
  const auto model = parse_onnx(nested_model(400), "deep.onnx");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  int depth = 0;
  for (const Graph* graph = &model->graph; !graph->nodes.empty(); ++depth) {
    graph = std::get<std::shared_ptr<const Graph>>(*graph->nodes[0].find("b")).get();
  }
  EXPECT_EQ(depth, 400);
}

TEST(Import, RefusesAHundredThousandNestedSubgraphs) {
  EXPECT_TRUE(parse_onnx(nested_model(kMaxNesting), "deep.onnx").has_value());
  for (const int depth : {kMaxNesting + 1, 100000}) {
    EXPECT_TRUE(has(error_of(parse_onnx(nested_model(depth), "deep.onnx")),
                    "limit: deep.onnx: subgraphs are nested deeper than 500"));
  }
}

TEST(Import, RefusesTypesNestedWithoutEnd) {
  auto proto = small_model();
  auto* type = proto.mutable_graph()->mutable_input(0)->mutable_type();
  for (int i = 0; i < 200; ++i) type = type->mutable_sequence_type()->mutable_elem_type();
  EXPECT_TRUE(has(error_of(parse(proto)), "types are nested deeper"));
}

TEST(Import, RefusesWhatTakesMoreMemoryThanAllowed) {
  auto proto = small_model();
  for (int i = 0; i < 5000; ++i) proto.mutable_graph()->add_node();
  ImportOptions options;
  options.max_bytes = 1 << 20;  // the file itself has only 10 KiB
  EXPECT_TRUE(has(error_of(parse(proto, options)), "limit: model.onnx: the model takes more than"));
  EXPECT_TRUE(parse(proto).has_value());
}

TEST(Import, NamesTheFileThatIsNotThere) {
  const TemporaryFolder folder;
  const auto missing = read_onnx(folder / "absent.onnx");
  EXPECT_TRUE(has(error_of(missing), "missing: "));
  EXPECT_TRUE(has(error_of(missing), "absent.onnx"));
  EXPECT_TRUE(has(error_of(read_onnx(folder.write("empty.onnx", ""))), "the file is empty"));
  std::filesystem::create_directory(folder / "folder.onnx");
  EXPECT_TRUE(has(error_of(read_onnx(folder / "folder.onnx")), "not a regular file"));
}

TEST(Import, ReadsFilesAsItReadsBytes) {
  const TemporaryFolder folder;
  const auto path = folder.write("model.onnx", small_model().SerializeAsString());
  const auto model = read_onnx(path);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->graph.initializers[0].tensor.reals(), std::vector<double>({1, 2}));
}

}  // namespace
}  // namespace assay
