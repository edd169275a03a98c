// Operators that draw random numbers: the same ones for the same seed, on every machine.
//
// The value and the bounded reading are of one drawing; the interval is all that may be drawn.
#include <bit>
#include <cmath>
#include <numbers>
#include <random>

#include <fmt/format.h>

#include "ops/alignment.h"
#include "ops/families.h"
#include "ops/output_type.h"
#include "ops/shape_numbers.h"
#include "patterns/compute.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The library's distributions differ between machines, its engine does not.
class Drawing {
 public:
  explicit Drawing(const Call& call) : engine_(seed_of(call)) {}

  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // in [0, 1)

  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  static std::uint64_t seed_of(const Call& call) {
    if (!call.site.has("seed")) return call.evaluator.seed(std::nullopt);
    const std::int64_t whole = call.site.integer("seed");
    return call.evaluator.seed(whole != 0 ? static_cast<std::uint64_t>(whole)
                                          : std::bit_cast<std::uint64_t>(call.site.real("seed")));
  }

  std::mt19937_64 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

bool require_finite(Check& c, std::string_view attribute) {
  const double value = c.site.real(attribute);
  return c.argument(std::isfinite(value), "finite", fmt::format("a finite {}", attribute),
                    fmt::format("{}", value));
}

// Fills the output with drawn numbers, or with the range from which they are drawn.
template <class Draw>
void fill(Call& call, const Interval& support, const Draw& draw) {
  const Shape shape = call.output_shape(0);
  const ElementType type = call.output_type(0);
  require_room(call);
  if (call.reading == Reading::interval) {
    call.outputs[0] = settle(type, Array<Interval>(shape, support));
    return;
  }
  Drawing drawing(call);
  Settler<double> settler(type, shape);
  const std::int64_t count = element_count(shape);
  std::vector<double> some(static_cast<std::size_t>(std::min<std::int64_t>(count, 4096)));
  for (std::int64_t at = 0; at < count; at += 4096) {
    const std::int64_t length = std::min<std::int64_t>(count - at, 4096);
    for (std::int64_t i = 0; i < length; ++i) some[static_cast<std::size_t>(i)] = draw(drawing);
    settler.put(at, length, some.data());
  }
  call.outputs[0] = settler.finish();
}

void evaluate_normal(Call& call) {
  const double mean = call.site.real("mean"), scale = call.site.real("scale");
  const Interval support =
      scale == 0 ? Interval::point(mean) : Interval{-kInfinity, kInfinity, false};
  fill(call, support, [&](Drawing& drawing) { return mean + scale * drawing.normal(); });
}

void evaluate_uniform(Call& call) {
  const double low = call.site.real("low"), high = call.site.real("high");
  const Interval support{std::min(low, high), std::max(low, high), false};
  fill(call, support, [&](Drawing& drawing) { return low + (high - low) * drawing.uniform(); });
}

void require_normal(Check& c) {
  require_finite(c, "mean");
  if (require_finite(c, "scale"))
    c.argument(c.site.real("scale") >= 0, "scale-range", "a deviation of at least 0",
               fmt::format("{}", c.site.real("scale")));
}

void require_uniform(Check& c) {
  const bool low = require_finite(c, "low"), high = require_finite(c, "high");
  if (low && high)
    c.argument(c.site.real("low") <= c.site.real("high"), "ordered", "low up to high",
               fmt::format("{} and {}", c.site.real("low"), c.site.real("high")));
}

void require_shape(Check& c) {
  require_named_type(c, "T", named_type(c.site, "dtype", ElementType::f32));
  if (!c.required("shape") || !c.not_negative({"shape"})) return;
  sensible_size(c, to_dims(c.site.integers("shape")));
}

void infer_shape(Infer& n) {
  n.output(0, named_type(n.site, "dtype", ElementType::f32), to_dims(n.site.integers("shape")));
}

void require_like(Check& c) {
  require_named_type(c, "T2", named_type(c.site, "dtype", c.site.element(0)));
}

void infer_like(Infer& n) {
  ValueType type = ValueType::tensor(named_type(n.site, "dtype", n.element(0)));
  if (const Dims* x = n.dims(0)) type.dims = *x;
  n.output(0, std::move(type));
}

const std::vector<AttributeRole> kNormalRoles = {{"dtype", Role::type},
                                                 {"mean", Role::factor},
                                                 {"scale", Role::factor},
                                                 {"seed", Role::seed},
                                                 {"shape", Role::sizes}};
const std::vector<AttributeRole> kUniformRoles = {{"dtype", Role::type},
                                                  {"high", Role::bounds},
                                                  {"low", Role::bounds},
                                                  {"seed", Role::seed},
                                                  {"shape", Role::sizes}};

std::vector<AttributeRole> without_shape(std::vector<AttributeRole> roles) {
  roles.pop_back();
  return roles;
}

Operator random_normal() {
  return {.name = "RandomNormal",
          .versions = {1, 22},
          .summary = "Numbers drawn from a normal distribution.",
          .attributes = kNormalRoles,
          .require = [](Check& c) { require_normal(c), require_shape(c); },
          .infer = infer_shape,
          .meaning = custom(Pattern::random, evaluate_normal)};
}

Operator random_normal_like() {
  return {.name = "RandomNormalLike",
          .versions = {1, 22},
          .summary = "Numbers drawn from a normal distribution, in the shape of the input.",
          .attributes = without_shape(kNormalRoles),
          .require = [](Check& c) { require_normal(c), require_like(c); },
          .infer = infer_like,
          .align = align_each_alone,
          .meaning = custom(Pattern::random, evaluate_normal)};
}

Operator random_uniform() {
  return {.name = "RandomUniform",
          .versions = {1, 22},
          .summary = "Numbers drawn evenly between low and high.",
          .attributes = kUniformRoles,
          .require = [](Check& c) { require_uniform(c), require_shape(c); },
          .infer = infer_shape,
          .meaning = custom(Pattern::random, evaluate_uniform)};
}

Operator random_uniform_like() {
  return {.name = "RandomUniformLike",
          .versions = {1, 22},
          .summary = "Numbers drawn evenly between low and high, in the shape of the input.",
          .attributes = without_shape(kUniformRoles),
          .require = [](Check& c) { require_uniform(c), require_like(c); },
          .infer = infer_like,
          .align = align_each_alone,
          .meaning = custom(Pattern::random, evaluate_uniform)};
}

// 1 where a number drawn from [0, 1) is below the element.
struct Bernoulli {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> p = f.input(0);
    Array<S> y(p.shape);
    Drawing drawing(f.call());
    for (std::int64_t i = 0; i < p.size(); ++i) {
      require_probability(p[i]);
      // An interval asks for every drawing: what is certain is certain for all of [0, 1).
      const S drawn = std::same_as<S, Interval> ? whole<S>() : exactly<S>(drawing.uniform());
      y[i] = elementwise_detail::from_condition<S>(less(drawn, p[i]));
    }
    f.output(0, y);
  }

  template <class S>
  static S exactly(double x) {
    if constexpr (std::same_as<S, Interval>)
      return Interval::point(x);
    else
      return S{x};
  }

  template <class S>
  static S whole() {
    if constexpr (std::same_as<S, Interval>)
      return {0, std::nextafter(1.0, 0.0), false};
    else
      return S{};
  }

  template <class S>
  static void require_probability(const S& p) {
    if constexpr (std::same_as<S, double>)
      if (!(p >= 0 && p <= 1))
        throw EvaluationError("Bernoulli.probability-range",
                              fmt::format("{} is no probability", p));
  }
};

Operator bernoulli() {
  return {.name = "Bernoulli",
          .versions = {15, 22},
          .summary = "1 with the probability that the input says, else 0.",
          .attributes = {{"dtype", Role::type}, {"seed", Role::seed}},
          .require = require_like,
          .infer = infer_like,
          .align = align_each_alone,
          .meaning = compute<Bernoulli>(Pattern::random)};
}

// Classes drawn with probabilities in proportion to exp(x).
void evaluate_multinomial(Call& call) {
  const Shape shape = call.output_shape(0);
  const std::int64_t classes = call.input(0).shape()[1];
  const ElementType type = call.output_type(0);
  require_room(call);
  if (call.reading == Reading::interval) {
    const Interval support{0, static_cast<double>(std::max<std::int64_t>(classes - 1, 0)), false};
    call.outputs[0] = settle(type, Array<Interval>(shape, support));
    return;
  }
  call.exact(0);
  const Array<double> x = load<double>(call.input(0));
  Array<double> y(shape);
  Drawing drawing(call);
  std::vector<double> below(static_cast<std::size_t>(classes));
  for (std::int64_t b = 0; b < shape[0] && shape[1] > 0; ++b) {
    const std::span<const double> row(x.data.data() + b * classes, below.size());
    const double top = maximum(row);
    double total = 0;
    for (std::size_t k = 0; k < below.size(); ++k) below[k] = total += std::exp(row[k] - top);
    if (!(total > 0 && std::isfinite(total)))
      throw EvaluationError("Multinomial.probability-range",
                            fmt::format("row {} has no probabilities", b));
    for (std::int64_t i = 0; i < shape[1]; ++i) {
      const auto found = std::upper_bound(below.begin(), below.end(), drawing.uniform() * total);
      const auto last = static_cast<std::ptrdiff_t>(classes - 1);
      y[b * shape[1] + i] = static_cast<double>(std::min(found - below.begin(), last));
    }
  }
  call.outputs[0] = settle(type, y);
}

void require_multinomial(Check& c) {
  require_named_type(c, "T2", named_type(c.site, "dtype", ElementType::i32));
  if (!c.positive({"sample_size"}) || !c.rank("input", exactly(2))) return;
  const Dims& x = *c.dims("input");
  if (x[1].known() && x[1].value == 0)
    c.shape(false, "not-empty", "at least one class", to_text(x));
  sensible_size(c, {x[0], Dim(c.site.integer("sample_size"))});
}

void infer_multinomial(Infer& n) {
  const Dims* x = n.dims(0);
  n.output(0, named_type(n.site, "dtype", ElementType::i32),
           {x && x->size() == 2 ? (*x)[0] : Dim(), Dim(n.site.integer("sample_size"))});
}

Operator multinomial() {
  return {.name = "Multinomial",
          .versions = {7, 22},
          .summary = "Classes drawn with the probabilities of which the input has the logarithms.",
          .attributes = {{"dtype", Role::type}, {"sample_size", Role::count}, {"seed", Role::seed}},
          .require = require_multinomial,
          .infer = infer_multinomial,
          .meaning = custom(Pattern::random, evaluate_multinomial)};
}

// From version 12 on an input says whether to train; below version 7 an attribute; between them
// nothing is dropped.
bool may_train(const Site& site) {
  if (site.version() < 7) return site.integer("is_test") == 0;
  return site.version() >= 12 && site.has_input(2);
}

// Whether the node drops; a ratio that is no exact zero does.
bool drops(const Call& call) {
  if (!may_train(call.site)) return false;
  if (call.site.version() < 7) return call.site.real("ratio", 0.5) != 0;
  if (call.exact(2).integer(0) == 0) return false;
  return !call.has(1) || !call.input(1).exact() || call.input(1).tensor().real(0) != 0;
}

struct TrainedDropout {
  template <class S>
  void operator()(Frame<S>& f) const {
    const bool given = f.site().version() >= 12 && f.has(1);
    const S ratio = given
                        ? f.input(1)[0]
                        : constant<S>(f.site().version() < 12 ? f.site().real("ratio", 0.5) : 0.5);
    const Array<S> x = f.input(0);
    Array<S> y(x.shape), mask(x.shape);
    Drawing drawing(f.call());
    const S one = constant<S>(1.0), kept = one - ratio, scale = one / kept;
    const bool all = surely_all(ratio);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const auto survives = survival(drawing.uniform(), ratio);
      const S left = all ? zero<S>() : hull(x[i] * scale, x[i] / kept);
      y[i] = select(survives, left, S(x[i] * zero<S>()));
      mask[i] = elementwise_detail::from_condition<S>(survives);
    }
    f.output(0, y);
    if (f.wants(1)) f.output(1, mask);
  }

  template <class S>
  static bool surely_all(const S& ratio) {
    if constexpr (std::same_as<S, Interval>)
      return ratio.has_number() && ratio.low >= 1;
    else
      return to_double(ratio) >= 1;
  }

  template <class S>
  static auto survival(double drawn, const S& ratio) {
    if constexpr (std::same_as<S, double>)
      return drawn >= ratio;
    else if constexpr (std::same_as<S, Bounded>)
      return less_equal(ratio, Bounded{drawn, 0});
    else
      return less_equal(ratio, Interval{0, std::nextafter(1.0, 0.0), false});
  }
};

// Which elements of an input that stays as it is have survived: all, as version 12 says. Before it
// the standard does not say, and frameworks give zeros as well.
template <class S>
Value untouched_mask(const Call& call, const S& survives) {
  return settle(call.output_type(1), Array<S>(call.input(0).shape(), survives));
}

Value untouched_mask(const Call& call) {
  const bool open = call.site.version() < 12;
  if (open && call.reading == Reading::bounded) return untouched_mask(call, Bounded{1, 1});
  if (open && call.reading == Reading::interval) return untouched_mask(call, Interval{0, 1, false});
  return untouched_mask<std::int64_t>(call, 1);
}

void evaluate_dropout(Call& call) {
  static const Meaning kTrained = compute<TrainedDropout>(Pattern::random);
  if (drops(call)) return kTrained.evaluate(call);
  call.outputs[0] = call.input(0);
  if (call.site.has_output(1)) call.outputs[1] = untouched_mask(call);
}

void require_dropout(Check& c) {
  if (c.site.version() < 12) {
    c.real_in_range("ratio", 0, 1);
    return;
  }
  if (!c.element_count_is("ratio", 1) || !c.element_count_is("training_mode", 1)) return;
  if (!may_train(c.site)) return;
  const Tensor *training = c.site.constant(2), *ratio = c.site.constant(1);
  if (!training || (c.site.has_input(1) && !ratio))
    return c.undecided("ratio-range", "the values of ratio and training_mode");
  if (training->integer(0) == 0 || !ratio) return;
  const double value = ratio->real(0);
  c.argument(value >= 0 && value < 1, "ratio-range", "a ratio from 0 to below 1",
             fmt::format("{}", value));
}

void infer_dropout(Infer& n) {
  n.output(0, n.site.type(0));
  ValueType mask = n.site.type(0);
  if (n.site.version() >= 10) mask.element = ElementType::boolean;
  n.output(1, std::move(mask));
}

// Without scaling in training, and scaled by what survives outside of it.
void scaled_at_inference(Builder& b) {
  const bool trains = b.site().version() < 7 ? b.site().integer("is_test") == 0
                                             : b.site().version() >= 12 && b.site().has_input(2);
  const std::size_t masks = b.wants(1) ? 2 : 1;
  const Builder::Values outputs = b.again();
  double ratio = b.site().version() < 12 ? b.site().real("ratio", 0.5) : 0.5;
  if (const Tensor* given = b.site().version() >= 12 ? b.site().constant(1) : nullptr)
    ratio = given->real(0);
  b.output(0, trains ? outputs[0] : b("Mul", {outputs[0], b.like(0, 1 - ratio)}));
  if (masks == 2) b.output(1, outputs[1]);
}

Operator dropout() {
  return {.name = "Dropout",
          .versions = {1, 6, 7, 10, 12, 13, 22},
          .summary =
              "The input itself; in training, elements become 0 with probability `ratio` and "
              "the others grow by 1 / (1 - ratio).",
          .attributes = {{"consumed_inputs", Role::number},
                         {"is_test", Role::flag},
                         {"ratio", Role::ratio},
                         {"seed", Role::seed}},
          .require = require_dropout,
          .infer = infer_dropout,
          .meaning = custom(Pattern::random, evaluate_dropout),
          .variants = {{"scaled-at-inference", Variant::Kind::difference,
                        "the original formulation (Srivastava et al. 2014)", scaled_at_inference}}};
}

}  // namespace

std::vector<Operator> random_operators() {
  return {bernoulli(),          dropout(),        multinomial(),        random_normal(),
          random_normal_like(), random_uniform(), random_uniform_like()};
}

}  // namespace assay
