// What --as has to say, as JSON and for people.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "numeric/lint.h"

namespace assay {

// The option itself: f16 or bf16.
void add_format_option(CLI::App& app, std::string& format);
std::optional<ElementType> format_named(const std::string& format);

nlohmann::ordered_json to_json(const HalfResult& result);
std::string to_page(const HalfResult& result);

}  // namespace assay
