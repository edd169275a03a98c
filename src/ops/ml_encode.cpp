// ai.onnx.ml: features made from raw data, and labels from and to numbers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/ml_labels.h"
#include "patterns/move.h"
#include "patterns/rows.h"

namespace assay {
namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

Sources extracted_features(const Call& call) {
  const Shape& x = call.input(0).shape();
  const std::vector<std::int64_t> columns = call.exact(1).integers();
  const std::int64_t width = x.empty() ? 1 : x.back();
  const std::int64_t rows = width == 0 ? 0 : call.input(0).tensor().size() / width;
  Sources sources{{0}, {}, {}};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t column : columns) {
      if (column < 0 || column >= width)
        throw EvaluationError("ArrayFeatureExtractor.index-range",
                              fmt::format("index {} is not below {}", column, width));
      sources.indices.push_back(r * width + column);
    }
  return sources;
}

void infer_extractor(Infer& n) {
  const Dims *x = n.dims(0), *y = n.dims(1);
  if (!x || !y) return n.output(0, n.element(0));
  const Dim count = product(*y, 0, y->size());
  Dims z(x->begin(), x->end() - (x->empty() ? 0 : 1));
  if (z.empty()) z.emplace_back(1);
  z.push_back(count);
  n.output(0, n.element(0), z);
}

struct Binarizer {
  double threshold;
  explicit Binarizer(const Call& call) : threshold(call.site.real("threshold")) {}
  template <class S>
  S operator()(S x) const {
    return select(greater(x, constant<S>(threshold)), constant<S>(1.0), zero<S>());
  }
};

// Values ordered by key; sparse ones stand at the place of their key.
void evaluate_cast_map(Call& call) {
  const Tensor &keys = call.input(0).keys(), &values = call.input(0).mapped();
  std::map<std::int64_t, std::int64_t> order;
  for (std::int64_t i = 0; i < keys.size(); ++i) order[keys.integer(i)] = i;
  const bool sparse = call.site.text("map_form") == "SPARSE";
  const std::int64_t length =
      sparse ? call.site.integer("max_map") : static_cast<std::int64_t>(order.size());
  const ElementType to = call.output_type(0);
  std::vector<std::string> texts(static_cast<std::size_t>(length));
  std::vector<double> numbers(static_cast<std::size_t>(length));
  std::size_t next = 0;
  for (const auto& [key, i] : order) {
    const std::size_t at = sparse ? static_cast<std::size_t>(key) : next++;
    if (key < 0 || at >= texts.size())
      throw EvaluationError("CastMap.key-range",
                            fmt::format("key {} is not below max_map {}", key, length));
    const bool text = values.type() == ElementType::string;
    if (to == ElementType::string)
      texts[at] = text ? values.data<std::string>()[static_cast<std::size_t>(i)]
                       : fmt::format("{}", values.real(i));
    else
      numbers[at] = text ? number_of(values.data<std::string>()[static_cast<std::size_t>(i)])
                         : values.real(i);
  }
  call.outputs[0] = to == ElementType::string ? make_strings({1, length}, std::move(texts))
                                              : make_tensor(to, {1, length}, numbers);
}

ElementType cast_map_type(const Site& site) {
  const std::string& word = site.text("cast_to");
  if (word == "TO_STRING") return ElementType::string;
  return word == "TO_INT64" ? ElementType::i64 : ElementType::f32;
}

void evaluate_category_mapper(Call& call) {
  const Tensor& x = call.exact(0);
  const std::vector<std::string>& words = call.site.texts("cats_strings");
  const std::vector<std::int64_t>& numbers = call.site.integers("cats_int64s");
  if (x.type() == ElementType::string) {
    std::map<std::string, std::int64_t> table;
    for (std::size_t i = 0; i < words.size(); ++i) table[words[i]] = numbers[i];
    std::vector<std::int64_t> y;
    for (const std::string& word : x.data<std::string>()) {
      const auto found = table.find(word);
      y.push_back(found == table.end() ? call.site.integer("default_int64") : found->second);
    }
    call.outputs[0] = make_integers(ElementType::i64, x.shape(), y);
    return;
  }
  std::map<std::int64_t, std::string> table;
  for (std::size_t i = 0; i < words.size(); ++i) table[numbers[i]] = words[i];
  std::vector<std::string> y;
  for (std::int64_t number : x.integers()) {
    const auto found = table.find(number);
    y.push_back(found == table.end() ? call.site.text("default_string") : found->second);
  }
  call.outputs[0] = make_strings(x.shape(), std::move(y));
}

void infer_category_mapper(Infer& n) {
  ValueType type = n.site.type(0);
  type.element = n.element(0) == ElementType::string ? ElementType::i64 : ElementType::string;
  n.output(0, std::move(type));
}

// Position of each key in the vocabulary.
void evaluate_dict_vectorizer(Call& call) {
  const Tensor &keys = call.input(0).keys(), &values = call.input(0).mapped();
  const std::vector<std::string>& words = call.site.texts("string_vocabulary");
  const std::vector<std::int64_t>& numbers = call.site.integers("int64_vocabulary");
  const bool text = keys.type() == ElementType::string;
  const std::size_t length = text ? words.size() : numbers.size();
  Tensor y(values.type(), {static_cast<std::int64_t>(length)});
  visit_storage(values.type(), [&]<class T>(T*) {
    const auto out = y.mutate<T>();
    for (std::size_t i = 0; i < static_cast<std::size_t>(keys.size()); ++i) {
      std::size_t at = 0;
      if (text)
        at = static_cast<std::size_t>(
            std::find(words.begin(), words.end(), keys.data<std::string>()[i]) - words.begin());
      else
        at = static_cast<std::size_t>(
            std::find(numbers.begin(), numbers.end(), keys.integer(static_cast<std::int64_t>(i))) -
            numbers.begin());
      if (at == length)
        throw EvaluationError("DictVectorizer.vocabulary", "a key is not in the vocabulary");
      out[at] = values.data<T>()[i];
    }
  });
  call.outputs[0] = y;
}

void infer_dict_vectorizer(Infer& n) {
  const std::size_t length = std::max(n.site.texts("string_vocabulary").size(),
                                      n.site.integers("int64_vocabulary").size());
  const ValueType& map = n.site.type(0);
  const ElementType element = map.inner ? map.inner->element : ElementType::undefined;
  n.output(0, element, {Dim(static_cast<std::int64_t>(length))});
}

// The first columns of each input, as many as inputdimensions says, side by side.
struct FeatureVectorizer {
  template <class S>
  void operator()(Frame<S>& f) const {
    const std::vector<std::int64_t>& widths = f.site().integers("inputdimensions");
    Array<S> y(f.output_shape(0));
    const std::int64_t rows = y.shape[0], total = y.shape[1];
    std::int64_t start = 0;
    for (std::size_t k = 0; k < f.site().input_count(); ++k) {
      const Array<S> x = f.input(k);
      const std::int64_t columns = rows == 0 ? 0 : x.size() / rows;
      const std::int64_t width = k < widths.size() ? widths[k] : columns;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < std::min(width, columns); ++c)
          y[r * total + start + c] = x[r * columns + c];
      start += width;
    }
    f.output(0, y);
  }
};

void require_feature_vectorizer(Check& c) {
  c.length("inputdimensions", static_cast<std::int64_t>(c.site.input_count()));
  c.in_range("inputdimensions", between(0, std::int64_t{1} << 31));
  std::optional<std::int64_t> rows;
  for (std::size_t i = 0; i < c.site.input_count(); ++i) {
    const Dims* x = c.site.dims(i);
    if (!x) continue;
    if (!c.shape(x->size() == 1 || x->size() == 2, "rank", "rank 1 or 2", to_text(*x))) return;
    const Dim first = x->size() == 1 ? Dim(1) : (*x)[0];
    if (!first.known()) continue;
    if (!c.shape(!rows || *rows == first.value, "rows", "one number of rows", to_text(*x))) return;
    rows = first.value;
  }
}

void infer_feature_vectorizer(Infer& n) {
  const std::vector<std::int64_t>& widths = n.site.integers("inputdimensions");
  Dim rows, total = 0;
  for (std::size_t i = 0; i < n.site.input_count(); ++i) {
    const Dims* x = n.dims(i);
    if (x && !x->empty()) rows = x->size() == 1 ? Dim(1) : (*x)[0];
    total = total + (i < widths.size() ? Dim(widths[i]) : x && !x->empty() ? x->back() : Dim());
  }
  n.output(0, ElementType::f32, {rows, total});
}

struct Imputer {
  std::vector<double> values;
  double replaced;
  bool by_column;
  explicit Imputer(const Call& call) {
    const bool real = is_real(call.input(0).type());
    values = call.site.reals("imputed_value_floats");
    for (std::int64_t v : call.site.integers("imputed_value_int64s"))
      if (!real) values.push_back(static_cast<double>(v));
    replaced = real ? call.site.real("replaced_value_float")
                    : static_cast<double>(call.site.integer("replaced_value_int64"));
    by_column = values.size() > 1;
  }
  template <class S>
  void operator()(Frame<S>& f) const {
    Array<S> x = f.input(0);
    const std::int64_t columns = x.shape.empty() ? 1 : std::max<std::int64_t>(1, x.shape.back());
    const S wanted = constant<S>(replaced);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const S value = constant<S>(values[by_column ? static_cast<std::size_t>(i % columns) : 0]);
      x[i] = select(std::isnan(replaced) ? is_nan(x[i]) : equal(x[i], wanted), value, x[i]);
    }
    f.output(0, x);
  }
};

void require_imputer(Check& c) {
  const bool real = is_real(c.site.element(0));
  const auto count =
      static_cast<std::int64_t>(real ? c.site.reals("imputed_value_floats").size()
                                     : c.site.integers("imputed_value_int64s").size());
  const Dims* x = c.dims("X");
  if (!x) return c.undecided("features", "the shape of X");
  const Dim width = x->empty() ? Dim(1) : x->back();
  c.argument(count == 1 || (width.known() && count == width.value), "features",
             "one imputed value, or one a feature", fmt::format("{}", count));
}

// A row whose divisor is zero stays as it is.
struct Normalizer {
  std::string norm;
  explicit Normalizer(const Call& call) : norm(call.site.text("norm")) {}
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    const S divisor = norm == "L1"   ? sum_of_absolutes(x)
                      : norm == "L2" ? sqrt(sum_of_squares(x))
                                     : maximum(x);
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = select(equal(divisor, zero<S>()), x[i], divide(x[i], divisor));
  }
};

std::vector<std::int64_t> last_axis(const Call& call) {
  return {call.input(0).tensor().rank() - 1};
}

void infer_float(Infer& n) {
  ValueType type = n.site.type(0);
  type.element = ElementType::f32;
  n.output(0, std::move(type));
}

struct Scaler {
  template <class S>
  void operator()(Frame<S>& f) const {
    Array<S> x = f.input(0);
    const std::vector<double>&scale = f.site().reals("scale"), &offset = f.site().reals("offset");
    const std::int64_t columns = x.shape.empty() ? 1 : std::max<std::int64_t>(1, x.shape.back());
    const auto pick = [&](const std::vector<double>& list, std::int64_t i) {
      return constant<S>(list[list.size() == 1 ? 0 : static_cast<std::size_t>(i % columns)]);
    };
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const S shifted = offset.empty() ? x[i] : x[i] - pick(offset, i);
      x[i] = scale.empty() ? shifted : shifted * pick(scale, i);
    }
    f.output(0, x);
  }
};

void require_scaler(Check& c) {
  const Dims* x = c.dims("X");
  if (!x) return c.undecided("features", "the shape of X");
  const Dim width = x->empty() ? Dim(1) : x->back();
  for (std::string_view name : {"scale", "offset"}) {
    const auto count = static_cast<std::int64_t>(c.site.reals(name).size());
    c.argument(count <= 1 || (width.known() && count == width.value), "features",
               fmt::format("{} of length 1 or one a feature", name), fmt::format("{}", count));
  }
}

// A map from class label to score for each row.
void evaluate_zip_map(Call& call) {
  const Tensor& x = call.exact(0);
  const Tensor keys = class_labels(call.site, "classlabels_strings", "classlabels_int64s");
  const std::int64_t columns = keys.size(), rows = columns == 0 ? 0 : x.size() / columns;
  const ValueType element = ValueType::map(keys.type(), ValueType::tensor(ElementType::f32));
  std::vector<Value> maps;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> scores;
    for (std::int64_t c = 0; c < columns; ++c) scores.push_back(x.real(r * columns + c));
    maps.push_back(Value::map(keys, make_tensor(ElementType::f32, {columns}, scores)));
  }
  call.outputs[0] = Value::sequence(element, std::move(maps));
}

void require_zip_map(Check& c) {
  if (!require_labels(c, "classlabels_strings", "classlabels_int64s") ||
      !c.rank("X", between(1, 2)))
    return;
  const Tensor keys = class_labels(c.site, "classlabels_strings", "classlabels_int64s");
  c.extent("X", -1, Dim(keys.size()), "the number of class labels");
}

void scale_before_offset(Builder& b) {
  const auto list = [&](const char* name) {
    const std::vector<double> values = b.site().reals(name);
    return b.constant(
        make_tensor(ElementType::f32, {static_cast<std::int64_t>(values.size())}, values));
  };
  b.output(0, b("Sub", {b("Mul", {b.input(0), list("scale")}), list("offset")}));
}

void l2_with_sign_lost(Builder& b) { b.output(0, b("Abs", {b.again().front()})); }

}  // namespace

std::vector<Operator> ml_encode_operators() {
  std::vector<Operator> all = {
      {.name = "ArrayFeatureExtractor",
       .domain = kDomain,
       .versions = {1},
       .summary = "The columns at the given indices of the last axis.",
       .attributes = {},
       .infer = infer_extractor,
       .meaning = gather(extracted_features)},
      {.name = "Binarizer",
       .domain = kDomain,
       .versions = {1},
       .summary = "1 above the threshold, 0 elsewhere.",
       .attributes = {{"threshold", Role::factor}},
       .infer = same_as_first,
       .meaning = elementwise<Binarizer, RealsAndIntegers>()},
      {.name = "CastMap",
       .domain = kDomain,
       .versions = {1},
       .summary = "The values of a map, ordered by key, as a tensor.",
       .attributes = {{"cast_to", Role::choice},
                      {"map_form", Role::choice},
                      {"max_map", Role::count}},
       .require =
           [](Check& c) {
             c.one_of("cast_to", {"TO_FLOAT", "TO_STRING", "TO_INT64"});
             c.one_of("map_form", {"DENSE", "SPARSE"});
             c.in_range("max_map", between(0, std::int64_t{1} << 31));
           },
       .infer =
           [](Infer& n) {
             n.output(0, cast_map_type(n.site), {Dim(1), Dim()});
           },
       .meaning = custom(Pattern::container, evaluate_cast_map)},
      {.name = "CategoryMapper",
       .domain = kDomain,
       .versions = {1},
       .summary = "Strings to integers or integers to strings, by a table.",
       .attributes = {{"cats_int64s", Role::table},
                      {"cats_strings", Role::table},
                      {"default_int64", Role::number},
                      {"default_string", Role::text}},
       .require =
           [](Check& c) {
             c.argument(
                 c.site.texts("cats_strings").size() == c.site.integers("cats_int64s").size(),
                 "length", "as many strings as integers",
                 fmt::format("{} and {}", c.site.texts("cats_strings").size(),
                             c.site.integers("cats_int64s").size()));
           },
       .infer = infer_category_mapper,
       .meaning = custom(Pattern::text, evaluate_category_mapper)},
      {.name = "DictVectorizer",
       .domain = kDomain,
       .versions = {1},
       .summary = "The values of a map at the places that a vocabulary gives its keys.",
       .attributes = {{"int64_vocabulary", Role::table}, {"string_vocabulary", Role::table}},
       .infer = infer_dict_vectorizer,
       .meaning = custom(Pattern::container, evaluate_dict_vectorizer)},
      {.name = "FeatureVectorizer",
       .domain = kDomain,
       .versions = {1},
       .summary = "Rows of several inputs side by side, as floats.",
       .attributes = {{"inputdimensions", Role::table}},
       .require = require_feature_vectorizer,
       .infer = infer_feature_vectorizer,
       .meaning = compute<FeatureVectorizer>(Pattern::move)},
      {.name = "Imputer",
       .domain = kDomain,
       .versions = {1},
       .summary = "Elements of one value replaced by another.",
       .attributes = {{"imputed_value_floats", Role::factors},
                      {"imputed_value_int64s", Role::table},
                      {"replaced_value_float", Role::factor},
                      {"replaced_value_int64", Role::number}},
       .require = require_imputer,
       .infer = same_as_first,
       .meaning = compute<Imputer, RealsAndIntegers>(Pattern::elementwise)},
      {.name = "Normalizer",
       .domain = kDomain,
       .versions = {1},
       .summary = "Each row divided by its maximum, its sum of magnitudes or its norm.",
       .attributes = {{"norm", Role::choice}},
       .require =
           [](Check& c) {
             c.one_of("norm", {"MAX", "L1", "L2"});
             c.rank("X", at_least(1));
           },
       .infer = infer_float,
       .meaning = rowwise<Normalizer, last_axis>(),
       .variants = {{"sign-lost", Variant::Kind::defect,
                     "the formula sqrt(x^2 / sum(x^2)) taken by the letter", l2_with_sign_lost}}},
      {.name = "Scaler",
       .domain = kDomain,
       .versions = {1},
       .summary = "(x - offset) * scale, by feature.",
       .attributes = {{"offset", Role::factors}, {"scale", Role::factors}},
       .require = require_scaler,
       .infer = infer_float,
       .meaning = compute<Scaler>(Pattern::elementwise),
       .variants = {{"scale-before-offset", Variant::Kind::defect,
                     "converters that fold the offset as an intercept", scale_before_offset}}},
      {.name = "ZipMap",
       .domain = kDomain,
       .versions = {1},
       .summary = "For each row a map from class label to score.",
       .attributes = {{"classlabels_int64s", Role::table}, {"classlabels_strings", Role::table}},
       .require = require_zip_map,
       .infer =
           [](Infer& n) {
             const ElementType key =
                 n.site.has("classlabels_strings") ? ElementType::string : ElementType::i64;
             n.output(
                 0, ValueType::sequence(ValueType::map(key, ValueType::tensor(ElementType::f32))));
           },
       .meaning = custom(Pattern::container, evaluate_zip_map)}};
  for (Operator& entry : label_encoders()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay
