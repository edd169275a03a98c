#include "cli/compare_files.h"

#include <filesystem>

#include <fmt/format.h>

#include "cli/backend_list.h"
#include "cli/data_notes.h"
#include "cli/files_report.h"
#include "cli/terminal.h"
#include "compare/file_inputs.h"

namespace assay {
namespace {

Result<Traced> read_side(const std::string& path) {
  Result<std::shared_ptr<const Model>> model = read_valid_model(path);
  if (!model) return model.error();
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  return Traced{*std::move(model), {is_folder ? path + "/model.onnx" : path, ""}, {}};
}

Result<std::vector<std::unique_ptr<Backend>>> open_for(const FilesRequest& request,
                                                       const Common& common) {
  if (request.backends.size() > 2) {
    return Error{"usage", "--backends: two files are run by one backend or by one each",
                 "--backends"};
  }
  std::vector<std::string> names = request.backends;
  if (names.size() == 2 && names[0] == names[1]) names.pop_back();
  return open_backends(names, backend_options(common, request.worker_timeout));
}

Backend* worker_of(Backend& backend) { return backend.name() == "reference" ? nullptr : &backend; }

Result<void> read_data(const FilesRequest& request, Traced& a, Traced& b) {
  const PairedInputs paired = pair_inputs(a.model->graph, b.model->graph);
  Result<std::vector<Value>> values = read_inputs(paired.asked, request.data);
  if (!values) return values.error();
  a.inputs = values_for(a.model->graph, paired.of_a, *values);
  b.inputs = values_for(b.model->graph, paired.of_b, *values);
  return {};
}

}  // namespace

Result<ExitCode> compare_two_files(const FilesRequest& request, Report& report) {
  Result<Traced> a = read_side(request.a), b = read_side(request.b);
  if (!a) return a.error();
  if (!b) return b.error();
  if (Result<void> data = read_data(request, *a, *b); !data) return data.error();
  const Result<std::vector<std::unique_ptr<Backend>>> backends = open_for(request, report.common());
  if (!backends) return backends.error();
  FilesReport told{{}, request.a, request.b, "reference", "reference"};
  if (!backends->empty()) {
    a->backend = worker_of(*backends->front());
    b->backend = worker_of(*backends->back());
    told.backend_a = backends->front()->name();
    told.backend_b = backends->back()->name();
  }
  ProgressLine progress("compare");
  std::size_t step = 0;
  Result<FileComparison> found =
      compare_files(*a, *b, report.common().seed,
                    [&](const std::string& what) { progress.show(step++, 5, what); });
  if (!found) return found.error();
  if (found->ran() && !found->one_network()) {
    return Error{"usage",
                 fmt::format("{} and {} are not one network: {}", request.a, request.b,
                             found->matched_text()),
                 request.b};
  }
  told.found = *std::move(found);
  const std::vector<std::string> notes = notes_on(a->model->graph, {a->inputs});
  report.document["notes"] = notes;
  fill_document(told, report.document);
  for (const std::string& note : notes) report.text += fmt::format("note: {}\n", note);
  report.text += to_page(told);
  return told.found.ran() && told.found.clean() ? ExitCode::clean : ExitCode::found;
}

}  // namespace assay
