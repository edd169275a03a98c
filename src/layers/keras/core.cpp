// Dense layers, tables of vectors, masks, and layers around other layers.
#include <regex>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

Weights dense_weights(const Site& site) {
  const Dim units = site.integer("units");
  Weights weights = {{"kernel", {extent(site, -1), units}}};
  if (flag(site, "use_bias")) weights.push_back({"bias", {units}});
  return weights;
}

std::string dense(Body& l) { return l.activated(l.biased(l("MatMul", {l.x, l.weight("kernel")}))); }

// "...x,xy->...y": the letters of the input, the kernel and the output, and where axes are left
// out in the first and the last.
struct Equation {
  std::string input, kernel, output;
  bool before = false, after = false;
};

std::optional<Equation> equation(const Site& site) {
  static const std::regex kForm(
      R"((\.\.\.)?([a-zA-Z]+)(\.\.\.)?,([a-zA-Z]+)->(\.\.\.)?([a-zA-Z]+)(\.\.\.)?)");
  std::string text = site.text("equation");
  std::erase(text, ' ');
  std::smatch parts;
  if (!std::regex_match(text, parts, kForm) || parts[1].matched != parts[5].matched ||
      parts[3].matched != parts[7].matched) {
    return std::nullopt;
  }
  return Equation{parts[2], parts[4], parts[6], parts[1].matched, parts[3].matched};
}

// The extent that a letter stands for: in the input, or at the end or front of output_shape.
Dim letter_extent(const Site& site, const Equation& e, char letter) {
  const auto place = [&](const std::string& letters, std::int64_t count) {
    const auto at = static_cast<std::int64_t>(letters.find(letter));
    return e.before ? at - static_cast<std::int64_t>(letters.size()) + count : at;
  };
  const Dims* dims = site.dims(0);
  if (e.input.find(letter) != std::string::npos) {
    return dims ? extent(site, place(e.input, static_cast<std::int64_t>(dims->size()))) : Dim();
  }
  // output_shape leaves the batch out.
  Integers shape = site.integers("output_shape");
  const auto size = static_cast<std::int64_t>(shape.size());
  const std::int64_t at = e.before ? place(e.output, size) : place(e.output, size) - 1;
  const bool there = at >= 0 && at < size && shape[static_cast<std::size_t>(at)] > 0;
  return there ? Dim(shape[static_cast<std::size_t>(at)]) : Dim();
}

Weights einsum_weights(const Site& site) {
  const auto e = equation(site);
  if (!e) return {};
  Weights weights = {{"kernel", {}}};
  for (char letter : e->kernel) weights[0].shape.push_back(letter_extent(site, *e, letter));
  const std::string& axes = site.text("bias_axes");
  if (axes.empty()) return weights;
  weights.push_back({"bias", {}});
  const std::size_t first = e->output.find_first_of(axes);
  for (char letter : e->output.substr(std::min(first, e->output.size()))) {
    const bool own = axes.find(letter) != std::string::npos;
    weights[1].shape.push_back(own ? letter_extent(site, *e, letter) : Dim(1));
  }
  return weights;
}

std::string einsum_dense(Body& l) {
  std::string text = l.site.text("equation");
  std::erase(text, ' ');
  std::string y = l("Einsum", {l.x, l.weight("kernel")}, {attribute("equation", text)});
  if (const std::string bias = l.weight("bias"); !bias.empty()) y = l("Add", {y, bias});
  return l.activated(y);
}

void require_einsum(Check& c) {
  const auto e = equation(c.site);
  if (!c.argument(e.has_value(), "equation", "an equation such as abc,cd->abd",
                  c.site.text("equation"))) {
    return;
  }
  const auto letters = static_cast<std::int64_t>(e->input.size());
  c.rank("x", e->before || e->after ? at_least(letters) : exactly(letters));
  require_activation(c);
}

Weights embedding_weights(const Site& site) {
  return {{"embeddings", {Dim(site.integer("input_dim")), Dim(site.integer("output_dim"))}}};
}

std::string embedding(Body& l) {
  const std::string rows =
      l("Cast", {l.x}, {attribute("to", static_cast<std::int64_t>(ElementType::i64))});
  return l("Gather", {l.weight("embeddings"), rows}, {attribute("axis", 0)});
}

// The same table in both directions, or one for each.
Weights reversible_weights(const Site& site) {
  Weights weights = embedding_weights(site);
  const Dims& table = weights.front().shape;
  if (!flag(site, "tie_weights")) weights.push_back({"reverse_embeddings", {table[1], table[0]}});
  return weights;
}

std::string reversible_embedding(Body& l) {
  if (!flag(l.site, "reverse")) return embedding(l);
  const std::string back = l.weight("reverse_embeddings");
  std::string y =
      l("MatMul", {l.x, back.empty() ? l.transposed(l.weight("embeddings"), {1, 0}) : back});
  if (!l.site.has("logit_soft_cap")) return y;
  const std::string cap = l.number(l.site.real("logit_soft_cap"));
  return l("Mul", {l("Tanh", {l("Div", {y, cap})}), cap});
}

// A step all of whose elements are the mask's value becomes zero.
std::string masking(Body& l) {
  const std::string other = l("Not", {l("Equal", {l.x, l.number(l.site.real("mask_value"))})});
  const std::string any =
      l("ReduceMax", {l("Cast", {other}, {attribute("to", static_cast<std::int64_t>(l.type()))}),
                      l.b.integers({-1})});
  return l("Mul", {l.x, any});
}

}  // namespace

std::vector<Layer> core_layers() {
  return {
      {.name = "InputLayer",
       .summary = "An input of the model.",
       .build = [](Body& l) { return l("Identity", {l.x}); }},
      {.name = "Dense",
       .summary = "activation(x · kernel + bias), along the last axis.",
       .arguments = {count("units"), activation(), use_bias()},
       .weights = dense_weights,
       .require =
           [](Check& c) { c.positive({"units"}), c.rank("x", at_least(2)), require_activation(c); },
       .build = dense,
       .masks = Masks::pass},
      {.name = "EinsumDense",
       .summary = "activation(einsum(equation, x, kernel) + bias).",
       .arguments = {{"equation", Role::text},
                     {"output_shape", Role::sizes},
                     activation(),
                     {"bias_axes", Role::text, {}, true}},
       .weights = einsum_weights,
       .require = require_einsum,
       .build = einsum_dense},
      {.name = "Embedding",
       .summary = "The row of the table that each element of the input numbers.",
       .arguments = {count("input_dim"), count("output_dim"), flag_argument("mask_zero", false)},
       .weights = embedding_weights,
       .require =
           [](Check& c) {
             c.positive({"input_dim", "output_dim"});
           },
       .build = embedding,
       .indices = true,
       .masks = Masks::make},
      {.name = "ReversibleEmbedding",
       .summary = "An Embedding, or back from its vectors to a score for each row.",
       .arguments = {count("input_dim"),
                     count("output_dim"),
                     flag_argument("tie_weights", true),
                     flag_argument("mask_zero", false),
                     {"logit_soft_cap", Role::factor, {}, true},
                     flag_argument("reverse", false)},
       .weights = reversible_weights,
       .require =
           [](Check& c) {
             c.positive({"input_dim", "output_dim"});
             if (flag(c.site, "reverse")) {
               c.extent("x", -1, Dim(c.site.integer("output_dim")), "output_dim");
             }
           },
       .build = reversible_embedding,
       .indices = true,
       .since = 3,
       .masks = Masks::make},
      {.name = "Identity",
       .summary = "x.",
       .build = [](Body& l) { return l("Identity", {l.x}); },
       .masks = Masks::pass},
      {.name = "ActivityRegularization",
       .summary = "x; adds to the loss in training.",
       .arguments = {real("l1", Role::factor, 0), real("l2", Role::factor, 0)},
       .build = [](Body& l) { return l("Identity", {l.x}); },
       .masks = Masks::pass},
      {.name = "Rescaling",
       .summary = "x · scale + offset.",
       .arguments = {{"scale", Role::factor}, real("offset", Role::factor, 0)},
       .build =
           [](Body& l) {
             const std::string scaled = l("Mul", {l.x, l.number(l.site.real("scale"))});
             return l("Add", {scaled, l.number(l.site.real("offset"))});
           },
       .masks = Masks::pass},
      {.name = "Masking",
       .summary = "x, but zero where all elements of a step are mask_value.",
       .arguments = {real("mask_value", Role::factor, 0)},
       .require = [](Check& c) { c.rank("x", at_least(2)); },
       .build = masking,
       .masks = Masks::make},
  };
}

}  // namespace assay::keras
