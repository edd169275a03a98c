#include "formats/keras_read.h"

#include <simdjson.h>

#include <fmt/format.h>

#include "formats/external_data.h"
#include "formats/failure.h"
#include "formats/keras_masks.h"
#include "formats/keras_network.h"
#include "graph/names.h"
#include "layers/keras/layers.h"
#include "tensor/archive.h"

namespace assay {
namespace {

using keras::Json;

constexpr std::size_t kMostConfig = std::size_t{1} << 26;

Json parse(simdjson::dom::parser& parser, std::string_view text) {
  if (text.size() > kMostConfig) throw FormatError("limit", "its config is larger than 64 MiB");
  Json root;
  const auto failure = parser.parse(text.data(), text.size(), true).get(root);
  if (failure != simdjson::SUCCESS) {
    throw FormatError("unreadable",
                      fmt::format("its config is no JSON: {}", simdjson::error_message(failure)));
  }
  if (root.type() != simdjson::dom::element_type::OBJECT) {
    throw FormatError("unreadable", "its config describes no model");
  }
  return root;
}

// "2.4.0" to 2. Without a version, only Keras 3 names the modules of classes.
int major_version(std::string_view text, Json config) {
  if (text.starts_with("3")) return 3;
  if (text.empty() && config["module"].error() == simdjson::SUCCESS) return 3;
  return 2;
}

std::string entry_text(const Archive& archive, std::string_view name) {
  const ArchiveEntry* entry = archive.find(name);
  if (!entry) throw FormatError("unreadable", fmt::format("no {} is in it", name));
  Result<std::string> bytes = archive.unpack(*entry);
  if (!bytes) throw FormatError(bytes.error().kind, bytes.error().message);
  return *std::move(bytes);
}

std::string version_text(std::string_view metadata) {
  simdjson::dom::parser parser;
  std::string_view version;
  if (parser.parse(metadata.data(), metadata.size(), true)["keras_version"].get(version) !=
      simdjson::SUCCESS) {
    return "";
  }
  return std::string(version);
}

// Masks come last: they stand behind the weights of a layer.
Model with_masks(Model model) {
  keras::spread_masks(model);
  return model;
}

Model read_archive(const Archive& archive) {
  const std::string text = entry_text(archive, "config.json");
  simdjson::dom::parser parser;
  const Json config = parse(parser, text);
  const bool told = archive.find("metadata.json") != nullptr;
  const int version =
      major_version(told ? version_text(entry_text(archive, "metadata.json")) : "", config);
  const auto file = std::make_shared<const Hdf5File>(entry_text(archive, "model.weights.h5"));
  return with_masks(
      keras::to_model(keras::read_description(config), *keras::archived_weights(file), version));
}

Model read_hdf5(std::string bytes) {
  const auto file = std::make_shared<const Hdf5File>(std::move(bytes));
  const auto text = file->text("", "model_config");
  if (!text) {
    throw FormatError("unreadable",
                      "it has weights but no model_config: save the whole model, not its weights");
  }
  simdjson::dom::parser parser;
  const Json config = parse(parser, *text);
  std::optional<std::string> told = file->text("", "keras_version");
  if (!told && file->has("model_weights")) told = file->text("model_weights", "keras_version");
  const int version = major_version(told.value_or(""), config);
  return with_masks(keras::to_model(keras::read_description(config),
                                    *keras::named_weights(file, version), version));
}

Model read_config(std::string_view text) {
  simdjson::dom::parser parser;
  const Json config = parse(parser, text);
  std::string_view told;
  if (config["keras_version"].get(told) != simdjson::SUCCESS) told = "";
  return keras::to_model(keras::read_description(config), *keras::no_weights(),
                         major_version(told, config));
}

}  // namespace

bool is_keras(const std::string& path) {
  return path.ends_with(".keras") || path.ends_with(".h5") || path.ends_with(".json");
}

Result<Model> read_keras(const std::filesystem::path& path) {
  keras::use_layers();
  if (path.extension() == ".keras") {
    const Result<Archive> archive = Archive::open(path.string(), ".keras");
    if (!archive) return archive.error();
    return guard_format(path.string(), [&] { return read_archive(*archive); });
  }
  return guard_format(path.string(), [&] {
    const SharedBytes file = map_file(path);
    return path.extension() == ".h5" ? read_hdf5(std::string(file.bytes)) : read_config(file.bytes);
  });
}

}  // namespace assay
