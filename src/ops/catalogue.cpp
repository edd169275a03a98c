#include "ops/catalogue.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "graph/name_index.h"
#include "ops/defaults.h"
#include "ops/families.h"

namespace assay {
namespace {

using Family = std::vector<Operator> (*)();
constexpr Family kFamilies[] = {
    unary_operators,     activation_operators, arithmetic_operators, logic_operators,
    reduce_operators,    rows_operators,       pool_operators,       matrix_operators,
    conv_operators,      shape_operators,      layout_operators,     index_operators,
    select_operators,    sample_operators,     norm_operators,       recurrent_operators,
    attention_operators, quantize_operators,   cast_operators,       signal_operators,
    random_operators,    control_operators,    container_operators,  text_operators,
    loss_operators,      training_operators,   image_operators,      ml_linear_operators,
    ml_trees_operators,  ml_encode_operators,
};

std::vector<Operator> join() {
  std::vector<Operator> all;
  for (Family family : kFamilies)
    for (Operator& entry : family()) all.push_back(std::move(entry));
  const auto key = [](const Operator& o) {
    return std::tuple(o.domain, o.name, o.versions.front());
  };
  std::sort(all.begin(), all.end(),
            [&](const Operator& a, const Operator& b) { return key(a) < key(b); });
  return all;
}

using Key = std::tuple<std::string_view, std::string_view, int>;

std::map<Key, const Operator*> index_by_version() {
  std::map<Key, const Operator*> index;
  for (const Operator& entry : catalogue())
    for (int version : entry.versions) {
      const bool fresh = index.emplace(Key(entry.domain, entry.name, version), &entry).second;
      ASSAY_CHECK(fresh);
    }
  return index;
}

// The operators of a domain with all their versions, from the oldest: every node of every graph is
// looked up.
struct DomainTable {
  std::string_view name;
  NameIndex operators{};
  std::vector<std::vector<Lookup>> versions{};  // by the operator's number
};

std::vector<DomainTable> index_by_name() {
  const auto entries = index_by_version();
  std::vector<DomainTable> index;
  for (const Schema& schema : schemas()) {
    const auto found = entries.find(Key(schema.domain, schema.name, schema.since_version));
    // The table is sorted by domain.
    if (index.empty() || index.back().name != schema.domain) index.push_back({schema.domain});
    DomainTable* const domain = &index.back();
    const auto [number, fresh] = domain->operators.add(schema.name);
    if (fresh) domain->versions.emplace_back();
    domain->versions[static_cast<std::size_t>(number)].push_back(
        {found == entries.end() ? nullptr : found->second, &schema});
  }
  return index;
}

struct AddedDomain {
  std::string_view name;
  DomainLookup find;
};

std::vector<AddedDomain>& added_domains() {
  static std::vector<AddedDomain> domains;
  return domains;
}

AttributeValue default_of(const AttributeFormal& formal) {
  switch (formal.kind) {
    case AttributeKind::real:
      return formal.real;
    case AttributeKind::integer:
      return formal.integer;
    case AttributeKind::text:
      return std::string(formal.text);
    case AttributeKind::reals:
      return std::vector<double>(formal.reals.begin(), formal.reals.end());
    case AttributeKind::integers:
      return std::vector<std::int64_t>(formal.integers.begin(), formal.integers.end());
    case AttributeKind::texts:
      return std::vector<std::string>(formal.texts.begin(), formal.texts.end());
    default:
      break;
  }
  ASSAY_CHECK(!"the standard gives a default of a kind that none has so far");
  return {};
}

}  // namespace

std::string full_name(const Operator& entry) {
  const std::string name(entry.name);
  return entry.domain.empty() ? name : std::string(entry.domain).append(".").append(name);
}

std::span<const Operator> catalogue() {
  static const std::vector<Operator> kAll = join();
  return kAll;
}

Lookup find_operator(std::string_view domain, std::string_view name, std::int64_t opset) {
  static const std::vector<DomainTable> kIndex = index_by_name();
  for (const AddedDomain& added : added_domains()) {
    if (added.name == domain) return added.find(name, opset);
  }
  if (domain == "ai.onnx") domain = "";
  const auto known = std::ranges::find(kIndex, domain, &DomainTable::name);
  const int number = known == kIndex.end() ? -1 : known->operators.find(name);
  if (number < 0) return {};
  const std::vector<Lookup>& versions = known->versions[static_cast<std::size_t>(number)];
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    if (version->schema->since_version <= opset) return *version;
  }
  return {};
}

void add_domain(std::string_view domain, DomainLookup find) {
  for (const AddedDomain& added : added_domains()) {
    if (added.name == domain) return;
  }
  added_domains().push_back({domain, find});
}

void fill_defaults(Node& node, const Schema& schema) {
  for (const AttributeFormal& formal : schema.attributes) {
    if (!formal.has_default || node.find(formal.name)) continue;
    node.attributes.reserve(std::max(node.attributes.size() + 1, schema.attributes.size()));
    node.attributes.emplace_back(std::string(formal.name), default_of(formal));
  }
}

bool is_complete(const Node& node, const Schema& schema) {
  return std::all_of(
      schema.attributes.begin(), schema.attributes.end(),
      [&](const AttributeFormal& formal) { return !formal.has_default || node.find(formal.name); });
}

Node complete(const Node& node, const Schema& schema) {
  Node result = node;
  fill_defaults(result, schema);
  return result;
}

}  // namespace assay
