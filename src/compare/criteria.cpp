#include "compare/criteria.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace assay {
namespace {

Error usage(std::string message, const std::string& where) {
  return Error{"usage", std::move(message), where};
}

// The output's name ("" for none) and what is said of it. Names may contain '=' themselves.
Result<std::pair<std::string, std::string>> split(const Graph& graph, const std::string& text) {
  const std::size_t sign = text.rfind('=');
  if (sign == std::string::npos) return std::pair<std::string, std::string>("", text);
  std::string name = text.substr(0, sign);
  const bool known = std::any_of(graph.outputs.begin(), graph.outputs.end(),
                                 [&](const NamedType& output) { return output.name == name; });
  if (!known) {
    std::string names;
    for (const NamedType& output : graph.outputs) {
      names += (names.empty() ? "" : ", ") + output.name;
    }
    return usage(fmt::format("there is no output {}; there is {}", name, names), text);
  }
  return std::pair(std::move(name), text.substr(sign + 1));
}

Result<void> read_tolerances(const Graph& graph, const std::vector<std::string>& texts,
                             std::map<std::string, double>& tolerances) {
  for (const std::string& text : texts) {
    const auto parts = split(graph, text);
    if (!parts) return parts.error();
    char* end = nullptr;
    const double number = std::strtod(parts->second.c_str(), &end);
    const bool good = !parts->second.empty() && *end == '\0' && std::isfinite(number);
    if (!good || number < 0) {
      return usage(fmt::format("{}: expected a tolerance of 0 or more", text), text);
    }
    tolerances[parts->first] = number;
  }
  return {};
}

Result<void> read_metrics(const Graph& graph, const std::vector<std::string>& texts,
                          std::map<std::string, std::vector<Metric>>& metrics) {
  for (const std::string& text : texts) {
    const auto parts = split(graph, text);
    if (!parts) return parts.error();
    const auto metric = find_metric(parts->second);
    if (!metric) {
      return usage(fmt::format("{}: expected bound, mad, class, l2 or cosine", text), text);
    }
    metrics[parts->first].push_back(*metric);
  }
  return {};
}

double given(const std::map<std::string, double>& tolerances, const std::string& output) {
  const auto own = tolerances.find(output), all = tolerances.find("");
  return own != tolerances.end() ? own->second : all != tolerances.end() ? all->second : 0;
}

}  // namespace

bool Criteria::tolerates(const std::string& output) const {
  return relative.contains("") || absolute.contains("") || relative.contains(output) ||
         absolute.contains(output);
}

Result<Criteria> read_criteria(const Graph& graph, const std::vector<std::string>& relative,
                               const std::vector<std::string>& absolute,
                               const std::vector<std::string>& metrics) {
  Criteria criteria;
  if (auto read = read_tolerances(graph, relative, criteria.relative); !read) return read.error();
  if (auto read = read_tolerances(graph, absolute, criteria.absolute); !read) return read.error();
  if (auto read = read_metrics(graph, metrics, criteria.metrics); !read) return read.error();
  return criteria;
}

void apply(const Criteria& criteria, const Graph& graph, std::vector<Spread>& spreads) {
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    const std::string& name = graph.outputs[i].name;
    Spread& spread = spreads[i];
    if (!criteria.tolerates(name) || spread.allowance.empty()) continue;
    const double relative = given(criteria.relative, name);
    const double absolute = given(criteria.absolute, name);
    const std::vector<double> values = spread.value.tensor().reals();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double size = std::isfinite(values[k]) ? std::abs(values[k]) : 0;
      spread.allowance[k] = absolute + relative * size;
    }
    spread.given = true;
  }
}

}  // namespace assay
