// Layers that turn numbers into categories, and categories into vectors.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

constexpr std::int64_t kMostCategories = 1 << 24;  // of which a table is made

std::string cast(Body& l, const std::string& value, ElementType type) {
  return l("Cast", {value}, {attribute("to", static_cast<std::int64_t>(type))});
}

// What vectors are of: the type of the input, where that is no whole number.
ElementType real_type(const Body& l) {
  const ElementType type = l.site.element(0);
  return type == ElementType::f64 || type == ElementType::f16 || type == ElementType::bf16
             ? type
             : ElementType::f32;
}

std::string numbers(Body& l, std::int64_t count) {
  Integers all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return l.b.integers(all);
}

// A one at the place of each category; in the modes "multi_hot" and "count" those of an example
// (along axis 1) together. A last axis of one element goes away in the mode "one_hot".
std::string encoded(Body& l, const std::string& categories, std::int64_t depth) {
  const std::string& mode = l.site.text("output_mode");
  std::string places = categories;
  if (mode == "one_hot" && l.rank() > 1 && l.extent(-1) == 1) {
    places = l("Squeeze", {places, l.b.integers({-1})});
  }
  const std::string same =
      l("Equal", {l("Unsqueeze", {places, l.b.integers({-1})}), numbers(l, depth)});
  std::string vectors = cast(l, same, real_type(l));
  if (mode == "one_hot") return vectors;
  return l(mode == "count" ? "ReduceSum" : "ReduceMax",
           {vectors, l.b.integers({l.rank() > 1 ? 1 : 0})}, {attribute("keepdims", 0)});
}

// How many boundaries are not above x.
std::string discretization(Body& l) {
  const std::vector<double>& ends = l.site.reals("bin_boundaries");
  const auto count = static_cast<std::int64_t>(ends.size());
  const std::string bounds = l.b.constant(make_tensor(l.type(), {count}, ends));
  const std::string passed =
      l("GreaterOrEqual", {l("Unsqueeze", {l.x, l.b.integers({-1})}), bounds});
  const std::string bins = l("ReduceSum", {cast(l, passed, ElementType::i64), l.b.integers({-1})},
                             {attribute("keepdims", 0)});
  if (l.site.text("output_mode") == "int") return cast(l, bins, ElementType::i32);
  return encoded(l, bins, count + 1);
}

void require_boundaries(Check& c) {
  const std::vector<double>& ends = c.site.reals("bin_boundaries");
  c.argument(!ends.empty() && std::ranges::is_sorted(ends), "bin_boundaries",
             "boundaries in rising order", fmt::format("{} boundaries", ends.size()));
  c.one_of("output_mode", {"int", "one_hot", "multi_hot", "count"});
  c.rank("x", at_least(1));
}

std::string category_encoding(Body& l) {
  return encoded(l, cast(l, l.x, ElementType::i64), l.site.integer("num_tokens"));
}

void require_tokens(Check& c) {
  c.positive({"num_tokens"}), c.in_range("num_tokens", at_most(kMostCategories));
  c.one_of("output_mode", {"one_hot", "multi_hot", "count"});
  c.rank("x", at_least(1));
}

// Categories that nobody lists come first, then the listed ones; a token for what is left out is 0.
std::string integer_lookup(Body& l) {
  const Integers& words = l.site.integers("vocabulary");
  const std::int64_t others = l.site.integer("num_oov_indices");
  const bool whole = l.site.text("output_mode") == "int";
  const std::int64_t none = l.site.has("mask_token") && whole ? 1 : 0;
  const std::string x = cast(l, l.x, ElementType::i64);
  const std::string same =
      l("Equal", {l("Unsqueeze", {x, l.b.integers({-1})}), l.b.integers(words)});
  const std::string hits = cast(l, same, ElementType::i64);
  const std::string last = l.b.integers({-1});
  const Builder::Attributes flat = {attribute("keepdims", 0)};
  const std::string place =
      l("ReduceSum", {l("Mul", {hits, numbers(l, static_cast<std::int64_t>(words.size()))}), last},
        flat);
  const std::string known = l("Add", {place, l.b.integer(none + others)});
  const std::string unknown =
      others == 0 ? l.b.integer(-1)
                  : l("Add", {l("Mod", {x, l.b.integer(others)}), l.b.integer(none)});
  std::string y = l(
      "Where", {cast(l, l("ReduceMax", {hits, last}, flat), ElementType::boolean), known, unknown});
  if (l.site.has("mask_token")) {
    const std::string left_out = l("Equal", {x, l.b.integer(l.site.integer("mask_token"))});
    y = l("Where", {left_out, l.b.integer(whole ? 0 : -1), y});
  }
  if (whole) return y;
  const std::int64_t own = others + static_cast<std::int64_t>(words.size());
  return encoded(l, y, flag(l.site, "pad_to_max_tokens") ? l.site.integer("max_tokens") : own);
}

// The element at a place, or the token of those that nobody lists.
std::string inverse_lookup(Body& l) {
  const std::int64_t unlisted = l.site.integer("oov_token");
  Integers table(static_cast<std::size_t>(l.site.integer("num_oov_indices")), unlisted);
  if (l.site.has("mask_token")) table.insert(table.begin(), l.site.integer("mask_token"));
  const Integers& words = l.site.integers("vocabulary");
  table.insert(table.end(), words.begin(), words.end());
  table.push_back(unlisted);
  const std::string x = cast(l, l.x, ElementType::i64);
  const std::string last = l.b.integer(std::ssize(table) - 1);
  const std::string before = l("Less", {x, l.b.integer(0)});
  const std::string place = l("Where", {before, last, l("Min", {x, last})});
  return l("Gather", {l.b.integers(table), place});
}

std::string lookup(Body& l) {
  return flag(l.site, "invert") ? inverse_lookup(l) : integer_lookup(l);
}

void require_vocabulary(Check& c) {
  Integers words = c.site.integers("vocabulary");
  std::ranges::sort(words);
  c.argument(!words.empty() && std::ranges::adjacent_find(words) == words.end(), "vocabulary",
             "whole numbers, each once", fmt::format("{} numbers", words.size()));
  c.one_of("output_mode", {"int", "one_hot", "multi_hot", "count"});
  c.one_of("oov_method", {"floormod"});
  c.in_range("num_oov_indices", between(0, kMostCategories));
  c.in_range("max_tokens", between(1, kMostCategories));
  const bool whole = c.site.text("output_mode") == "int";
  c.argument(whole || !flag(c.site, "invert"), "invert", "the output mode int", "another");
  const auto least = c.site.integer("num_oov_indices") + std::ssize(words);
  if (flag(c.site, "pad_to_max_tokens") && !whole) {
    c.argument(c.site.integer("max_tokens", 0) >= least, "max_tokens",
               fmt::format("at least {}", least), c.site.has("max_tokens") ? "less" : "none");
  }
  c.rank("x", at_least(1));
}

}  // namespace

std::vector<Layer> encoding_layers() {
  return {{.name = "CategoryEncoding",
           .summary = "Categories as vectors with a one at the place of each.",
           .arguments = {count("num_tokens"), choice("output_mode", "multi_hot")},
           .require = require_tokens,
           .build = category_encoding,
           .indices = true},
          {.name = "Discretization",
           .summary = "The number of the bin in which each element lies, or that as a vector.",
           .arguments = {{"bin_boundaries", Role::factors},
                         choice("output_mode", "int"),
                         real("epsilon", Role::epsilon, 0.01)},
           .require = require_boundaries,
           .build = discretization,
           .indices = true},
          {.name = "IntegerLookup",
           .summary = "The place of each element in a vocabulary, or that as a vector.",
           .arguments = {{"vocabulary", Role::table},
                         {"num_oov_indices", Role::count, std::int64_t{1}},
                         {"mask_token", Role::number, {}, true},
                         choice("output_mode", "int"),
                         choice("oov_method", "floormod"),
                         {"max_tokens", Role::count, {}, true},
                         {"oov_token", Role::number, std::int64_t{-1}},
                         flag_argument("pad_to_max_tokens", false),
                         flag_argument("invert", false)},
           .require = require_vocabulary,
           .build = lookup,
           .indices = true}};
}

}  // namespace assay::keras
