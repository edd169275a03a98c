// What `assay compare A B` has to say, as JSON and for people.
#pragma once

#include <nlohmann/json.hpp>

#include "compare/two_files.h"

namespace assay {

struct FilesReport {
  FileComparison found;
  std::string a, b;                  // the files
  std::string backend_a, backend_b;  // who ran them
};

void fill_document(const FilesReport& report, nlohmann::ordered_json& document);
std::string to_page(const FilesReport& report);

}  // namespace assay
