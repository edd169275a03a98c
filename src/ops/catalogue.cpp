#include "ops/catalogue.h"

#include <algorithm>
#include <map>
#include <tuple>

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
  static const auto kIndex = index_by_version();
  for (const AddedDomain& added : added_domains()) {
    if (added.name == domain) return added.find(name, opset);
  }
  const Schema* schema =
      find_schema(domain, name, static_cast<int>(std::clamp<std::int64_t>(opset, 0, 1 << 30)));
  if (!schema) return {};
  const auto found = kIndex.find(Key(schema->domain, schema->name, schema->since_version));
  return {found == kIndex.end() ? nullptr : found->second, schema};
}

void add_domain(std::string_view domain, DomainLookup find) {
  for (const AddedDomain& added : added_domains()) {
    if (added.name == domain) return;
  }
  added_domains().push_back({domain, find});
}

Node complete(const Node& node, const Schema& schema) {
  Node result = node;
  for (const AttributeFormal& formal : schema.attributes)
    if (formal.has_default && !node.find(formal.name))
      result.attributes.push_back({std::string(formal.name), default_of(formal), {}});
  return result;
}

}  // namespace assay
