#include "formats/onnx_scan.h"

#include <array>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>

#include "formats/wire.h"

namespace assay {
namespace {

enum class Message : std::uint8_t {
  model,
  graph,
  node,
  attribute,
  tensor,
  sparse_tensor,
  value_info,
  type,
  tensor_type,
  shape,
  dimension,
  sequence_type,
  map_type,
  opaque_type,
  opset,
  entry,
  annotation,
  segment,
  function,
  training,
  device_configuration,
  node_device,
  count
};

enum class Content : std::uint8_t { integers, floats, doubles, text, message, ignored };

struct FieldRule {
  std::uint32_t number;
  Content content;
  Message inner = Message::count;
};

struct MessageRule {
  const char* name;
  std::vector<FieldRule> fields;
};

// What the standard's .proto says, with the field numbers that old versions used and it reserves.
const MessageRule& rule_of(Message message) {
  using M = Message;
  using C = Content;
  static const std::array<MessageRule, static_cast<std::size_t>(M::count)> kRules = {{
      {"ModelProto",
       {{1, C::integers},
        {2, C::text},
        {3, C::text},
        {4, C::text},
        {5, C::integers},
        {6, C::text},
        {7, C::message, M::graph},
        {8, C::message, M::opset},
        {14, C::message, M::entry},
        {20, C::message, M::training},
        {25, C::message, M::function},
        {26, C::message, M::device_configuration}}},
      {"GraphProto",
       {{1, C::message, M::node},
        {2, C::text},
        {3, C::ignored},
        {4, C::ignored},
        {5, C::message, M::tensor},
        {6, C::ignored},
        {7, C::ignored},
        {8, C::ignored},
        {9, C::ignored},
        {10, C::text},
        {11, C::message, M::value_info},
        {12, C::message, M::value_info},
        {13, C::message, M::value_info},
        {14, C::message, M::annotation},
        {15, C::message, M::sparse_tensor},
        {16, C::message, M::entry}}},
      {"NodeProto",
       {{1, C::text},
        {2, C::text},
        {3, C::text},
        {4, C::text},
        {5, C::message, M::attribute},
        {6, C::text},
        {7, C::text},
        {8, C::text},
        {9, C::message, M::entry},
        {10, C::message, M::node_device}}},
      {"AttributeProto",
       {{1, C::text},
        {2, C::floats},
        {3, C::integers},
        {4, C::text},
        {5, C::message, M::tensor},
        {6, C::message, M::graph},
        {7, C::floats},
        {8, C::integers},
        {9, C::text},
        {10, C::message, M::tensor},
        {11, C::message, M::graph},
        {12, C::ignored},
        {13, C::text},
        {14, C::message, M::type},
        {15, C::message, M::type},
        {16, C::ignored},
        {17, C::ignored},
        {18, C::ignored},
        {19, C::ignored},
        {20, C::integers},
        {21, C::text},
        {22, C::message, M::sparse_tensor},
        {23, C::message, M::sparse_tensor}}},
      {"TensorProto",
       {{1, C::integers},
        {2, C::integers},
        {3, C::message, M::segment},
        {4, C::floats},
        {5, C::integers},
        {6, C::text},
        {7, C::integers},
        {8, C::text},
        {9, C::text},
        {10, C::doubles},
        {11, C::integers},
        {12, C::text},
        {13, C::message, M::entry},
        {14, C::integers},
        {16, C::message, M::entry}}},
      {"SparseTensorProto",
       {{1, C::message, M::tensor}, {2, C::message, M::tensor}, {3, C::integers}}},
      {"ValueInfoProto",
       {{1, C::text}, {2, C::message, M::type}, {3, C::text}, {4, C::message, M::entry}}},
      {"TypeProto",
       {{1, C::message, M::tensor_type},
        {4, C::message, M::sequence_type},
        {5, C::message, M::map_type},
        {6, C::text},
        {7, C::message, M::opaque_type},
        {8, C::message, M::tensor_type},
        {9, C::message, M::sequence_type}}},
      {"TypeProto.Tensor", {{1, C::integers}, {2, C::message, M::shape}}},
      {"TensorShapeProto", {{1, C::message, M::dimension}}},
      {"TensorShapeProto.Dimension", {{1, C::integers}, {2, C::text}, {3, C::text}}},
      {"TypeProto.Sequence", {{1, C::message, M::type}}},
      {"TypeProto.Map", {{1, C::integers}, {2, C::message, M::type}}},
      {"TypeProto.Opaque", {{1, C::text}, {2, C::text}, {3, C::ignored}}},
      {"OperatorSetIdProto", {{1, C::text}, {2, C::integers}}},
      {"StringStringEntryProto", {{1, C::text}, {2, C::text}}},
      {"TensorAnnotation", {{1, C::text}, {2, C::message, M::entry}}},
      {"TensorProto.Segment", {{1, C::integers}, {2, C::integers}}},
      {"FunctionProto",
       {{1, C::text},
        {2, C::ignored},
        {3, C::ignored},
        {4, C::text},
        {5, C::text},
        {6, C::text},
        {7, C::message, M::node},
        {8, C::text},
        {9, C::message, M::opset},
        {10, C::text},
        {11, C::message, M::attribute},
        {12, C::message, M::value_info},
        {13, C::text},
        {14, C::message, M::entry}}},
      {"TrainingInfoProto",
       {{1, C::message, M::graph},
        {2, C::message, M::graph},
        {3, C::message, M::entry},
        {4, C::message, M::entry}}},
      {"DeviceConfigurationProto", {{1, C::text}, {2, C::integers}, {3, C::text}}},
      {"NodeDeviceConfigurationProto", {{1, C::text}, {2, C::ignored}, {3, C::integers}}},
  }};
  return kRules[static_cast<std::size_t>(message)];
}

const FieldRule* find_rule(Message message, std::uint32_t number) {
  for (const FieldRule& rule : rule_of(message).fields) {
    if (rule.number == number) return &rule;
  }
  return nullptr;
}

bool fits(Content content, WireType type) {
  switch (content) {
    case Content::integers:
      return type == WireType::varint || type == WireType::bytes;
    case Content::floats:
      return type == WireType::fixed32 || type == WireType::bytes;
    case Content::doubles:
      return type == WireType::fixed64 || type == WireType::bytes;
    case Content::text:
    case Content::message:
      return type == WireType::bytes;
    case Content::ignored:
      break;
  }
  return true;
}

// About what a field takes, as a decoded message and as part of the model together.
std::size_t cost_of(const FieldRule& rule, const WireField& field) {
  constexpr std::size_t kMessage = 512, kText = 96, kNumber = 16;
  switch (rule.content) {
    case Content::message:
      return kMessage;
    case Content::text:
      return kText + field.bytes.size();
    case Content::integers:
      return kNumber * (1 + field.bytes.size());
    case Content::floats:
    case Content::doubles:
      return kNumber + 2 * field.bytes.size();
    case Content::ignored:
      break;
  }
  return field.bytes.size();
}

struct Open {
  Message message;
  WireReader reader;
  const char* start;
};

class Scan {
 public:
  Scan(std::string_view bytes, const OnnxLimits& limits) : bytes_(bytes), limits_(limits) {}
  Result<std::size_t> run();

 private:
  std::optional<Error> enter(Message message, std::string_view bytes);
  std::optional<Error> visit(const WireField& field);
  Error unreadable(const std::string& reason) const;

  std::string_view bytes_;
  const OnnxLimits& limits_;
  std::vector<Open> open_;
  int graphs_ = 0, types_ = 0;  // open now
  std::size_t cost_ = 0;
};

Error Scan::unreadable(const std::string& reason) const {
  const Open& top = open_.back();
  const auto position = static_cast<std::size_t>(top.start - bytes_.data()) + top.reader.position();
  return {"unreadable",
          fmt::format("not a whole ONNX model: {} (byte {}, in {})", reason, position,
                      rule_of(top.message).name),
          ""};
}

std::optional<Error> Scan::enter(Message message, std::string_view bytes) {
  constexpr int kMostTypes = 64;
  if (message == Message::graph && graphs_ > limits_.max_nesting) {
    return Error{"limit", fmt::format("subgraphs are nested deeper than {}", limits_.max_nesting),
                 ""};
  }
  if (message == Message::type && types_ == kMostTypes) {
    return Error{"limit", fmt::format("types are nested deeper than {}", kMostTypes), ""};
  }
  graphs_ += message == Message::graph;
  types_ += message == Message::type;
  open_.push_back({message, WireReader(bytes), bytes.data()});
  return std::nullopt;
}

std::optional<Error> Scan::visit(const WireField& field) {
  const Message message = open_.back().message;
  const FieldRule* rule = find_rule(message, field.number);
  if (rule == nullptr) return unreadable(fmt::format("there is no field {}", field.number));
  if (!fits(rule->content, field.type)) {
    return unreadable(fmt::format("field {} has another type", field.number));
  }
  if (message == Message::model && field.number == 1 &&
      static_cast<std::int64_t>(field.integer) > kNewestIrVersion) {
    return Error{"unreadable",
                 fmt::format("IR version {} is newer than {}, the newest one known",
                             static_cast<std::int64_t>(field.integer), kNewestIrVersion),
                 ""};
  }
  cost_ += cost_of(*rule, field);
  if (cost_ > limits_.max_bytes) {
    return Error{"limit", fmt::format("the model takes more than {} bytes", limits_.max_bytes), ""};
  }
  if (rule->content == Content::message) return enter(rule->inner, field.bytes);
  return std::nullopt;
}

Result<std::size_t> Scan::run() {
  enter(Message::model, bytes_);
  while (!open_.empty()) {
    Open& top = open_.back();
    if (const auto field = top.reader.next()) {
      if (auto error = visit(*field)) return *error;
    } else if (!top.reader.failure().empty()) {
      return unreadable(top.reader.failure());
    } else {
      graphs_ -= top.message == Message::graph;
      types_ -= top.message == Message::type;
      open_.pop_back();
    }
  }
  return cost_;
}

}  // namespace

Result<std::size_t> scan_onnx(std::string_view bytes, const OnnxLimits& limits) {
  return Scan(bytes, limits).run();
}

}  // namespace assay
