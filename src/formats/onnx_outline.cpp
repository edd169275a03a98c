#include "formats/onnx_outline.h"

#include <fmt/format.h>

#include "formats/external_data.h"
#include "formats/failure.h"
#include "formats/onnx_scan.h"
#include "formats/wire.h"

namespace assay {
namespace {

// Field numbers of the standard's messages.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphInitializer = 5, kGraphInput = 11;
constexpr std::uint32_t kTensorDims = 1, kTensorType = 2, kTensorName = 8;

// Calls body(field, its own bytes with key and length) for each field of a message.
template <class F>
void for_each_field(std::string_view message, F body) {
  WireReader reader(message);
  for (std::size_t start = 0; const auto field = reader.next(); start = reader.position()) {
    body(*field, message.substr(start, reader.position() - start));
  }
}

std::string name_of(std::string_view message, std::uint32_t number) {
  std::string name;
  for_each_field(message, [&](const WireField& field, std::string_view) {
    if (field.number == number) name = field.bytes;
  });
  return name;
}

// A tensor's type as that of an input: ValueInfoProto{name, TypeProto{tensor{type, shape}}}.
std::string to_input(std::string_view tensor, const std::string& name) {
  std::string type, shape;
  const auto add_extent = [&](std::uint64_t extent) {
    std::string dimension;
    put_integer(dimension, 1, static_cast<std::int64_t>(extent));
    put_bytes(shape, 1, dimension);
  };
  for_each_field(tensor, [&](const WireField& field, std::string_view) {
    if (field.number == kTensorType) {
      put_integer(type, 1, static_cast<std::int64_t>(field.integer));
    } else if (field.number == kTensorDims && field.type == WireType::bytes) {
      std::string_view packed = field.bytes;
      while (const auto extent = take_varint(packed)) add_extent(*extent);
    } else if (field.number == kTensorDims) {
      add_extent(field.integer);
    }
  });
  put_bytes(type, 2, shape);
  std::string value, info;
  put_bytes(value, 1, type);
  put_bytes(info, 1, name);
  put_bytes(info, 2, value);
  return info;
}

std::string outline_graph(std::string_view graph, std::size_t largest,
                          std::set<std::string>& weights) {
  std::set<std::string> inputs;
  for_each_field(graph, [&](const WireField& field, std::string_view) {
    if (field.number == kGraphInput) inputs.insert(name_of(field.bytes, 1));
  });
  std::string kept;
  for_each_field(graph, [&](const WireField& field, std::string_view whole) {
    if (field.number != kGraphInitializer || field.bytes.size() <= largest) {
      kept += whole;
      return;
    }
    const std::string name = name_of(field.bytes, kTensorName);
    weights.insert(name);
    if (!inputs.contains(name)) put_bytes(kept, kGraphInput, to_input(field.bytes, name));
  });
  return kept;
}

}  // namespace

Result<Outline> read_onnx_outline(const std::filesystem::path& path, std::size_t largest) {
  SharedBytes file;
  try {
    file = map_file(path);
  } catch (const FormatError&) {
    // The reader of whole models says better what is wrong.
    Result<Model> model = read_onnx(path);
    if (!model) return model.error();
    return Outline{*std::move(model), {}};
  }
  ImportOptions options;
  const auto scanned = scan_onnx(file.bytes, {options.max_nesting, std::size_t(-1)});
  if (!scanned) {
    return Error{scanned.error().kind,
                 fmt::format("{}: {}", path.string(), scanned.error().message), path.string()};
  }
  std::set<std::string> weights;
  std::string kept;
  for_each_field(file.bytes, [&](const WireField& field, std::string_view whole) {
    if (field.number == kModelGraph) {
      put_bytes(kept, kModelGraph, outline_graph(field.bytes, largest, weights));
    } else {
      kept += whole;
    }
  });
  options.folder = path.parent_path().empty() ? "." : path.parent_path();
  Result<Model> model = parse_onnx(kept, path.string(), options);
  if (!model) return model.error();
  return Outline{*std::move(model), std::move(weights)};
}

}  // namespace assay
