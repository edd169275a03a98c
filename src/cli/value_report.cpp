#include "cli/value_report.h"

#include <cmath>

#include <fmt/format.h>

#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostShown = 6;  // elements in a table

template <class T>
Json element_json(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return to_utf8(value);
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return Json::array({number_json(value.real()), number_json(value.imag())});
  } else if constexpr (std::is_floating_point_v<T>) {
    return number_json(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

Json values_json(const Tensor& tensor) {
  Json values = Json::array();
  visit_storage(tensor.type(), [&]<class T>(T*) {
    for (const T& value : tensor.data<T>()) values.push_back(element_json<T>(value));
  });
  return values;
}

Json elements_json(const std::vector<Value>& elements) {
  Json list = Json::array();
  for (const Value& element : elements) list.push_back(to_json(element));
  return list;
}

std::string short_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{:.6g}", x);
}

std::string few_elements(const Tensor& tensor) {
  std::string text;
  visit_storage(tensor.type(), [&]<class T>(T*) {
    for (const T& value : tensor.data<T>()) {
      if (!text.empty()) text += " ";
      if constexpr (std::is_same_v<T, std::string>) {
        text += in_quotes(value);
      } else if constexpr (std::is_floating_point_v<T>) {
        text += short_number(value);
      } else if constexpr (std::is_same_v<T, bool>) {
        text += value ? "true" : "false";
      } else if constexpr (std::is_integral_v<T>) {
        text += std::to_string(value);
      } else {
        text += short_number(value.real()) + "+" + short_number(value.imag()) + "i";
      }
    }
  });
  return text;
}

std::string statistics_text(const Tensor& tensor, const Style& style) {
  const Statistics s = statistics_of(tensor);
  std::string text;
  if (s.nan + s.infinite < s.count) {
    text = fmt::format("min {:<12} max {:<12} mean {:<12}", short_number(s.smallest),
                       short_number(s.largest), short_number(s.mean));
  }
  if (s.nan > 0) text += style.bad(fmt::format("{} NaN ", with_separators(s.nan)));
  if (s.infinite > 0) text += style.bad(fmt::format("{} infinite", with_separators(s.infinite)));
  return text;
}

}  // namespace

Json to_json(const Tensor& tensor) {
  Json result = {{"dtype", short_name(tensor.type())}, {"shape", tensor.shape()}};
  if (tensor.size() <= kMostInline) result["values"] = values_json(tensor);
  if (has_statistics(tensor.type()) && tensor.size() > 0) {
    const Statistics s = statistics_of(tensor);
    if (s.nan + s.infinite < s.count) {
      result["minimum"] = s.smallest;
      result["maximum"] = s.largest;
      result["mean"] = number_json(s.mean);
    }
    if (s.nan > 0) result["nan"] = s.nan;
    if (s.infinite > 0) result["infinite"] = s.infinite;
  }
  return result;
}

Json to_json(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::tensor:
      return to_json(value.tensor());
    case Value::Kind::sequence:
    case Value::Kind::optional:
      return {{"type", to_text(value.value_type())}, {"elements", elements_json(value.elements())}};
    case Value::Kind::map:
      return {{"type", to_text(value.value_type())},
              {"keys", to_json(value.keys())},
              {"mapped", to_json(value.mapped())}};
    case Value::Kind::unknown:
      return {{"unknown", true}};
    case Value::Kind::absent:
      break;
  }
  return nullptr;
}

std::vector<std::string> value_cells(const Value& value, const Style& style) {
  if (value.kind() == Value::Kind::unknown) return {style.warn("unknown")};
  if (!value.present()) return {"absent"};
  const std::string type = to_text(value.value_type());
  if (!value.is_tensor()) {
    const std::size_t count = value.kind() == Value::Kind::map
                                  ? static_cast<std::size_t>(value.keys().size())
                                  : value.elements().size();
    return {type, counted(static_cast<std::int64_t>(count), "element")};
  }
  const Tensor& tensor = value.tensor();
  if (tensor.size() <= kMostShown) return {type, few_elements(tensor)};
  return {type, has_statistics(tensor.type()) ? statistics_text(tensor, style) : ""};
}

void add_arrays(const std::string& name, const Value& value, std::vector<NpzEntry>& arrays) {
  if (value.is_tensor()) {
    arrays.emplace_back(name, value.tensor());
  } else if (value.kind() == Value::Kind::map) {
    arrays.emplace_back(name + ".keys", value.keys());
    arrays.emplace_back(name + ".mapped", value.mapped());
  } else if (value.kind() == Value::Kind::sequence || value.kind() == Value::Kind::optional) {
    for (std::size_t i = 0; i < value.elements().size(); ++i) {
      add_arrays(fmt::format("{}[{}]", name, i), value.elements()[i], arrays);
    }
  }
}

}  // namespace assay
