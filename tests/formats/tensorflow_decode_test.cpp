// The wire form of TensorFlow graphs, with all that protobuf allows and refuses in it.
#include "formats/tensorflow_decode.h"

#include <limits>

#include <gtest/gtest.h>

#include "formats/tensorflow_read.h"
#include "formats/wire.h"
#include "generated/tensorflow.pb.h"

namespace assay {
namespace {

namespace wire = tensorflow_wire;

std::string field(std::uint32_t number, const std::string& bytes) {
  std::string message;
  put_bytes(message, number, bytes);
  return message;
}

std::string integer(std::uint32_t number, std::int64_t value) {
  std::string message;
  put_integer(message, number, value);
  return message;
}

std::string real(std::uint32_t number, float value) {
  std::string message;
  put_varint(message, std::uint64_t{number} << 3 | 5);
  return message.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string packed(std::uint32_t number, const std::vector<std::int64_t>& values) {
  std::string list;
  for (const std::int64_t value : values) put_varint(list, static_cast<std::uint64_t>(value));
  return field(number, list);
}

// A graph of one node with one attribute, the fields of whose value these are.
std::string graph_with(const std::string& value) {
  return field(1, field(1, "x") + field(2, "Op") + field(5, field(1, "a") + field(2, value)));
}

Result<tensorflow::GraphDef> parse(const std::string& bytes) {
  return parse_tensorflow(bytes, TensorflowForm::binary, "g");
}

AttributeValue value_of(const std::string& value) {
  const auto graph = parse(graph_with(value));
  if (!graph) throw std::runtime_error(graph.error().message);
  return graph->nodes.at(0).attributes.list().at(0).value;
}

std::string error_of(const std::string& bytes) {
  const auto graph = parse(bytes);
  return graph ? "" : graph.error().kind + ": " + graph.error().message;
}

std::string tensor(wire::DataType type, std::int64_t count, const std::string& elements) {
  return field(8, integer(1, type) + field(2, field(2, integer(1, count))) + elements);
}

using Integers = std::vector<std::int64_t>;

TEST(TensorflowDecode, ReadsEachKindOfValue) {
  EXPECT_EQ(std::get<std::string>(value_of(field(2, "text"))), "text");
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(3, -5))), -5);
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(3, std::numeric_limits<std::int64_t>::min()))),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(std::get<double>(value_of(real(4, 0.5F))), 0.5);
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(5, 2))), 1);
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(6, wire::DT_FLOAT_REF))), 1);
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(6, -1))), 0);
  EXPECT_EQ(to_text(std::get<ValueType>(
                value_of(field(7, field(2, integer(1, -1)) + field(2, integer(1, 8)))))),
            "undefined[?,8]");
  EXPECT_FALSE(std::get<ValueType>(value_of(field(7, integer(3, 1)))).dims.has_value());
  EXPECT_EQ(std::get<AttributeReference>(value_of(field(9, "T"))).name, "T");
  EXPECT_EQ(std::get<std::string>(value_of(field(10, field(1, "f")))), "f");
  EXPECT_EQ(std::get<Integers>(value_of("")), Integers());
}

TEST(TensorflowDecode, ReadsListsPackedAndNot) {
  const std::string both = packed(3, {1, -2}) + integer(3, 300);
  EXPECT_EQ(std::get<Integers>(value_of(field(1, both))), (Integers{1, -2, 300}));
  EXPECT_EQ(std::get<Integers>(value_of(field(1, integer(5, 1) + packed(5, {0, 7})))),
            (Integers{1, 0, 1}));
  EXPECT_EQ(std::get<Integers>(value_of(field(1, packed(6, {wire::DT_INT64, 1})))),
            (Integers{static_cast<std::int64_t>(ElementType::i64), 1}));
  const std::string halves = field(4, std::string("\0\0\0\x3f\0\0\0\xbf", 8)) + real(4, 4);
  EXPECT_EQ(std::get<std::vector<double>>(value_of(field(1, halves))),
            (std::vector<double>{0.5, -0.5, 4}));
  EXPECT_EQ(std::get<std::vector<std::string>>(value_of(field(1, field(2, "a") + field(2, "")))),
            (std::vector<std::string>{"a", ""}));
  const std::string functions = field(9, field(1, "f")) + field(9, "");
  EXPECT_EQ(std::get<std::vector<std::string>>(value_of(field(1, functions))),
            (std::vector<std::string>{"f", ""}));
}

TEST(TensorflowDecode, ReadsTensorsOfEachList) {
  const auto numbers = [](const std::string& bytes) {
    return std::get<Tensor>(value_of(bytes)).reals();
  };
  using Reals = std::vector<double>;
  EXPECT_EQ(numbers(tensor(wire::DT_FLOAT, 3, real(5, 1) + real(5, 2))), (Reals{1, 2, 2}));
  EXPECT_EQ(numbers(tensor(wire::DT_INT32, 3, packed(7, {-1}) + integer(7, 5))), (Reals{-1, 5, 5}));
  EXPECT_EQ(numbers(tensor(wire::DT_INT8, 2, packed(7, {300, -1}))), (Reals{44, -1}));
  EXPECT_EQ(numbers(tensor(wire::DT_INT64, 1, integer(10, -7))), (Reals{-7}));
  EXPECT_EQ(numbers(tensor(wire::DT_UINT32, 1, integer(16, 4000000000))), (Reals{4e9}));
  EXPECT_EQ(numbers(tensor(wire::DT_BOOL, 2, packed(11, {0, 256}))), (Reals{0, 1}));
  EXPECT_EQ(numbers(tensor(wire::DT_HALF, 1, integer(13, 0x3c00))), (Reals{1}));
  EXPECT_EQ(numbers(tensor(wire::DT_INT16, 2, field(4, std::string("\1\0\2\0", 4)))),
            (Reals{1, 2}));
  EXPECT_EQ(numbers(tensor(wire::DT_INT32, 2, integer(10, 9))), (Reals{0, 0}));  // another's list
  EXPECT_FALSE(std::get<Tensor>(value_of(tensor(wire::DT_RESOURCE, 1, ""))).defined());
  const Tensor texts = std::get<Tensor>(value_of(tensor(wire::DT_STRING, 2, field(8, "a"))));
  EXPECT_EQ(texts.data<std::string>()[1], "a");
}

TEST(TensorflowDecode, PutsTogetherWhatComesTwice) {
  // The last scalar counts; a message goes on where it was, until another of the oneof comes.
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(3, 1) + integer(3, 2))), 2);
  EXPECT_EQ(std::get<std::int64_t>(value_of(field(2, "s") + integer(3, 2))), 2);
  const std::string one = field(7, field(2, integer(1, 1)));
  const auto extents = [](const std::string& value) {
    return to_text(std::get<ValueType>(value_of(value)));
  };
  EXPECT_EQ(extents(one + one), "undefined[1,1]");
  EXPECT_EQ(extents(one + integer(3, 1) + one), "undefined[1]");
  const std::string value = integer(1, wire::DT_INT32);
  const std::string shape = field(2, field(2, integer(1, 2)));
  EXPECT_EQ(std::get<Tensor>(value_of(field(8, value + shape) + field(8, integer(7, 3)))).reals(),
            (std::vector<double>{3, 3}));
  const std::string entry = field(1, "b") + field(1, "a") + field(2, one) + field(2, one);
  const auto graph = parse(field(1, field(1, "y") + field(1, "x") + field(5, entry)));
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(graph->nodes[0].name, "x");
  EXPECT_EQ(graph->nodes[0].attributes.list()[0].name, "a");
  EXPECT_EQ(to_text(std::get<ValueType>(graph->nodes[0].attributes.list()[0].value)),
            "undefined[1,1]");
}

TEST(TensorflowDecode, KeepsListsOfAttributesApart) {
  const auto entry = [](const std::string& key) { return field(5, field(1, key)); };
  const auto node = [](const std::string& rest) { return field(1, field(1, "x") + rest); };
  const auto keys = [&](const std::string& bytes) {
    std::vector<std::vector<std::string>> all;
    const tensorflow::GraphDef graph = decode_graph_def(bytes);
    for (const tensorflow::NodeDef& one : graph.nodes) {
      all.emplace_back();
      for (const Attribute& attribute : one.attributes) all.back().push_back(attribute.name);
    }
    return all;
  };
  using Keys = std::vector<std::vector<std::string>>;
  const std::string both = entry("a") + entry("b");
  EXPECT_EQ(keys(node(both) + node(both) + node(entry("a")) + node("")),
            (Keys{{"a", "b"}, {"a", "b"}, {"a"}, {}}));
  // Something between them; and one entry with the bytes of two.
  const std::string between = entry("a") + field(3, "y") + entry("b");
  EXPECT_EQ(keys(node(between) + node(entry("a")) + node(between)),
            (Keys{{"a", "b"}, {"a"}, {"a", "b"}}));
  EXPECT_EQ(keys(node(both) + node(field(5, both))), (Keys{{"a", "b"}, {""}}));
}

TEST(TensorflowDecode, PassesOverWhatItDoesNotKnow) {
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(3, 1) + field(77, "new") + real(78, 1))), 1);
  // A field of another wire type than its own is none that is known.
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(3, 1) + field(3, "xyz"))), 1);
  EXPECT_EQ(std::get<std::int64_t>(value_of(integer(3, 1) + integer(2, 5) + integer(4, 1))), 1);
  const auto graph = parse(field(1, field(1, "x") + integer(1, 3) + integer(3, 3) + integer(5, 1)));
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(graph->nodes[0].name, "x");
  EXPECT_TRUE(graph->nodes[0].inputs.empty() && graph->nodes[0].attributes.list().empty());
}

TEST(TensorflowDecode, RefusesWhatIsMalformed) {
  EXPECT_NE(error_of(graph_with("\x1b\x1c")).find("unknown wire type 3"), std::string::npos);
  EXPECT_NE(error_of(graph_with(std::string("\x00\x01", 2))).find("no valid number"),
            std::string::npos);
  EXPECT_NE(error_of(graph_with("\x18" + std::string(11, '\xff'))).find("does not end"),
            std::string::npos);
  for (const std::string& list : {field(3, "\x80"), field(4, "abc"), field(5, "\x01\xff")}) {
    EXPECT_EQ(error_of(graph_with(field(1, list))),
              "unreadable: g: not a whole TensorFlow graph: a field in it is malformed");
  }
  EXPECT_EQ(error_of(field(1, field(1, "\xff"))), "invalid: g: the node name '\\xff' is not UTF-8");
  EXPECT_EQ(error_of(graph_with(tensor(wire::DT_INT32, 1, packed(7, {1, 2})))),
            "invalid: g: node 'x', attribute 'a': a tensor of shape [1] has 2 values");
  // That the file is cut matters more.
  EXPECT_NE(error_of(field(1, field(1, "\xff")) + "\x0a").find("unreadable"), std::string::npos);
}

TEST(TensorflowDecode, BoundsNesting) {
  std::string function = field(1, "f");
  for (int i = 0; i < 30; ++i) function = field(2, field(2, field(10, function)));
  EXPECT_EQ(error_of(graph_with(field(10, function))), "");
  for (int i = 0; i < 10; ++i) function = field(2, field(2, field(10, function)));
  EXPECT_NE(error_of(graph_with(field(10, function))).find("limit: g: its messages are nested"),
            std::string::npos);
}

std::string with_all() {
  wire::GraphDef graph;
  graph.ParseFromString(graph_with(tensor(wire::DT_FLOAT, 2, real(5, 1))));
  graph.add_node()->add_input("x:1");
  auto* function = graph.mutable_library()->add_function();
  function->mutable_signature()->set_name("f");
  function->mutable_signature()->add_input_arg()->set_name("in");
  function->mutable_signature()->add_output_arg()->set_name("out");
  function->mutable_signature()->add_output_arg()->set_name("none");
  function->add_node_def()->set_name("n");
  function->add_ret()->set_key("out");
  function->mutable_ret(0)->set_value("n:y:0");
  graph.mutable_versions()->set_producer(27);
  return graph.SerializeAsString();
}

TEST(TensorflowDecode, ReadsFunctions) {
  const auto graph = parse(with_all());
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const tensorflow::FunctionDef& function = graph->functions.at(0);
  EXPECT_EQ(function.name, "f");
  EXPECT_EQ(function.inputs, std::vector<std::string>{"in"});
  EXPECT_EQ(function.outputs, (std::vector<std::string>{"out", "none"}));
  EXPECT_EQ(function.returns, (std::vector<std::string>{"n:y:0", ""}));
  EXPECT_EQ(function.nodes.at(0).name, "n");
}

// Wherever it is cut, and whichever byte is another: a graph, or one line that says why not.
TEST(TensorflowDecode, SurvivesDamage) {
  const std::string whole = with_all();
  const auto check = [](const std::string& bytes) {
    std::string error = error_of(bytes);
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    return error;
  };
  // What is left after a cut between two fields of the graph is a graph.
  for (std::size_t size = 0; size < whole.size(); ++size) {
    wire::GraphDef left;
    const std::string cut = whole.substr(0, size);
    EXPECT_EQ(check(cut).empty(), left.ParseFromString(cut) && left.node_size() > 0) << size;
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {1, 2, 4, 7, 8, 16, 64, 128, 255}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ change);
      wire::GraphDef proto;
      const std::string error = check(damaged);
      // What protobuf refuses is refused; what it takes may still contradict itself.
      if (!proto.ParseFromString(damaged)) {
        EXPECT_NE(error, "") << i << " " << change;
      } else if (!error.empty()) {
        EXPECT_TRUE(error.starts_with("invalid") || error.ends_with("no nodes") ||
                    error.find("unknown wire type") != std::string::npos)
            << error;
      }
    }
  }
}

TEST(TensorflowDecode, FindsTheServingGraphOfASavedModel) {
  wire::SavedModel model;
  model.add_meta_graphs()->mutable_meta_info_def()->add_tags("train");
  std::string bytes = model.SerializeAsString();
  // Both parts of a meta graph in pieces.
  bytes += field(2, field(2, field(1, field(1, "x"))) + field(1, field(4, "serve")) +
                        field(1, field(5, "2.1")) + field(2, field(1, field(1, "y"))));
  const tensorflow::GraphDef graph = decode_saved_model(bytes);
  EXPECT_EQ(graph.producer_version, "2.1");
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[1].name, "y");
}

}  // namespace
}  // namespace assay
