#include "formats/tensorflow_decode.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "formats/failure.h"
#include "formats/tensorflow_scan.h"
#include "formats/tensorflow_value.h"
#include "formats/wire.h"
#include "generated/tensorflow.pb.h"
#include "graph/name_index.h"
#include "graph/names.h"

namespace assay {
namespace {

namespace wire = tensorflow_wire;

constexpr std::size_t kMostDecoded = std::size_t{8} << 30;

std::string text(std::string_view bytes, const char* what) {
  if (!is_utf8(bytes)) {
    throw FormatError("invalid", fmt::format("the {} {} is not UTF-8", what, in_quotes(bytes)));
  }
  return std::string(bytes);
}

// Fields of another wire type than theirs are passed over, like those that nobody knows. What takes
// the name of a singular message adds to it: it may come in pieces.
class Decoder {
 public:
  void graph(std::string_view bytes, tensorflow::GraphDef& graph) {
    using Proto = wire::GraphDef;
    graph.nodes.reserve(graph.nodes.size() + count_nodes(bytes));
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.type != WireType::bytes) return;
      if (field.number == Proto::kNodeFieldNumber) node(field.bytes, graph.nodes.emplace_back());
      if (field.number == Proto::kLibraryFieldNumber) library(field.bytes, graph.functions);
      if (field.number == Proto::kVersionsFieldNumber) pass_over<wire::VersionDef>(field.bytes);
    });
  }

 private:
  // Calls visit(field), or visit(field, where it ends).
  template <class Proto, class Visit>
  void read(std::string_view bytes, Visit&& visit) {
    static const int kFields = Proto::descriptor()->field_count();
    size_.message(kFields);
    WireReader reader(bytes);
    for (WireField field; reader.next(field);) {
      if (field.type != WireType::bytes) size_.number();
      if constexpr (std::is_invocable_v<Visit, const WireField&, std::size_t>)
        visit(field, reader.position());
      else
        visit(field);
    }
    require_whole(reader);
  }

  template <class Proto>
  void pass_over(std::string_view bytes) {
    scan_message(bytes, *Proto::descriptor(), size_);
  }

  std::string_view counted(std::string_view text) {
    size_.text(text);
    return text;
  }

  // Nobody reserves room for more nodes than may be decoded.
  std::size_t count_nodes(std::string_view bytes) const {
    std::size_t count = 0;
    DecodedSize size(kMostDecoded);
    WireReader reader(bytes);
    while (const auto field = reader.next()) {
      if (field->number != wire::GraphDef::kNodeFieldNumber) continue;
      size.message(wire::NodeDef::kAttrFieldNumber);
      ++count;
    }
    return count;
  }

  void numbers(const WireField& field, WireType type, WireNumbers& values) {
    if (field.type == type) {
      values.push_back(field.integer);
    } else if (field.type == WireType::bytes) {
      size_.packed(field.bytes);
      if (!unpack(field.bytes, type, values)) {
        throw FormatError("unreadable", "not a whole TensorFlow graph: a field in it is malformed");
      }
    }
  }

  void shape(std::string_view bytes, WireShape& shape) {
    using Proto = wire::TensorShapeProto;
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.number == Proto::kDimFieldNumber && field.type == WireType::bytes)
        shape.extents.push_back(extent(field.bytes));
      if (field.number == Proto::kUnknownRankFieldNumber && field.type == WireType::varint)
        shape.unknown_rank = field.integer != 0;
    });
  }

  std::int64_t extent(std::string_view bytes) {
    using Proto = wire::TensorShapeProto::Dim;
    std::int64_t extent = 0;
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.number == Proto::kSizeFieldNumber && field.type == WireType::varint)
        extent = static_cast<std::int64_t>(field.integer);
    });
    return extent;
  }

  void tensor(std::string_view bytes, WireTensor& tensor) {
    using Proto = wire::TensorProto;
    read<Proto>(bytes, [&](const WireField& field) {
      switch (field.number) {
        case Proto::kDtypeFieldNumber:
          if (field.type == WireType::varint) tensor.data_type = static_cast<int>(field.integer);
          break;
        case Proto::kTensorShapeFieldNumber:
          if (field.type == WireType::bytes) shape(field.bytes, tensor.shape);
          break;
        case Proto::kTensorContentFieldNumber:
          if (field.type == WireType::bytes) tensor.content = counted(field.bytes);
          break;
        case Proto::kStringValFieldNumber:
          if (field.type == WireType::bytes) tensor.texts.push_back(counted(field.bytes));
          break;
        case Proto::kFloatValFieldNumber:
        case Proto::kScomplexValFieldNumber:
          numbers(field, WireType::fixed32, tensor.list(field.number));
          break;
        case Proto::kDoubleValFieldNumber:
        case Proto::kDcomplexValFieldNumber:
          numbers(field, WireType::fixed64, tensor.list(field.number));
          break;
        case Proto::kIntValFieldNumber:
        case Proto::kInt64ValFieldNumber:
        case Proto::kBoolValFieldNumber:
        case Proto::kHalfValFieldNumber:
        case Proto::kUint32ValFieldNumber:
        case Proto::kUint64ValFieldNumber:
          numbers(field, WireType::varint, tensor.list(field.number));
          break;
        default:
          break;
      }
    });
  }

  void list(std::string_view bytes, WireList& list) {
    using Proto = wire::AttrValue::ListValue;
    read<Proto>(bytes, [&](const WireField& field) {
      switch (field.number) {
        case Proto::kIFieldNumber:
          return numbers(field, WireType::varint, list.integers);
        case Proto::kFFieldNumber:
          return numbers(field, WireType::fixed32, list.reals);
        case Proto::kBFieldNumber:
          return numbers(field, WireType::varint, list.truths);
        case Proto::kTypeFieldNumber:
          return numbers(field, WireType::varint, list.types);
        default:
          break;
      }
      if (field.type != WireType::bytes) return;
      if (field.number == Proto::kSFieldNumber) list.texts.push_back(counted(field.bytes));
      if (field.number == Proto::kShapeFieldNumber) shape(field.bytes, list.shapes.emplace_back());
      if (field.number == Proto::kTensorFieldNumber)
        tensor(field.bytes, list.tensors.emplace_back());
      if (field.number == Proto::kFuncFieldNumber)
        function_name(field.bytes, list.functions.emplace_back());
    });
  }

  void function_name(std::string_view bytes, std::string_view& name) {
    using Proto = wire::NameAttrList;
    pass_over<Proto>(bytes);
    WireReader reader(bytes);
    while (const auto field = reader.next()) {
      if (field->number == Proto::kNameFieldNumber && field->type == WireType::bytes)
        name = field->bytes;
    }
  }

  // The type that the field of a number, a text or a message has.
  static WireType type_of_value(std::uint32_t field) {
    using Proto = wire::AttrValue;
    switch (field) {
      case Proto::kIFieldNumber:
      case Proto::kBFieldNumber:
      case Proto::kTypeFieldNumber:
        return WireType::varint;
      case Proto::kFFieldNumber:
        return WireType::fixed32;
      default:
        return WireType::bytes;
    }
  }

  void value(std::string_view bytes, WireValue& value) {
    using Proto = wire::AttrValue;
    read<Proto>(bytes, [&](const WireField& field) {
      const std::uint32_t number = field.number;
      if (number > Proto::kFuncFieldNumber || field.type != type_of_value(number)) return;
      value.become(number);
      switch (number) {
        case Proto::kSFieldNumber:
        case Proto::kPlaceholderFieldNumber:
          value.text = counted(field.bytes);
          break;
        case Proto::kShapeFieldNumber:
          return shape(field.bytes, value.part<WireShape>());
        case Proto::kTensorFieldNumber:
          return tensor(field.bytes, value.part<WireTensor>());
        case Proto::kListFieldNumber:
          return list(field.bytes, value.part<WireList>());
        case Proto::kFuncFieldNumber:
          return function_name(field.bytes, value.text);
        default:
          value.number = field.integer;
          break;
      }
    });
  }

  void attribute(std::string_view bytes, const std::string& node, Attribute& attribute) {
    using Proto = wire::AttrEntry;
    std::string_view key;
    WireValue given;
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.type != WireType::bytes) return;
      if (field.number == Proto::kKeyFieldNumber) key = counted(field.bytes);
      if (field.number == Proto::kValueFieldNumber) value(field.bytes, given);
    });
    attribute.name = text(key, "attribute name");
    try {
      attribute.value = to_value(given);
    } catch (const FormatError& error) {
      throw FormatError(error.kind(), fmt::format("node {}, attribute {}: {}", in_quotes(node),
                                                  in_quotes(key), error.what()));
    }
  }

  void node(std::string_view bytes, tensorflow::NodeDef& node) {
    using Proto = wire::NodeDef;
    std::string_view name, op;
    inputs_.clear();
    entries_.clear();
    std::size_t first = 0, last = 0;  // the part of the bytes that has the attributes
    bool together = true;
    std::size_t start = 0;
    read<Proto>(bytes, [&](const WireField& field, std::size_t end) {
      const std::size_t from = std::exchange(start, end);
      if (field.type != WireType::bytes) return;
      if (field.number == Proto::kNameFieldNumber) name = counted(field.bytes);
      if (field.number == Proto::kOpFieldNumber) op = counted(field.bytes);
      if (field.number == Proto::kInputFieldNumber) inputs_.push_back(counted(field.bytes));
      if (field.number != Proto::kAttrFieldNumber) return;
      if (entries_.empty()) first = from;
      together = together && (entries_.empty() || last == from);
      last = end;
      entries_.push_back(field.bytes);
    });
    node.name = text(name, "node name");
    node.op = text(op, "operator");
    node.inputs.reserve(inputs_.size());
    for (const std::string_view input : inputs_) node.inputs.push_back(text(input, "input"));
    if (entries_.empty()) return;
    node.attributes = together ? known_attributes(bytes.substr(first, last - first), node.name)
                               : attributes(node.name);
  }

  // The same bytes are the same attributes.
  const tensorflow::SharedAttributes& known_attributes(std::string_view bytes,
                                                       const std::string& node) {
    const auto [number, fresh] = known_.add(bytes);
    if (fresh) lists_.push_back(attributes(node));
    return lists_[static_cast<std::size_t>(number)];
  }

  tensorflow::SharedAttributes attributes(const std::string& node) {
    std::vector<Attribute> list;
    list.reserve(entries_.size());
    for (const std::string_view entry : entries_) attribute(entry, node, list.emplace_back());
    return list;
  }

  void library(std::string_view bytes, std::vector<tensorflow::FunctionDef>& functions) {
    using Proto = wire::FunctionDefLibrary;
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.number == Proto::kFunctionFieldNumber && field.type == WireType::bytes)
        functions.push_back(function(field.bytes));
    });
  }

  tensorflow::FunctionDef function(std::string_view bytes) {
    using Proto = wire::FunctionDef;
    tensorflow::FunctionDef function;
    std::vector<std::pair<std::string_view, std::string_view>> returns;
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.type != WireType::bytes) return;
      if (field.number == Proto::kSignatureFieldNumber) signature(field.bytes, function);
      if (field.number == Proto::kNodeDefFieldNumber)
        node(field.bytes, function.nodes.emplace_back());
      if (field.number == Proto::kRetFieldNumber) returns.push_back(pair(field.bytes));
      if (field.number == Proto::kAttrFieldNumber) pass_over<wire::AttrEntry>(field.bytes);
    });
    for (const std::string& output : function.outputs) {
      const auto returned =
          std::ranges::find(returns, output, [](const auto& r) { return r.first; });
      function.returns.push_back(returned == returns.end() ? "" : to_utf8(returned->second));
    }
    return function;
  }

  void signature(std::string_view bytes, tensorflow::FunctionDef& function) {
    using Proto = wire::OpDef;
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.type != WireType::bytes) return;
      if (field.number == Proto::kNameFieldNumber)
        function.name = text(counted(field.bytes), "function name");
      if (field.number == Proto::kInputArgFieldNumber)
        function.inputs.push_back(text(argument(field.bytes), "argument"));
      if (field.number == Proto::kOutputArgFieldNumber)
        function.outputs.push_back(text(argument(field.bytes), "result"));
    });
  }

  std::string_view argument(std::string_view bytes) {
    using Proto = wire::OpDef::ArgDef;
    std::string_view name;
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.number == Proto::kNameFieldNumber && field.type == WireType::bytes)
        name = counted(field.bytes);
    });
    return name;
  }

  std::pair<std::string_view, std::string_view> pair(std::string_view bytes) {
    using Proto = wire::ReturnEntry;
    std::pair<std::string_view, std::string_view> pair;
    read<Proto>(bytes, [&](const WireField& field) {
      if (field.type != WireType::bytes) return;
      if (field.number == Proto::kKeyFieldNumber) pair.first = counted(field.bytes);
      if (field.number == Proto::kValueFieldNumber) pair.second = counted(field.bytes);
    });
    return pair;
  }

  DecodedSize size_{kMostDecoded};
  std::vector<std::string_view> inputs_, entries_;  // of the node at hand
  NameIndex known_;                                 // lists of attributes, by their bytes
  std::vector<tensorflow::SharedAttributes> lists_;
};

// The pieces of a message in a field, which add up to it.
std::vector<std::string_view> pieces(std::string_view bytes, std::uint32_t number) {
  std::vector<std::string_view> pieces;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == number && field->type == WireType::bytes) pieces.push_back(field->bytes);
  }
  return pieces;
}

struct MetaInfo {
  std::vector<std::string_view> tags;
  std::string_view version;

  explicit MetaInfo(std::string_view meta_graph) {
    using Proto = wire::MetaGraphDef;
    using Info = Proto::MetaInfoDef;
    for (const std::string_view info : pieces(meta_graph, Proto::kMetaInfoDefFieldNumber)) {
      for (const std::string_view tag : pieces(info, Info::kTagsFieldNumber)) tags.push_back(tag);
      for (const std::string_view given : pieces(info, Info::kTensorflowVersionFieldNumber))
        version = given;
    }
  }
  bool is_for_serving() const { return tags.size() == 1 && tags[0] == "serve"; }
};

}  // namespace

// That a file is cut or malformed is told before what a damaged tensor or name in it is like.
tensorflow::GraphDef decode_graph_def(std::string_view bytes) {
  tensorflow::GraphDef graph;
  try {
    Decoder().graph(bytes, graph);
  } catch (const FormatError&) {
    DecodedSize size(kMostDecoded);
    scan_message(bytes, *wire::GraphDef::descriptor(), size);
    throw;
  }
  return graph;
}

tensorflow::GraphDef decode_saved_model(std::string_view bytes) {
  DecodedSize size(kMostDecoded);
  scan_message(bytes, *wire::SavedModel::descriptor(), size);
  const auto graphs = pieces(bytes, wire::SavedModel::kMetaGraphsFieldNumber);
  if (graphs.empty()) throw FormatError("unreadable", "the SavedModel has no graph");
  std::string_view chosen = graphs.front();
  for (const std::string_view graph : graphs) {
    if (MetaInfo(graph).is_for_serving()) chosen = graph;
  }
  tensorflow::GraphDef result;
  Decoder decoder;
  for (const std::string_view graph : pieces(chosen, wire::MetaGraphDef::kGraphDefFieldNumber))
    decoder.graph(graph, result);
  result.producer_version = to_utf8(MetaInfo(chosen).version);
  return result;
}

}  // namespace assay
