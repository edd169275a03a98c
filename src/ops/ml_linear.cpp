// ai.onnx.ml: linear models and support vector machines.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/ml_scores.h"
#include "patterns/compute.h"

namespace assay {

void infer_classifier(Infer& n) {
  const Dims* x = n.dims(0);
  const Dim rows = !x ? Dim() : x->size() == 1 ? Dim(1) : (*x)[0];
  const bool text = !n.site.texts("classlabels_strings").empty();
  n.output(0, text ? ElementType::string : ElementType::i64, {rows});
  n.output(1, ElementType::f32, {rows, Dim()});
}

namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

template <class S>
std::vector<S> constants(const std::vector<double>& values) {
  std::vector<S> result;
  for (double value : values) result.push_back(constant<S>(value));
  return result;
}

struct Rows {
  std::int64_t count, width;
};
Rows rows_of(const Shape& x) { return x.size() == 1 ? Rows{1, x[0]} : Rows{x[0], x[1]}; }

// x times the coefficients of each output, which lie one after the other, plus an intercept.
template <class S>
Array<S> linear_scores(Frame<S>& f, std::int64_t outputs) {
  const Array<S> x = f.input(0);
  const Rows rows = rows_of(x.shape);
  const std::vector<S> weights = constants<S>(f.site().reals("coefficients"));
  const std::vector<S> intercepts = constants<S>(f.site().reals("intercepts"));
  Array<S> y(Shape{rows.count, outputs});
  const auto width = static_cast<std::size_t>(rows.width);
  for (std::int64_t r = 0; r < rows.count; ++r)
    for (std::int64_t t = 0; t < outputs; ++t) {
      const std::span<const S> row(x.data.data() + r * rows.width, width);
      const S product = dot(row, std::span<const S>(weights.data() + t * rows.width, width));
      y[r * outputs + t] =
          intercepts.empty() ? product : product + intercepts[static_cast<std::size_t>(t)];
    }
  return y;
}

std::int64_t linear_outputs(const Site& site, std::int64_t width) {
  return width == 0 ? 0 : static_cast<std::int64_t>(site.reals("coefficients").size()) / width;
}

struct LinearRegressor {
  template <class S>
  void operator()(Frame<S>& f) const {
    Array<S> y = linear_scores(f, f.site().integer("targets", 1));
    transform_rows(post_transform_of(f.site().text("post_transform")), y);
    f.output(0, y);
  }
};

// One set of weights for two classes gives the scores -s and s.
struct LinearClassifier {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Rows rows = rows_of(f.shape(0));
    const Tensor labels = class_labels(f.site(), "classlabels_strings", "classlabels_ints");
    Array<S> scores = linear_scores(f, linear_outputs(f.site(), rows.width));
    if (scores.shape[1] == 1 && labels.size() == 2) scores = with_complement(scores, false);
    const PostTransform transform = post_transform_of(f.site().text("post_transform"));
    transform_rows(transform, scores);
    f.output(0, chosen_labels(f, scores, labels));
    f.output(1, scores);
  }
};

void require_linear(Check& c, std::int64_t outputs) {
  require_post_transform(c);
  if (!c.rank("X", between(1, 2))) return;
  const Dim& width = c.dims("X")->back();
  if (!width.known()) return c.undecided("coefficients", "the number of features");
  const auto count = static_cast<std::int64_t>(c.site.reals("coefficients").size());
  const auto intercepts = static_cast<std::int64_t>(c.site.reals("intercepts").size());
  if (outputs < 0) outputs = width.value > 0 ? count / width.value : 0;
  c.argument(outputs > 0 && outputs < (std::int64_t{1} << 31) && count == outputs * width.value,
             "coefficients", fmt::format("{} coefficients for each output", width.value),
             fmt::format("{}", count));
  c.argument(intercepts == 0 || intercepts == outputs, "intercepts",
             fmt::format("{} intercepts", outputs), fmt::format("{}", intercepts));
}

void require_linear_classifier(Check& c) {
  if (!require_labels(c, "classlabels_strings", "classlabels_ints")) return;
  require_linear(c, -1);
  if (!c.violations.empty() || !c.dims("X") || !c.dims("X")->back().known()) return;
  const std::int64_t outputs = linear_outputs(c.site, c.dims("X")->back().value);
  const std::int64_t labels =
      class_labels(c.site, "classlabels_strings", "classlabels_ints").size();
  c.argument(outputs == labels || (outputs == 1 && labels == 2), "labels",
             fmt::format("{} class labels", outputs), fmt::format("{}", labels));
}

// The kernels of support vector machines.
template <class S>
S kernel(const Site& site, std::span<const S> a, std::span<const S> b) {
  const std::vector<double>& given = site.reals("kernel_params");
  const auto parameter = [&](std::size_t i) {
    return constant<S>(i < given.size() ? given[i] : 0.0);
  };
  const std::string& type = site.text("kernel_type");
  if (type == "RBF") {
    std::vector<S> difference;
    for (std::size_t i = 0; i < a.size(); ++i) difference.push_back(a[i] - b[i]);
    return exp(-(parameter(0) * sum_of_squares(std::span<const S>(difference))));
  }
  const S product = dot(a, b);
  if (type == "POLY") return pow(product * parameter(0) + parameter(1), parameter(2));
  if (type == "SIGMOID") return tanh(product * parameter(0) + parameter(1));
  return product;
}

struct SvmRegressor {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0);
    const Rows rows = rows_of(x.shape);
    const auto width = static_cast<std::size_t>(rows.width);
    const std::int64_t supports = f.site().integer("n_supports");
    const std::vector<S> vectors = constants<S>(f.site().reals("support_vectors"));
    const std::vector<S> weights = constants<S>(f.site().reals("coefficients"));
    const S rho = constant<S>(f.site().reals("rho")[0]);
    Array<S> y(Shape{rows.count, 1});
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const std::span<const S> row(x.data.data() + r * rows.width, width);
      std::vector<S> kernels;
      for (std::int64_t j = 0; j < supports; ++j)
        kernels.push_back(
            kernel(f.site(), row, std::span<const S>(vectors.data() + j * rows.width, width)));
      const S score = (supports > 0 ? dot(std::span<const S>(weights), std::span<const S>(kernels))
                                    : dot(row, std::span<const S>(weights))) +
                      rho;
      y[r] = f.site().integer("one_class") != 0
                 ? select(greater(score, zero<S>()), constant<S>(1.0), constant<S>(-1.0))
                 : score;
    }
    transform_rows(post_transform_of(f.site().text("post_transform")), y);
    f.output(0, y);
  }
};

void require_svm(Check& c) {
  require_post_transform(c);
  c.one_of("kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"});
  const std::size_t parameters = c.site.reals("kernel_params").size();
  c.argument(parameters == 0 || parameters == 3, "kernel-parameters", "no or three kernel_params",
             fmt::format("{}", parameters));
  c.argument(!c.site.reals("rho").empty(), "rho", "at least one number in rho", "none");
  c.rank("X", between(1, 2));
}

void require_svm_regressor(Check& c) {
  require_svm(c);
  if (!c.violations.empty() || !c.dims("X") || !c.dims("X")->back().known()) return;
  const std::int64_t width = c.dims("X")->back().value, supports = c.site.integer("n_supports");
  const auto weights = static_cast<std::int64_t>(c.site.reals("coefficients").size());
  const auto vectors = static_cast<std::int64_t>(c.site.reals("support_vectors").size());
  const bool sane = supports >= 0 && supports <= vectors + weights;
  c.argument(sane && (supports == 0 ? weights == width
                                    : weights == supports && vectors == supports * width),
             "support-vectors", "coefficients and support vectors for n_supports",
             fmt::format("{} and {} for {}", weights, vectors, supports));
}

// The classes' support vectors lie one after the other; each pair of classes has a decision.
struct SvmClassifier {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Tensor labels = class_labels(f.site(), "classlabels_strings", "classlabels_ints");
    const Array<S> x = f.input(0);
    const Rows rows = rows_of(x.shape);
    const std::vector<std::int64_t>& per_class = f.site().integers("vectors_per_class");
    const bool pairs = !per_class.empty();
    std::vector<Choice> choices;
    Array<S> scores;
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const std::span<const S> row(x.data.data() + r * rows.width,
                                   static_cast<std::size_t>(rows.width));
      std::vector<S> votes;
      std::vector<S> line = pairs ? decisions(f.site(), row, per_class, &votes)
                                  : linear(f.site(), row, labels.size());
      if (pairs && !f.site().reals("prob_a").empty())
        line = probabilities(f.site(), line, per_class.size());
      choices.push_back(choose(std::span<const S>(pairs ? votes : line)));
      finish(f.site(), line, labels.size());
      scores.data.insert(scores.data.end(), line.begin(), line.end());
      scores.shape = {rows.count, static_cast<std::int64_t>(line.size())};
    }
    for (Choice& choice : choices) choice.at = std::min(choice.at, labels.size() - 1);
    f.output(0, labels_of(f, labels, choices));
    f.output(1, scores);
  }

  // One linear score a class.
  template <class S>
  static std::vector<S> linear(const Site& site, std::span<const S> row, std::int64_t classes) {
    const std::vector<S> weights = constants<S>(site.reals("coefficients"));
    std::vector<S> scores;
    for (std::int64_t c = 0; c < classes; ++c)
      scores.push_back(
          dot(row, std::span<const S>(weights.data() + c * static_cast<std::int64_t>(row.size()),
                                      row.size())) +
          constant<S>(site.reals("rho")[0]));
    return scores;
  }

  // A decision for each pair of classes, and how many each class wins.
  template <class S>
  static std::vector<S> decisions(const Site& site, std::span<const S> row,
                                  const std::vector<std::int64_t>& per_class,
                                  std::vector<S>* votes) {
    const std::vector<S> vectors = constants<S>(site.reals("support_vectors"));
    const std::vector<S> weights = constants<S>(site.reals("coefficients"));
    const std::vector<double>& rho = site.reals("rho");
    std::vector<std::size_t> starts = {0};
    for (std::int64_t count : per_class)
      starts.push_back(starts.back() + static_cast<std::size_t>(count));
    const std::size_t total = starts.back(), classes = per_class.size();
    std::vector<S> kernels, scores;
    for (std::size_t j = 0; j < total; ++j)
      kernels.push_back(
          kernel(site, row, std::span<const S>(vectors.data() + j * row.size(), row.size())));
    votes->assign(classes, zero<S>());
    const auto part = [&](std::size_t line, std::size_t c) {
      const std::size_t count = starts[c + 1] - starts[c];
      return dot(std::span<const S>(weights.data() + line * total + starts[c], count),
                 std::span<const S>(kernels.data() + starts[c], count));
    };
    for (std::size_t i = 0; i < classes; ++i)
      for (std::size_t j = i + 1; j < classes; ++j) {
        const S score = part(j - 1, i) + part(i, j) + constant<S>(rho[scores.size()]);
        scores.push_back(score);
        const S win = select(greater(score, zero<S>()), constant<S>(1.0), zero<S>());
        (*votes)[i] = (*votes)[i] + win;
        (*votes)[j] = (*votes)[j] + (constant<S>(1.0) - win);
      }
    return scores;
  }

  // Platt's pairwise probabilities coupled into one for each class by Wu, Lin and Weng's iteration.
  template <class S>
  static std::vector<S> probabilities(const Site& site, const std::vector<S>& scores,
                                      std::size_t classes) {
    const std::vector<double>&a = site.reals("prob_a"), &b = site.reals("prob_b");
    std::vector<double> pair(classes * classes);
    std::size_t next = 0;
    for (std::size_t i = 0; i < classes; ++i)
      for (std::size_t j = i + 1; j < classes; ++j, ++next) {
        const double p = 1 - sigmoid(to_double(scores[next]) * a[next] + b[next]);
        pair[i * classes + j] = std::clamp(p, 1e-7, 1 - 1e-7);
        pair[j * classes + i] = 1 - pair[i * classes + j];
      }
    if constexpr (!std::is_same_v<S, double>)
      throw InexactDecision("the coupling of probabilities iterates");
    return constants<S>(coupled(pair, classes));
  }

  static std::vector<double> coupled(const std::vector<double>& r, std::size_t k) {
    std::vector<double> q(k * k), p(k, 1 / static_cast<double>(k)), qp(k);
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t j = 0; j < k; ++j) {
        if (j == t) continue;
        q[t * k + t] += r[j * k + t] * r[j * k + t];
        q[t * k + j] = -r[j * k + t] * r[t * k + j];
      }
    for (std::size_t round = 0; round < std::max<std::size_t>(100, k); ++round) {
      double total = 0, error = 0;
      for (std::size_t t = 0; t < k; ++t) {
        qp[t] = 0;
        for (std::size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
        total += p[t] * qp[t];
      }
      for (std::size_t t = 0; t < k; ++t) error = std::max(error, std::abs(qp[t] - total));
      if (error < 0.005 / static_cast<double>(k)) break;
      for (std::size_t t = 0; t < k; ++t) {
        const double step = (total - qp[t]) / q[t * k + t];
        p[t] += step;
        total = (total + step * (step * q[t * k + t] + 2 * qp[t])) / (1 + step) / (1 + step);
        for (std::size_t j = 0; j < k; ++j) {
          qp[j] = (qp[j] + step * q[t * k + j]) / (1 + step);
          p[j] /= 1 + step;
        }
      }
    }
    return p;
  }

  // One decision between two classes is shown as two scores.
  template <class S>
  static void finish(const Site& site, std::vector<S>& scores, std::int64_t classes) {
    if (scores.size() == 1 && classes == 2) scores = {-scores[0], scores[0]};
    apply(post_transform_of(site.text("post_transform")), std::span<S>(scores));
  }
};

void require_svm_classifier(Check& c) {
  require_svm(c);
  require_labels(c, "classlabels_strings", "classlabels_ints");
  if (!c.violations.empty() || !c.dims("X") || !c.dims("X")->back().known()) return;
  const std::int64_t width = c.dims("X")->back().value;
  const std::int64_t classes =
      class_labels(c.site, "classlabels_strings", "classlabels_ints").size();
  const std::vector<std::int64_t>& per_class = c.site.integers("vectors_per_class");
  const auto weights = static_cast<std::int64_t>(c.site.reals("coefficients").size());
  const auto vectors = static_cast<std::int64_t>(c.site.reals("support_vectors").size());
  if (per_class.empty()) {
    c.argument(weights == classes * width, "support-vectors",
               fmt::format("{} coefficients", classes * width), fmt::format("{}", weights));
    return;
  }
  std::int64_t total = 0;
  for (std::int64_t count : per_class)
    total = count < 0 || total > vectors ? vectors + 1 : total + count;
  const auto k = static_cast<std::int64_t>(per_class.size());
  const auto pairs = static_cast<std::size_t>(k * (k - 1) / 2);
  c.argument(
      k == classes && total <= vectors && vectors == total * width && weights == (k - 1) * total,
      "support-vectors", "support vectors and coefficients for vectors_per_class",
      fmt::format("{} and {} for {} vectors of {} classes", vectors, weights, total, classes));
  c.argument(c.site.reals("rho").size() >= pairs, "rho", fmt::format("{} numbers in rho", pairs),
             fmt::format("{}", c.site.reals("rho").size()));
  const std::size_t a = c.site.reals("prob_a").size(), b = c.site.reals("prob_b").size();
  c.argument(a == b && (a == 0 || a >= pairs), "probabilities",
             fmt::format("{} numbers in prob_a and prob_b", pairs), fmt::format("{} and {}", a, b));
}

void infer_regressor(Infer& n) {
  const Dims* x = n.dims(0);
  const Dim rows = !x ? Dim() : x->size() == 1 ? Dim(1) : (*x)[0];
  n.output(0, ElementType::f32, {rows, Dim(n.site.integer("targets", 1))});
}

const std::vector<AttributeRole> kSvmRoles = {
    {"coefficients", Role::table}, {"kernel_params", Role::factors},
    {"kernel_type", Role::choice}, {"post_transform", Role::choice},
    {"rho", Role::factors},        {"support_vectors", Role::table}};

std::vector<AttributeRole> with(std::vector<AttributeRole> roles,
                                std::initializer_list<AttributeRole> more) {
  roles.insert(roles.end(), more);
  return roles;
}

}  // namespace

std::vector<Operator> ml_linear_operators() {
  return {{.name = "LinearClassifier",
           .domain = kDomain,
           .versions = {1},
           .summary = "The class with the largest linear score, and the scores.",
           .attributes = {{"classlabels_ints", Role::table},
                          {"classlabels_strings", Role::table},
                          {"coefficients", Role::table},
                          {"intercepts", Role::table},
                          {"multi_class", Role::flag},
                          {"post_transform", Role::choice}},
           .require = require_linear_classifier,
           .infer = infer_classifier,
           .meaning = compute<LinearClassifier>(Pattern::contraction)},
          {.name = "LinearRegressor",
           .domain = kDomain,
           .versions = {1},
           .summary = "x times the coefficients, plus the intercepts.",
           .attributes = {{"coefficients", Role::table},
                          {"intercepts", Role::table},
                          {"post_transform", Role::choice},
                          {"targets", Role::count}},
           .require =
               [](Check& c) {
                 if (c.in_range("targets", between(1, std::int64_t{1} << 20)))
                   require_linear(c, c.site.integer("targets", 1));
               },
           .infer = infer_regressor,
           .meaning = compute<LinearRegressor>(Pattern::contraction)},
          {.name = "SVMClassifier",
           .domain = kDomain,
           .versions = {1},
           .summary = "The class that wins most decisions between two classes, and the scores.",
           .attributes = with(kSvmRoles, {{"classlabels_ints", Role::table},
                                          {"classlabels_strings", Role::table},
                                          {"prob_a", Role::table},
                                          {"prob_b", Role::table},
                                          {"vectors_per_class", Role::table}}),
           .require = require_svm_classifier,
           .infer = infer_classifier,
           .meaning = compute<SvmClassifier>(Pattern::contraction)},
          {.name = "SVMRegressor",
           .domain = kDomain,
           .versions = {1},
           .summary = "The weighted sum of kernels with the support vectors, plus rho.",
           .attributes = with(kSvmRoles, {{"n_supports", Role::count}, {"one_class", Role::flag}}),
           .require = require_svm_regressor,
           .infer = infer_regressor,
           .meaning = compute<SvmRegressor>(Pattern::contraction)}};
}

}  // namespace assay
