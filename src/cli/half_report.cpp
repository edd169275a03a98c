#include "cli/half_report.h"

#include <fmt/format.h>

#include "cli/terminal.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::vector<HalfNode>& nodes) {
  Json result = Json::array();
  for (const HalfNode& node : nodes)
    result.push_back({{"name", node.name}, {"op", node.op}, {"why", node.why}});
  return result;
}

std::string listed(const char* title, const std::vector<HalfNode>& nodes) {
  if (nodes.empty()) return {};
  Table table;
  for (const HalfNode& node : nodes) table.row({node.name, node.op, node.why});
  return fmt::format("\n{}\n{}", title, table.text());
}

}  // namespace

void add_format_option(CLI::App& app, std::string& format) {
  app.add_option("--as", format,
                 "As if float32 were this: what fails, and what must stay in float32")
      ->check(CLI::IsMember({"f16", "bf16"}).description(""))
      ->type_name("f16|bf16");
}

std::optional<ElementType> format_named(const std::string& format) {
  if (format.empty()) return std::nullopt;
  return element_type_from_short_name(format);
}

Json to_json(const HalfResult& result) {
  return {{"type", short_name(result.type)},
          {"overflow", to_json(result.overflow)},
          {"flush", to_json(result.flush)},
          {"keep", result.keep},
          {"verified", result.verified}};
}

std::string to_page(const HalfResult& result) {
  const Style style;
  const std::string type(short_name(result.type));
  std::string page = listed(fmt::format("fails in {}", type).c_str(), result.overflow);
  page += listed(fmt::format("becomes 0 in {}", type).c_str(), result.flush);
  if (!result.verified)
    page += fmt::format("\n{} no set of operations was found that makes {} safe\n",
                        style.warn("note:"), type);
  else if (result.keep.empty())
    page += style.good(fmt::format("\nnothing fails in {} that float32 bears\n", type));
  else
    page += fmt::format("\nkeep in float32, and the rest may be {}: {}\n", type,
                        style.bold(fmt::format("{}", fmt::join(result.keep, ", "))));
  return page;
}

}  // namespace assay
