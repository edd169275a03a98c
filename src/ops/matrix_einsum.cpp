// Einsum: sums of products over named indices, taken two operands at a time as matrix products.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "ops/matrix.h"
#include "ops/window_checks.h"

namespace assay {
namespace {

// Indices are numbered: letters by their code, the axes of the ellipsis from kEllipsis on.
constexpr int kEllipsis = 1000;
using Labels = std::vector<int>;

struct Term {
  Labels letters;     // without the ellipsis
  int ellipsis = -1;  // before which letter it stands; -1: none
};

struct Equation {
  std::vector<Term> inputs;
  std::optional<Term> output;
  std::string fault;  // why there is none
};

bool parse_term(std::string_view text, Term& term, std::string& fault) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.substr(i, 3) != "..." || term.ellipsis >= 0) {
        fault = "an ellipsis of three dots, once a term";
        return false;
      }
      term.ellipsis = static_cast<int>(term.letters.size());
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term.letters.push_back(c);
    } else {
      fault = "letters, commas, ellipses and one arrow";
      return false;
    }
  }
  return true;
}

Equation parse(const std::string& text) {
  Equation equation;
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  for (std::size_t at = 0; at <= left.size();) {
    const std::size_t comma = std::min(left.find(',', at), left.size());
    Term term;
    if (!parse_term(std::string_view(left).substr(at, comma - at), term, equation.fault))
      return equation;
    equation.inputs.push_back(term);
    at = comma + 1;
  }
  if (arrow == std::string::npos) return equation;
  Term term;
  if (!parse_term(std::string_view(text).substr(arrow + 2), term, equation.fault)) return equation;
  for (std::size_t i = 0; i < term.letters.size(); ++i) {
    const auto used = [&](const Term& input) {
      return std::count(input.letters.begin(), input.letters.end(), term.letters[i]) > 0;
    };
    if (std::count(term.letters.begin(), term.letters.end(), term.letters[i]) > 1 ||
        std::none_of(equation.inputs.begin(), equation.inputs.end(), used))
      equation.fault = "letters of the output once there, and in an input";
  }
  equation.output = term;
  return equation;
}

// The labels of a term's axes when an ellipsis stands for `width` of them.
Labels labels_of(const Term& term, int width) {
  Labels labels;
  for (int i = 0; i <= static_cast<int>(term.letters.size()); ++i) {
    if (i == term.ellipsis)
      for (int d = 0; d < width; ++d) labels.push_back(kEllipsis + d);
    if (i < static_cast<int>(term.letters.size()))
      labels.push_back(term.letters[static_cast<std::size_t>(i)]);
  }
  return labels;
}

Labels output_labels(const Equation& equation, int width) {
  if (equation.output) return labels_of(*equation.output, width);
  std::map<int, int> uses;
  bool ellipsis = false;
  for (const Term& term : equation.inputs) {
    ellipsis = ellipsis || term.ellipsis >= 0;
    for (int letter : term.letters) ++uses[letter];
  }
  Labels labels;
  for (int d = 0; ellipsis && d < width; ++d) labels.push_back(kEllipsis + d);
  for (const auto& [letter, count] : uses)
    if (count == 1) labels.push_back(letter);
  return labels;
}

// How many axes the ellipses stand for; -1 if no rank says so.
int ellipsis_width(const Equation& equation, const Site& site) {
  for (std::size_t i = 0; i < equation.inputs.size(); ++i)
    if (const auto rank = site.rank(i); rank && equation.inputs[i].ellipsis >= 0)
      return static_cast<int>(*rank) - static_cast<int>(equation.inputs[i].letters.size());
  const bool none = std::none_of(equation.inputs.begin(), equation.inputs.end(),
                                 [](const Term& t) { return t.ellipsis >= 0; });
  return none ? 0 : -1;
}

// The extent of every label: an extent of 1 gives way to another operand's.
std::map<int, Dim> extents_of(const Equation& equation, const Site& site, int width) {
  std::map<int, Dim> extents;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    const Dims* dims = site.dims(i);
    const Labels labels = labels_of(equation.inputs[i], width);
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const Dim own = dims && dims->size() == labels.size() ? (*dims)[d] : Dim();
      const auto [at, fresh] = extents.emplace(labels[d], own);
      if (!fresh) at->second = broadcast_dims({at->second}, {own}).front();
    }
  }
  return extents;
}

void require_extents(Check& c, const Equation& equation, int width) {
  std::map<int, Dim> seen;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    const Dims* dims = c.site.dims(i);
    if (!dims) continue;
    std::map<int, Dim> own;
    const Labels labels = labels_of(equation.inputs[i], width);
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const Dim& extent = (*dims)[d];
      // Along a diagonal, extents must be the same; between operands, 1 is repeated.
      const auto [at, fresh] = own.emplace(labels[d], extent);
      const auto [other, first] = seen.emplace(labels[d], extent);
      const bool clash =
          other->second.differs_from(extent) && other->second.value != 1 && extent.value != 1;
      if (!c.shape(!(at->second.differs_from(extent) || clash), "extents",
                   "one extent for each letter", to_text(*dims)))
        return;
      if (!at->second.same_as(extent) || !(other->second.known() && extent.known()))
        c.undecided("extents", fmt::format("the extents of operand {}", i));
      if (other->second.known() && other->second.value == 1) other->second = extent;
    }
  }
}

void require_einsum(Check& c) {
  const Equation equation = parse(c.site.text("equation"));
  if (!c.argument(equation.fault.empty(), "equation", equation.fault, c.site.text("equation")))
    return;
  if (equation.inputs.size() != c.site.input_count()) {
    c.argument(false, "operands", fmt::format("{} operands", equation.inputs.size()),
               fmt::format("{}", c.site.input_count()));
    return;
  }
  const int width = ellipsis_width(equation, c.site);
  const bool elided = std::any_of(equation.inputs.begin(), equation.inputs.end(),
                                  [](const Term& t) { return t.ellipsis >= 0; });
  if (!c.argument(elided || !equation.output || equation.output->ellipsis < 0, "equation",
                  "an ellipsis of the output in an input too", c.site.text("equation")))
    return;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    const auto rank = c.site.rank(i);
    if (!rank) {
      c.undecided("operand-rank", fmt::format("the rank of operand {}", i));
      continue;
    }
    const bool fits = width >= 0 && *rank == static_cast<std::int64_t>(
                                                 labels_of(equation.inputs[i], width).size());
    if (fits) continue;
    c.shape(false, "operand-rank", "an axis for each letter, and as many for each ellipsis",
            fmt::format("operand {} of rank {}", i, *rank));
    return;
  }
  if (width < 0) return;
  require_extents(c, equation, width);
  if (!c.violations.empty()) return;
  const std::map<int, Dim> extents = extents_of(equation, c.site, width);
  Dims result;
  for (int label : output_labels(equation, width)) result.push_back(extents.at(label));
  require_size(c, result);
}

void infer_einsum(Infer& n) {
  const Equation equation = parse(n.site.text("equation"));
  const int width = ellipsis_width(equation, n.site);
  if (!equation.fault.empty() || width < 0 || equation.inputs.size() != n.site.input_count())
    return n.output(0, n.element(0));
  const std::map<int, Dim> extents = extents_of(equation, n.site, width);
  Dims result;
  for (int label : output_labels(equation, width)) {
    const auto found = extents.find(label);
    result.push_back(found == extents.end() ? Dim() : found->second);
  }
  n.output(0, n.element(0), result);
}

// An operand on its way: each label once.
template <class S>
struct Operand {
  Labels labels;
  Array<S> elements;
};

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// The operand with its axes in the order of `to` (all of them its own), the strides given by label.
template <class S>
Operand<S> gathered(const Array<S>& from, const Labels& to,
                    const std::map<int, std::int64_t>& extents,
                    const std::map<int, std::int64_t>& strides) {
  Operand<S> result;
  result.labels = to;
  Shape shape;
  for (int label : to) shape.push_back(extents.at(label));
  result.elements = Array<S>(shape);
  std::vector<std::int64_t> index(to.size()), steps;
  for (int label : to) steps.push_back(strides.at(label));
  std::int64_t at = 0;
  for (S& element : result.elements.data) {
    element = from[at];
    for (std::size_t d = to.size(); d-- > 0;) {
      at += steps[d];
      if (++index[d] < shape[d]) break;
      at -= index[d] * steps[d];
      index[d] = 0;
    }
  }
  return result;
}

template <class S>
Operand<S> ordered(const Operand<S>& x, const Labels& to) {
  if (x.labels == to) return x;
  std::map<int, std::int64_t> extents, strides;
  const Shape own = strides_of(x.elements.shape);
  for (std::size_t d = 0; d < x.labels.size(); ++d) {
    extents[x.labels[d]] = x.elements.shape[d];
    strides[x.labels[d]] = own[d];
  }
  return gathered(x.elements, to, extents, strides);
}

// Diagonals taken, and axes of extent 1 that another operand has longer left away.
template <class S>
Operand<S> prepared(Array<S> x, const Labels& labels, const std::map<int, std::int64_t>& whole) {
  Labels once;
  std::map<int, std::int64_t> extents, strides;
  const Shape own = strides_of(x.shape);
  for (std::size_t d = 0; d < labels.size(); ++d) {
    if (x.shape[d] != whole.at(labels[d])) continue;
    if (!has(once, labels[d])) once.push_back(labels[d]);
    extents[labels[d]] = x.shape[d];
    strides[labels[d]] += own[d];
  }
  if (once == labels) return {once, std::move(x)};
  return gathered(x, once, extents, strides);
}

template <class S>
std::int64_t size_of(const Operand<S>& x, const Labels& labels) {
  std::int64_t size = 1;
  for (std::size_t d = 0; d < x.labels.size(); ++d)
    if (has(labels, x.labels[d])) size *= x.elements.shape[d];
  return size;
}

// The product of two operands, summed over the labels that are not in `kept`.
template <class S>
Operand<S> joined(const Operand<S>& a, const Operand<S>& b, const Labels& kept) {
  Labels batch, left, right, inner;
  for (int label : a.labels) {
    const bool shared = has(b.labels, label);
    (shared ? (has(kept, label) ? batch : inner) : left).push_back(label);
  }
  for (int label : b.labels)
    if (!has(a.labels, label)) right.push_back(label);
  const auto chain = [](Labels x, const Labels& y, const Labels& z) {
    x.insert(x.end(), y.begin(), y.end());
    x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  const Operand<S> x = ordered(a, chain(batch, left, inner)),
                   y = ordered(b, chain(batch, inner, right));
  const std::int64_t m = size_of(x, left), n = size_of(y, right), k = size_of(x, inner);
  const std::int64_t count = size_of(x, batch);
  Operand<S> result;
  result.labels = chain(batch, left, right);
  Shape shape;
  for (int label : result.labels) {
    const Operand<S>& source = has(x.labels, label) ? x : y;
    const auto d =
        std::find(source.labels.begin(), source.labels.end(), label) - source.labels.begin();
    shape.push_back(source.elements.shape[static_cast<std::size_t>(d)]);
  }
  const auto size = checked_element_count(shape);
  if (!size || *size >= std::int64_t{1} << 31)
    throw EvaluationError("Einsum.size", "Einsum's product of two operands has too many elements");
  result.elements = Array<S>(shape);
  for (std::int64_t t = 0; t < count; ++t)
    multiply<S>(m, n, k, {x.elements.data.data() + t * m * k, k, 1},
                {y.elements.data.data() + t * k * n, n, 1},
                result.elements.data.data() + t * m * n);
  return result;
}

// The whole expression. Labels that only one operand has are summed when that operand comes.
template <class S>
Array<S> evaluated(const std::vector<Operand<S>>& operands, const Labels& output) {
  Operand<S> total;
  total.elements = Array<S>(Shape{}, constant<S>(1));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Labels kept = output;
    for (std::size_t later = i + 1; later < operands.size(); ++later)
      kept.insert(kept.end(), operands[later].labels.begin(), operands[later].labels.end());
    Operand<S> next = operands[i];
    Labels lone, rest;
    for (int label : next.labels)
      (has(kept, label) || has(total.labels, label) ? rest : lone).push_back(label);
    if (!lone.empty()) {
      Operand<S> ones;
      ones.labels = lone;
      Shape shape;
      for (int label : lone)
        shape.push_back(next.elements.shape[static_cast<std::size_t>(
            std::find(next.labels.begin(), next.labels.end(), label) - next.labels.begin())]);
      ones.elements = Array<S>(shape, constant<S>(1));
      next = joined(next, ones, rest);
    }
    total = i == 0 ? std::move(next) : joined(total, next, kept);
  }
  return ordered(total, output).elements;
}

// What may be known of the operands together, to bound every order of evaluation: the sums of the
// products of magnitudes, the number of terms, and the largest product of parts.
struct Magnitudes {
  Array<double> values, sizes, reaches;
  double terms = 1, largest = 1;
  bool finite = true;
};

struct Einsum {
  Equation equation;
  explicit Einsum(const Call& call) : equation(parse(call.site.text("equation"))) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const int width = ellipsis_width(equation, frame.site());
    std::map<int, std::int64_t> whole;
    for (const auto& [label, dim] : extents_of(equation, frame.site(), width))
      whole[label] = dim.value;
    const Labels output = output_labels(equation, width);
    if constexpr (Plain<S>) {
      frame.output(
          0, evaluated(operands<S>(frame, whole, width, [](const S& x) { return x; }), output));
    } else {
      frame.output(0, enclosures(frame, whole, width, output));
    }
  }

 private:
  template <class To, class S, class Get>
  std::vector<Operand<To>> operands(const Frame<S>& frame, const std::map<int, std::int64_t>& whole,
                                    int width, const Get& get) const {
    std::vector<Operand<To>> result;
    for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
      const Array<S> own = frame.input(i);
      Array<To> values(own.shape);
      for (std::int64_t j = 0; j < own.size(); ++j) values[j] = get(own[j]);
      result.push_back(prepared(std::move(values), labels_of(equation.inputs[i], width), whole));
    }
    return result;
  }

  static double middle(const Bounded& x) { return x.value; }
  static double spread(const Bounded& x) { return x.error; }
  static double middle(const Interval& x) {
    return x.nan || !x.has_number() ? std::nan("") : x.low + (x.high - x.low) / 2;
  }
  static double spread(const Interval& x) {
    const double mid = middle(x);
    return x.low == x.high ? 0 : std::max(x.high - mid, mid - x.low) * (1 + 0x1p-50);
  }

  template <class S>
  Magnitudes magnitudes(const Frame<S>& frame, const std::map<int, std::int64_t>& whole, int width,
                        const Labels& output) const {
    Magnitudes m;
    const auto values = operands<double>(frame, whole, width, [](const S& x) { return middle(x); });
    const auto sizes =
        operands<double>(frame, whole, width, [](const S& x) { return std::abs(middle(x)); });
    const auto reaches = operands<double>(
        frame, whole, width, [](const S& x) { return std::abs(middle(x)) + spread(x); });
    for (const Operand<double>& operand : reaches) {
      double top = 1;
      for (double x : operand.elements.data) {
        m.finite = m.finite && std::isfinite(x);
        top = std::max(top, x);
      }
      m.largest *= top;
    }
    for (const auto& [label, extent] : whole)
      if (!has(output, label)) m.terms *= static_cast<double>(extent);
    m.values = evaluated(values, output);
    m.sizes = evaluated(sizes, output);
    m.reaches = evaluated(reaches, output);
    return m;
  }

  template <class S>
  Array<S> enclosures(const Frame<S>& frame, const std::map<int, std::int64_t>& whole, int width,
                      const Labels& output) const {
    const Magnitudes m = magnitudes(frame, whole, width, output);
    const auto count = static_cast<double>(equation.inputs.size());
    const Rounding& rules = rounding();
    // Every term passes through at most so many operations, whatever the order.
    const double steps = m.terms + count;
    const double gamma =
        rules.accumulation(static_cast<std::size_t>(std::min(steps, 0x1p50))) + 0x1p-50 * steps;
    const bool safe = m.finite && (count < 3 || m.largest * m.terms <= rules.largest);
    Array<S> y(m.values.shape);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const double reach = m.reaches[i] * (1 + gamma);
      const double flushed = rules.tiny * 2 * steps * m.largest;
      const double error =
          m.reaches[i] == 0
              ? 0
              : ((m.reaches[i] - m.sizes[i]) + gamma * reach + flushed) * (1 + 0x1p-40);
      y[i] = enclosed<S>(m.values[i], error, safe && reach <= rules.largest);
    }
    return y;
  }

  template <class S>
  static S enclosed(double value, double error, bool safe) {
    if constexpr (std::is_same_v<S, Bounded>) {
      return safe && std::isfinite(error) ? settle(value, error) : Bounded::anything(value);
    } else {
      if (!safe || !std::isfinite(error)) return Interval::everything();
      return error == 0 ? Interval::point(value) : Interval{value - error, value + error, false};
    }
  }
};

Operator einsum() {
  return {.name = "Einsum",
          .versions = {12, 28},
          .summary = "A sum of products over named indices.",
          .attributes = {{"equation", Role::text}},
          .require = require_einsum,
          .infer = infer_einsum,
          .meaning = compute<Einsum, RealsAndIntegers>(Pattern::contraction)};
}

}  // namespace

std::vector<Operator> einsum_operators() { return {einsum()}; }

}  // namespace assay
