#include "ops/ml_labels.h"

#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "graph/names.h"
#include "patterns/compute.h"

namespace assay {

Tensor class_labels(const Site& site, std::string_view texts, std::string_view integers) {
  std::vector<std::string> words = site.texts(texts);
  if (!words.empty()) {
    const auto count = static_cast<std::int64_t>(words.size());
    return make_strings({count}, std::move(words));
  }
  return make_vector(site.integers(integers));
}

bool require_labels(Check& c, std::string_view texts, std::string_view integers) {
  const bool words = !c.site.texts(texts).empty(), numbers = !c.site.integers(integers).empty();
  return c.argument(words != numbers, "labels", fmt::format("one of {} and {}", texts, integers),
                    words ? "both" : "none");
}

Tensor labels_at(const Tensor& labels, const std::vector<std::int64_t>& places) {
  const auto count = static_cast<std::int64_t>(places.size());
  Tensor result(labels.type(), {count});
  visit_storage(labels.type(), [&]<class T>(T*) {
    const auto out = result.mutate<T>();
    for (std::size_t i = 0; i < places.size(); ++i)
      out[i] = labels.data<T>()[static_cast<std::size_t>(places[i])];
  });
  return result;
}

double number_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0')
    throw EvaluationError("CastMap.number", fmt::format("{} is no number", in_quotes(text)));
  return value;
}

PostTransform post_transform_of(const std::string& word) {
  if (word == "SOFTMAX") return PostTransform::softmax;
  if (word == "LOGISTIC") return PostTransform::logistic;
  if (word == "SOFTMAX_ZERO") return PostTransform::softmax_zero;
  return word == "PROBIT" ? PostTransform::probit : PostTransform::none;
}

void require_post_transform(Check& c) {
  c.one_of("post_transform", {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"});
}

namespace {

// A list attribute, or a tensor attribute from version 4 on, as a tensor; undefined if absent.
Tensor list_of(const Site& site, const std::string& stem) {
  if (const Tensor* tensor = site.tensor(stem + "_tensor")) return *tensor;
  if (site.has(stem + "_strings")) return class_labels(site, stem + "_strings", "");
  if (site.has(stem + "_int64s")) return make_vector(site.integers(stem + "_int64s"));
  if (!site.has(stem + "_floats")) return {};
  const std::vector<double> reals = site.reals(stem + "_floats");
  return make_tensor(ElementType::f32, {static_cast<std::int64_t>(reals.size())}, reals);
}

Tensor default_of(const Site& site, ElementType type) {
  if (const Tensor* tensor = site.tensor("default_tensor")) return *tensor;
  if (type == ElementType::string) return make_strings({}, {site.text("default_string")});
  if (is_real(type)) return make_scalar(type, site.real("default_float"));
  return make_scalar(type, static_cast<double>(site.integer("default_int64")));
}

// An element as a key that can be compared; all NaN are one key.
std::string key_at(const Tensor& tensor, std::int64_t i) {
  if (tensor.type() == ElementType::string)
    return tensor.data<std::string>()[static_cast<std::size_t>(i)];
  if (!is_real(tensor.type())) return fmt::format("{}", tensor.integer(i));
  const double x = tensor.real(i);
  return std::isnan(x) ? "nan" : fmt::format("{}", x == 0 ? 0.0 : x);
}

// Numbers that are not exact have the value of each key that they may be.
struct EncodedRanges {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Tensor keys = list_of(f.site(), "keys"), values = list_of(f.site(), "values");
    const Array<S> from = load<S>(Value(keys)), to = load<S>(Value(values));
    const S otherwise = load<S>(Value(default_of(f.site(), values.type())))[0];
    Array<S> x = f.input(0);
    for (S& element : x.data) {
      S found = otherwise;
      for (std::int64_t k = 0; k < keys.size(); ++k) {  // the last of equal keys counts
        const bool nan = is_real(keys.type()) && std::isnan(keys.real(k));
        found = select(nan ? is_nan(element) : equal(element, from[k]), to[k], found);
      }
      element = found;
    }
    f.output(0, x);
  }
};

void evaluate_encoder(Call& call) {
  static const Meaning kRanges = compute<EncodedRanges>(Pattern::generate);
  if (!call.input(0).exact() && call.output_type(0) != ElementType::string)
    return kRanges.evaluate(call);
  const Tensor &x = call.exact(0), keys = list_of(call.site, "keys"),
               values = list_of(call.site, "values");
  std::map<std::string, std::size_t> table;  // the last of equal keys counts
  for (std::int64_t i = 0; i < keys.size(); ++i)
    table[key_at(keys, i)] = static_cast<std::size_t>(i);
  const Tensor otherwise = default_of(call.site, values.type());
  Tensor y(values.type(), x.shape());
  visit_storage(values.type(), [&]<class T>(T*) {
    const auto out = y.mutate<T>();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto found = table.find(key_at(x, static_cast<std::int64_t>(i)));
      out[i] = found == table.end() ? otherwise.data<T>()[0] : values.data<T>()[found->second];
    }
  });
  call.outputs[0] = y;
}

void require_encoder(Check& c) {
  const Tensor keys = list_of(c.site, "keys"), values = list_of(c.site, "values");
  if (!c.argument(keys.defined() && values.defined(), "lists", "keys_* and values_*", "none"))
    return;
  c.argument(keys.size() == values.size(), "length", fmt::format("{} values", keys.size()),
             fmt::format("{}", values.size()));
  c.that(keys.type() == c.site.element(0), "Type Error", "key-type",
         std::string(short_name(c.site.element(0))), std::string(short_name(keys.type())),
         kArgumentBadness, "LabelEncoder needs keys of the input's type");
  const Tensor* given = c.site.tensor("default_tensor");
  c.argument(!given || (given->type() == values.type() && given->size() == 1), "default-type",
             "one default of the values' type",
             given ? std::string(short_name(given->type())) : "");
}

void infer_encoder(Infer& n) {
  ValueType type = n.site.type(0);
  type.element = list_of(n.site, "values").type();
  n.output(0, std::move(type));
}

// Version 1: the place of a string among the classes, or the class at a place.
void evaluate_older_encoder(Call& call) {
  const Tensor& x = call.exact(0);
  const std::vector<std::string>& classes = call.site.texts("classes_strings");
  if (x.type() == ElementType::string) {
    std::vector<std::int64_t> y;
    for (const std::string& word : x.data<std::string>()) {
      const auto at = std::find(classes.begin(), classes.end(), word);
      y.push_back(at == classes.end() ? call.site.integer("default_int64") : at - classes.begin());
    }
    call.outputs[0] = make_integers(ElementType::i64, x.shape(), y);
    return;
  }
  std::vector<std::string> y;
  for (std::int64_t place : x.integers())
    y.push_back(place >= 0 && place < static_cast<std::int64_t>(classes.size())
                    ? classes[static_cast<std::size_t>(place)]
                    : call.site.text("default_string"));
  call.outputs[0] = make_strings(x.shape(), std::move(y));
}

void infer_older_encoder(Infer& n) {
  ValueType type = n.site.type(0);
  type.element = n.element(0) == ElementType::string ? ElementType::i64 : ElementType::string;
  n.output(0, std::move(type));
}

// Numbers that are not exact: at each category they are, are not, or may be.
struct CategoryRanges {
  template <class S>
  void operator()(Frame<S>& f) const {
    const std::vector<std::int64_t>& numbers = f.site().integers("cats_int64s");
    const Array<S> categories = load<S>(Value(make_vector(numbers))), x = f.input(0);
    Array<S> y(f.output_shape(0));
    for (std::int64_t i = 0; i < x.size(); ++i)
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        const auto here = numbers.begin() + static_cast<std::ptrdiff_t>(k);
        if (std::find(numbers.begin(), here, *here) != here) continue;  // the first of equals
        y[i * categories.size() + static_cast<std::int64_t>(k)] =
            select(equal(truncate(x[i]), categories.data[k]), constant<S>(1.0), zero<S>());
      }
    f.output(0, y);
  }
};

std::size_t category_count(const Site& site) {
  return site.element(0) == ElementType::string ? site.texts("cats_strings").size()
                                                : site.integers("cats_int64s").size();
}

// Where an element stands among the categories; their number if it is none of them. Reals are cut.
std::size_t category_of(const Tensor& x, std::size_t i, const std::vector<std::string>& words,
                        const std::vector<std::int64_t>& numbers) {
  const auto place = [](const auto& all, const auto& one) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), one) - all.begin());
  };
  if (x.type() == ElementType::string) return place(words, x.data<std::string>()[i]);
  const auto at = static_cast<std::int64_t>(i);
  if (!is_real(x.type())) return place(numbers, x.integer(at));
  const double cut = std::trunc(x.real(at));
  if (!(cut >= -0x1p63 && cut < 0x1p63)) return numbers.size();
  return place(numbers, static_cast<std::int64_t>(cut));
}

// One at the place of the category, zero elsewhere.
void evaluate_categories(Call& call) {
  static const Meaning kRanges = compute<CategoryRanges>(Pattern::generate);
  if (!call.input(0).exact()) return kRanges.evaluate(call);
  const Tensor& x = call.input(0).tensor();
  const std::vector<std::string>& words = call.site.texts("cats_strings");
  const std::vector<std::int64_t>& numbers = call.site.integers("cats_int64s");
  const std::size_t count = category_count(call.site);
  Tensor y(ElementType::f32, call.output_shape(0));
  const auto out = y.mutate<float>();
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) {
    const std::size_t at = category_of(x, i, words, numbers);
    if (at < count)
      out[i * count + at] = 1;
    else if (call.site.integer("zeros", 1) == 0)
      throw EvaluationError("OneHotEncoder.category", "an element is none of the categories");
  }
  call.outputs[0] = y;
}

void infer_categories(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, ElementType::f32);
  Dims y = *x;
  y.push_back(n.element(0) == ElementType::undefined
                  ? Dim()
                  : Dim(static_cast<std::int64_t>(category_count(n.site))));
  n.output(0, ElementType::f32, y);
}

}  // namespace

std::vector<Operator> label_encoders() {
  return {{.name = "LabelEncoder",
           .domain = "ai.onnx.ml",
           .versions = {1},
           .summary = "The place of a string among the classes, or the class at a place.",
           .attributes = {{"classes_strings", Role::table},
                          {"default_int64", Role::number},
                          {"default_string", Role::text}},
           .infer = infer_older_encoder,
           .meaning = custom(Pattern::text, evaluate_older_encoder)},
          {.name = "LabelEncoder",
           .domain = "ai.onnx.ml",
           .versions = {2, 4},
           .summary = "Each element mapped to another by a table of keys and values.",
           .attributes = {{"default_float", Role::factor},
                          {"default_int64", Role::number},
                          {"default_string", Role::text},
                          {"default_tensor", Role::value},
                          {"keys_floats", Role::table},
                          {"keys_int64s", Role::table},
                          {"keys_strings", Role::table},
                          {"keys_tensor", Role::value},
                          {"values_floats", Role::table},
                          {"values_int64s", Role::table},
                          {"values_strings", Role::table},
                          {"values_tensor", Role::value}},
           .require = require_encoder,
           .infer = infer_encoder,
           .meaning = custom(Pattern::text, evaluate_encoder)},
          {.name = "OneHotEncoder",
           .domain = "ai.onnx.ml",
           .versions = {1},
           .summary = "One at the place of each element's category, zero elsewhere.",
           .attributes = {{"cats_int64s", Role::table},
                          {"cats_strings", Role::table},
                          {"zeros", Role::flag}},
           .infer = infer_categories,
           .meaning = custom(Pattern::text, evaluate_categories)}};
}

}  // namespace assay
