// Preconditions and shape rules on nodes of which only parts are known: extents without a number,
// inputs without a rank, elements that are hostile or have only a name. Nothing may fail.
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "catalogue/corpus.h"
#include "ops/catalogue.h"
#include "ops/roles.h"

namespace assay {
namespace {

constexpr int kRounds = 25;

class Blur {
 public:
  explicit Blur(std::uint64_t seed) : random_(seed) {}

  bool one_in(int n) { return below(n) == 0; }
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

  void attribute(Node& node, const Lookup& found) {
    if (found.entry->attributes.empty()) return;
    const AttributeRole& role = found.entry->attributes[below(found.entry->attributes.size())];
    const AttributeFormal* formal = found.schema->find_attribute(role.name);
    if (!formal) return;
    const auto values = hostile_values(role.role, formal->kind, node.find(role.name));
    if (!values.empty()) node.set(std::string(role.name), values[below(values.size())]);
  }

  Known input(const Value& value) {
    Known known;
    known.present = value.present() && !one_in(30);
    if (value.present()) known.type = value.value_type();
    if (!value.is_tensor()) return known;
    switch (below(7)) {
      case 0:
      case 1:
        known.constant = value.tensor();
        break;
      case 2:
        known.constant = hostile(value.tensor());
        break;
      case 3:
        known.type.dims.reset();
        break;
      case 4:
        for (Dim& dim : *known.type.dims)
          if (one_in(2)) dim = one_in(2) ? Dim() : Dim::named(one_in(2) ? "n" : "m");
        break;
      case 5:
        known.extents = named_elements(value.tensor());
        break;
      default:
        if (one_in(2))
          known.type.dims->emplace_back(2);
        else if (!known.type.dims->empty())
          known.type.dims->pop_back();
    }
    return known;
  }

 private:
  Tensor hostile(const Tensor& tensor) {
    if (!is_integer(tensor.type()) || tensor.size() == 0) return tensor;
    static constexpr std::int64_t kValues[] = {0,
                                               -1,
                                               -5,
                                               100,
                                               std::int64_t{1} << 31,
                                               std::int64_t{1} << 62,
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::min()};
    std::vector<std::int64_t> elements = tensor.integers();
    elements[below(elements.size())] = kValues[below(std::size(kValues))];
    return make_integers(tensor.type(), tensor.shape(), elements);
  }

  std::optional<std::vector<Dim>> named_elements(const Tensor& tensor) {
    if (!is_integer(tensor.type()) || tensor.size() > 64) return std::nullopt;
    std::vector<Dim> elements;
    for (std::int64_t element : tensor.integers())
      elements.push_back(one_in(3) ? Dim::named("n") : Dim(element));
    return elements;
  }

  std::mt19937_64 random_;
};

TEST(Partial, ChecksAndInferenceNeedNotKnowAll) {
  Blur blur(3);
  for (int round = 0; round < kRounds; ++round) {
    for (const Specimen& s : corpus()) {
      const Lookup found = find_operator(s.node.domain, s.node.op, s.opset);
      if (!found.entry || !found.entry->infer) continue;
      Node node = complete(s.node, *found.schema);
      if (blur.one_in(4)) blur.attribute(node, found);
      Site site(node, found.schema->since_version);
      for (const Value& input : s.inputs) site.inputs.push_back(blur.input(input));
      try {
        Check check(site, *found.schema);
        check_node(check, *found.entry, *found.schema);
        if (!check.violations.empty()) continue;
        Infer infer(site);
        found.entry->infer(infer);
      } catch (const std::exception& failure) {
        ADD_FAILURE() << s.id << ": " << failure.what();
      }
    }
  }
}

}  // namespace
}  // namespace assay
