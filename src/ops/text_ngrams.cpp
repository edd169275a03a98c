#include "ops/text_ngrams.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace assay {
namespace {

std::int64_t pool_size(const Site& site) {
  return static_cast<std::int64_t>(site.has("pool_strings") ? site.texts("pool_strings").size()
                                                            : site.integers("pool_int64s").size());
}

// Where the n-grams of length n (from 1) begin in the pool, and where the last ones end.
std::vector<std::int64_t> boundaries(const Site& site) {
  std::vector<std::int64_t> bounds = site.integers("ngram_counts");
  bounds.push_back(pool_size(site));
  return bounds;
}

// The n-grams of the pool, numbered as ngram_indexes and weights are.
template <class T>
using Pool = std::multimap<std::vector<T>, std::size_t>;

template <class T>
Pool<T> read_pool(const Site& site, const std::vector<T>& items) {
  Pool<T> pool;
  const std::vector<std::int64_t> bounds = boundaries(site);
  std::size_t number = 0;
  for (std::size_t n = 1; n < bounds.size(); ++n)
    for (std::int64_t at = bounds[n - 1]; at < bounds[n]; at += static_cast<std::int64_t>(n))
      pool.emplace(
          std::vector<T>(items.begin() + at, items.begin() + at + static_cast<std::int64_t>(n)),
          number++);
  return pool;
}

// Calls found(number) for each n-gram of a row that the pool has, whatever lies between its items
// evenly, up to max_skip_count of them.
template <class T, class Found>
void find_ngrams(const Site& site, const Pool<T>& pool, std::span<const T> row,
                 const Found& found) {
  const auto length = static_cast<std::int64_t>(row.size());
  const auto longest = static_cast<std::int64_t>(site.integers("ngram_counts").size());
  const std::int64_t most = std::min({site.integer("max_gram_length"), longest, length});
  for (std::int64_t n = site.integer("min_gram_length"); n <= most; ++n) {
    const std::int64_t skips = n == 1 ? 0 : std::min(site.integer("max_skip_count"), length);
    for (std::int64_t step = 1; step <= skips + 1; ++step)
      for (std::int64_t start = 0; start + (n - 1) * step < length; ++start) {
        std::vector<T> gram;
        for (std::int64_t k = 0; k < n; ++k)
          gram.push_back(row[static_cast<std::size_t>(start + k * step)]);
        const auto [begin, end] = pool.equal_range(gram);
        for (auto at = begin; at != end; ++at) found(at->second);
      }
  }
}

// Only coordinates that are not zero are written: the output may be long and is mostly empty.
template <class T>
Tensor vectorize(const Call& call, const std::vector<T>& items, const std::vector<T>& pool_items) {
  const Site& site = call.site;
  const Pool<T> pool = read_pool(site, pool_items);
  const std::vector<std::int64_t>& indexes = site.integers("ngram_indexes");
  const std::vector<double>& weights = site.reals("weights");
  const std::string& mode = site.text("mode");
  Tensor result(ElementType::f32, call.output_shape(0));
  const std::int64_t columns = result.shape().back();
  const std::int64_t length = call.input(0).shape().back();
  const std::int64_t rows = length == 0 ? 0 : static_cast<std::int64_t>(items.size()) / length;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::map<std::size_t, double> counts;
    find_ngrams(site, pool,
                std::span(items).subspan(static_cast<std::size_t>(r * length),
                                         static_cast<std::size_t>(length)),
                [&](std::size_t number) { counts[number] += 1; });
    std::map<std::int64_t, double> sums;
    for (const auto& [number, count] : counts) {
      const double weight = mode == "TF" || weights.empty() ? 1 : weights[number];
      sums[indexes[number]] += weight * (mode == "IDF" ? 1 : count);
    }
    for (const auto& [column, value] : sums)
      result.mutate<float>()[static_cast<std::size_t>(r * columns + column)] =
          static_cast<float>(value);
  }
  return result;
}

void evaluate(Call& call) {
  const Tensor& x = call.exact(0);
  if (x.type() == ElementType::string) {
    const auto texts = x.data<std::string>();
    call.outputs[0] =
        vectorize<std::string>(call, {texts.begin(), texts.end()}, call.site.texts("pool_strings"));
  } else {
    call.outputs[0] =
        vectorize<std::int64_t>(call, x.integers(), call.site.integers("pool_int64s"));
  }
}

// The number of n-grams in the pool, or nothing if its boundaries are wrong.
std::optional<std::int64_t> ngram_count(const Site& site) {
  const std::vector<std::int64_t> bounds = boundaries(site);
  std::int64_t count = 0;
  if (bounds.size() < 2 || bounds[0] < 0) return std::nullopt;
  for (std::size_t n = 1; n < bounds.size(); ++n) {
    const std::int64_t items = bounds[n] - bounds[n - 1];
    if (items < 0 || items % static_cast<std::int64_t>(n) != 0) return std::nullopt;
    count += items / static_cast<std::int64_t>(n);
  }
  return count;
}

std::int64_t output_size(const Site& site) {
  const std::vector<std::int64_t>& indexes = site.integers("ngram_indexes");
  return *std::max_element(indexes.begin(), indexes.end()) + 1;
}

void require(Check& c) {
  const Site& site = c.site;
  c.rank("X", between(1, 2));
  c.one_of("mode", {"TF", "IDF", "TFIDF"});
  bool good = c.positive({"min_gram_length"});
  good = c.in_range("max_gram_length", at_least(site.integer("min_gram_length"))) && good;
  good = c.not_negative({"max_skip_count"}) && good;
  const bool strings = site.element(0) == ElementType::string;
  good = c.argument(site.has("pool_strings") != site.has("pool_int64s"), "pool",
                    "one of pool_strings and pool_int64s", "none or both") &&
         good;
  const bool typed = site.element(0) != ElementType::undefined;
  good = c.argument(!typed || site.has(strings ? "pool_strings" : "pool_int64s"), "pool",
                    "a pool of the type of X", std::string(short_name(site.element(0)))) &&
         good;
  if (!good) return;
  const auto count = ngram_count(site);
  const std::vector<std::int64_t>& indexes = site.integers("ngram_indexes");
  if (!c.argument(count.has_value(), "ngram-counts", "boundaries that cut the pool into n-grams",
                  fmt::format("{} boundaries", site.integers("ngram_counts").size())))
    return;
  c.argument(static_cast<std::int64_t>(indexes.size()) == *count && *count > 0, "length",
             fmt::format("{} numbers in ngram_indexes, at least one", *count),
             fmt::format("{}", indexes.size()));
  if (site.has("weights"))
    c.argument(site.reals("weights").size() == indexes.size(), "length",
               fmt::format("{} numbers in weights", indexes.size()),
               fmt::format("{}", site.reals("weights").size()));
  c.in_range("ngram_indexes", between(0, (std::int64_t{1} << 60) - 1));
}

void infer(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, ElementType::f32);
  const Dim size = output_size(n.site);
  n.output(0, ElementType::f32, x->size() == 2 ? Dims{(*x)[0], size} : Dims{size});
}

// onnx.reference takes weight j for output column j.
void weights_by_column(Builder& b) {
  const std::vector<double>& weights = b.site().reals("weights");
  std::vector<double> moved;
  for (std::int64_t index : b.site().integers("ngram_indexes"))
    moved.push_back(index < static_cast<std::int64_t>(weights.size())
                        ? weights[static_cast<std::size_t>(index)]
                        : 0);
  b.output(0, weights.empty() ? b.again().front() : b.again({attribute("weights", moved)}).front());
}

}  // namespace

Operator tf_idf_vectorizer() {
  return {.name = "TfIdfVectorizer",
          .versions = {9},
          .summary = "How often each n-gram of a pool occurs in a row, scaled by its weight.",
          .attributes = {{"max_gram_length", Role::count},
                         {"max_skip_count", Role::count},
                         {"min_gram_length", Role::count},
                         {"mode", Role::choice},
                         {"ngram_counts", Role::table},
                         {"ngram_indexes", Role::table},
                         {"pool_int64s", Role::table},
                         {"pool_strings", Role::table},
                         {"weights", Role::factors}},
          .require = require,
          .infer = infer,
          .meaning = custom(Pattern::text, evaluate),
          .variants = {{"weights-by-column", Variant::Kind::defect, "onnx.reference 1.23",
                        weights_by_column}}};
}

}  // namespace assay
