// assay convert: the same model as a standard ONNX file.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/model.h"
#include "cli/terminal.h"
#include "formats/onnx_export.h"
#include "semantics/expand_layers.h"

namespace assay {
namespace {

constexpr const char* kHelp =
    R"(Writes the model as a standard .onnx file, with its functions, subgraphs and metadata. Weights
beyond 1.5 GB go to FILE.data beside it.

Example:
  assay convert model.onnx --output copy.onnx)";

struct Options {
  std::string model, output;
};

Result<ExitCode> run(const Options& options, Report& report) {
  Result<std::shared_ptr<const Model>> read = read_valid_model(options.model);
  if (!read) return read.error();
  const Result<Model> model = expand_layers(**read);
  if (!model) {
    return Error{model.error().kind, fmt::format("{}: {}", options.model, model.error().message),
                 options.model};
  }
  if (Result<void> written = write_onnx(*model, options.output); !written) return written.error();
  std::error_code ignored;
  const auto size = std::filesystem::file_size(options.output, ignored);
  report.document["model"] = options.model;
  report.document["output"] = options.output;
  report.document["bytes"] = size;
  report.document["nodes"] = model->graph.nodes.size();
  report.document["functions"] = model->functions.size();
  report.text = fmt::format("{}: {}, {}\n", options.output,
                            counted(static_cast<std::int64_t>(model->graph.nodes.size()), "node"),
                            bytes_text(size));
  return ExitCode::clean;
}

Action configure(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->model, "The model")->required()->type_name("");
  app.add_option("--output,-o", options->output, "The file to write")
      ->required()
      ->type_name("F.onnx");
  return [options](Report& report) { return run(*options, report); };
}

}  // namespace

Command convert_command() {
  return {"convert", "Write a model as standard ONNX", kHelp, configure};
}

}  // namespace assay
