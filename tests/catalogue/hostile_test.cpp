// Hostile attribute values are refused with a rule id or evaluated, never worse; and what is
// inferred is what is evaluated.
#include <chrono>
#include <set>

#include <gtest/gtest.h>

#include "catalogue/corpus.h"
#include "ops/catalogue.h"
#include "ops/roles.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr std::size_t kMemory = std::size_t{256} << 20;
constexpr double kLongest = 60;  // seconds: a hang, however busy the machine is

// An error that the standard or a limit gives a reason for.
bool is_reasoned(const Error& error) {
  return error.kind == "limit" || (error.kind == "invalid" && error.message.ends_with(")"));
}

TEST(Hostile, EachValueIsRefusedWithARuleOrEvaluated) {
  const std::size_t before = memory_limit();
  set_memory_limit(kMemory);
  std::set<std::string> seen;  // an operator's attribute and value is tried on two specimens
  for (const Specimen& s : corpus()) {
    const Lookup found = find_operator(s.node.domain, s.node.op, s.opset);
    for (const AttributeRole& role : found.entry->attributes) {
      const AttributeFormal* formal = found.schema->find_attribute(role.name);
      if (!formal) continue;
      const Node whole = complete(s.node, *found.schema);
      const std::string key = s.node.op + "." + std::string(role.name);
      if (!seen.insert(key + "1").second && !seen.insert(key + "2").second) continue;
      for (const AttributeValue& value :
           hostile_values(role.role, formal->kind, whole.find(role.name))) {
        Specimen hostile = s;
        hostile.node.set(std::string(role.name), value);
        const auto start = std::chrono::steady_clock::now();
        try {
          const auto result = evaluate_node(hostile.node, s.opset, s.inputs, Reading::value);
          const bool reasoned = result || is_reasoned(result.error());
          EXPECT_TRUE(reasoned) << s.id << " " << key << ": " << result.error().message;
        } catch (const std::exception& failure) {
          ADD_FAILURE() << s.id << " " << key << ": " << failure.what();
        }
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        EXPECT_LT(seconds, kLongest) << s.id << " " << key;
      }
    }
  }
  set_memory_limit(before);
}

// Types without elements: what is inferred then must not contradict what is evaluated.
TEST(Inference, AgreesWithEvaluation) {
  for (const Specimen& s : corpus()) {
    const Lookup found = find_operator(s.node.domain, s.node.op, s.opset);
    if (!found.entry->infer) continue;
    const auto values = evaluate_node(s.node, s.opset, s.inputs, Reading::value);
    if (!values) {
      ADD_FAILURE() << s.id << ": " << values.error().message;
      continue;
    }
    const Node whole = complete(s.node, *found.schema);
    for (const bool with_elements : {true, false}) {
      Site site(whole, found.schema->since_version);
      for (const Value& input : s.inputs) {
        Known known;
        known.present = input.present();
        if (known.present) known.type = input.value_type();
        if (with_elements && input.is_tensor()) known.constant = input.tensor();
        site.inputs.push_back(std::move(known));
      }
      Infer infer(site);
      found.entry->infer(infer);
      for (std::size_t i = 0; i < values->size(); ++i) {
        const Value& value = (*values)[i];
        const ValueType& type = infer.outputs[i];
        if (!value.is_tensor() || !type.is_tensor()) continue;
        EXPECT_EQ(type.element, value.type()) << s.id << " output " << i;
        if (!type.dims) continue;
        ASSERT_EQ(type.dims->size(), value.shape().size()) << s.id << " output " << i;
        for (std::size_t d = 0; d < value.shape().size(); ++d)
          EXPECT_FALSE((*type.dims)[d].known() && (*type.dims)[d].value != value.shape()[d])
              << s.id << " output " << i << " axis " << d;
      }
    }
  }
}

}  // namespace
}  // namespace assay
