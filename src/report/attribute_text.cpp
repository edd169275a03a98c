#include "report/attribute_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"

namespace assay {
namespace {

constexpr std::size_t kMostShown = 16;

std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(double value) { return fmt::format("{:.6g}", value); }
std::string text_of(const std::string& value) { return in_quotes(value); }
std::string text_of(const ValueType& value) { return printable(to_text(value)); }
std::string text_of(const AttributeReference& value) {
  return "of the call: " + printable(value.name);
}
std::string text_of(const Tensor& tensor);
std::string text_of(const SparseTensor& value) {
  return fmt::format("sparse {}{}", short_name(value.values.type()), to_text(value.shape));
}
std::string text_of(const std::shared_ptr<const SparseTensor>& value) { return text_of(*value); }
std::string text_of(const std::shared_ptr<const Graph>& value) {
  return fmt::format("graph of {} nodes", value->nodes.size());
}

template <class T>
std::string text_of(const std::vector<T>& values) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(values.size(), kMostShown); ++i) {
    shown.push_back(text_of(values[i]));
  }
  if (values.size() > kMostShown) shown.push_back(fmt::format("… {} in all", values.size()));
  return fmt::format("[{}]", fmt::join(shown, ", "));
}

std::string text_of(const Tensor& tensor) {
  std::string type = fmt::format("{}{}", short_name(tensor.type()), to_text(tensor.shape()));
  if (!has_numbers(tensor.type()) || static_cast<std::size_t>(tensor.size()) > kMostShown)
    return type;
  return fmt::format("{} = {}", type,
                     is_real(tensor.type()) ? text_of(tensor.reals()) : text_of(tensor.integers()));
}

}  // namespace

std::string attribute_text(const AttributeValue& value) {
  return std::visit([](const auto& one) { return text_of(one); }, value);
}

}  // namespace assay
