#include "semantics/sample_types.h"

#include <algorithm>
#include <map>

#include "patterns/call.h"

namespace assay {
namespace {

constexpr int kTrials = 4;

// Numbers for the unknown extents: the same name is the same number; those without a name are all
// different, and in every other trial all equal, since a rule may ask for that.
class Assignment {
 public:
  explicit Assignment(int trial) : trial_(trial), shared_(next()) {}

  std::int64_t operator()(const Dim& dim) {
    if (dim.known()) return dim.value;
    if (dim.symbol.empty()) return trial_ % 2 == 0 ? next() : shared_;
    const auto [place, fresh] = named_.try_emplace(dim.symbol.base().text(), 0);
    if (fresh) place->second = next();
    return place->second * dim.symbol.factor();
  }
  const std::map<std::string, std::int64_t>& named() const { return named_; }

 private:
  // Multiples of 64, so that heads, groups and blocks divide them.
  std::int64_t next() { return 64 * (7 * ++count_ + 3 + 100 * trial_); }

  int trial_;
  std::int64_t count_ = 0;
  std::int64_t shared_;
  std::map<std::string, std::int64_t> named_;
};

bool is_concrete(const Known& known) {
  return !known.present || !known.type.is_tensor() ||
         (known.type.dims && to_shape(*known.type.dims));
}

Site assigned(const Site& site, Assignment& assignment) {
  Site result = site;
  for (Known& input : result.inputs) {
    if (!input.type.dims) continue;
    for (Dim& dim : *input.type.dims) dim = Dim(assignment(dim));
    if (!input.extents || input.constant.defined()) continue;
    std::vector<std::int64_t> values;
    for (const Dim& element : *input.extents) values.push_back(assignment(element));
    input.constant = make_integers(input.type.element, *to_shape(*input.type.dims), values);
    input.extents.reset();
  }
  return result;
}

// What the extent of one trial is in terms of the site: a number or a name.
struct Sample {
  std::vector<Known> outputs;
  std::map<std::string, std::int64_t> named;
};

Dim agreed_dim(const std::vector<Sample>& samples, std::size_t output, std::size_t d) {
  const auto at = [&](const Sample& sample) { return (*sample.outputs[output].type.dims)[d]; };
  const auto all = [&](const auto& holds) {
    return std::all_of(samples.begin(), samples.end(), holds);
  };
  Dim first = at(samples.front());
  if (all([&](const Sample& sample) { return at(sample).same_as(first); })) return first;
  for (const auto& [name, ignored] : samples.front().named) {
    const std::int64_t one = samples.front().named.at(name), factor = first.value / one;
    if (factor > 0 && all([&](const Sample& sample) {
          return at(sample).value == factor * sample.named.at(name);
        })) {
      return Dim::named(Symbol(name).times(factor));
    }
  }
  return {};
}

// The output's type as far as all trials agree.
ValueType agreed(const std::vector<Sample>& samples, std::size_t output) {
  const ValueType& first = samples.front().outputs[output].type;
  bool ranked = first.dims.has_value();
  for (const Sample& sample : samples) {
    const ValueType& type = sample.outputs[output].type;
    if (type.kind != first.kind || type.element != first.element) return {};
    ranked = ranked && type.dims && type.dims->size() == first.dims->size();
  }
  if (!first.is_tensor()) return first;
  if (!ranked) return ValueType::tensor(first.element);
  Dims dims;
  for (std::size_t d = 0; d < first.dims->size(); ++d)
    dims.push_back(agreed_dim(samples, output, d));
  return ValueType::tensor(first.element, std::move(dims));
}

}  // namespace

std::vector<Known> sample_types(const Site& site,
                                const std::function<std::vector<Known>(const Site&)>& rule) {
  for (const Known& input : site.inputs) {
    const bool ranked = !input.present || !input.type.is_tensor() || input.type.dims;
    if (!ranked || (input.present && input.type.kind == ValueType::Kind::unknown)) return {};
  }
  if (std::all_of(site.inputs.begin(), site.inputs.end(), is_concrete)) return rule(site);
  std::vector<Sample> samples;
  for (int trial = 0; trial < kTrials; ++trial) {
    Assignment assignment(trial);
    const Site concrete = assigned(site, assignment);
    try {
      std::vector<Known> outputs = rule(concrete);
      samples.push_back({std::move(outputs), assignment.named()});
    } catch (const EvaluationError&) {  // not a legal assignment
    }
  }
  if (samples.size() < 2) return {};
  std::vector<Known> result(samples.front().outputs.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i].type = agreed(samples, i);
  return result;
}

Site concrete_site(const Site& site, int trial) {
  Assignment assignment(trial);
  return assigned(site, assignment);
}

}  // namespace assay
