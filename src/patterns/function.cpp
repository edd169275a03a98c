#include "patterns/function.h"

#include <fmt/format.h>

namespace assay {

static std::string numbered(std::string_view stem, std::size_t number) {
  std::string name(stem);
  if (number < 10) return name += static_cast<char>('0' + number);
  return name += fmt::format_int(number).str();
}

Builder::Builder(const Site& site) : site_(&site), outputs_(site.output_count()) {
  graph_.name = site.node().op;
  constexpr std::size_t kUsualNodes = 4;
  graph_.nodes.reserve(kUsualNodes);
  graph_.inputs.reserve(site.input_count());
  for (std::size_t i = 0; i < site.input_count(); ++i)
    graph_.inputs.push_back({input(i), site.inputs[i].type, {}, {}});
}

std::string Builder::input(std::size_t i) const {
  return has(i) ? numbered("input", i) : std::string();
}

std::string Builder::fresh() { return numbered("v", static_cast<std::size_t>(next_++)); }

Node& Builder::add(std::string op, Values inputs, Attributes attributes) {
  Node& node = graph_.nodes.emplace_back();
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return node;
}

std::string Builder::operator()(std::string op, Values inputs, Attributes attributes) {
  Node& node = add(std::move(op), std::move(inputs), std::move(attributes));
  return node.outputs.emplace_back(fresh());
}

Builder::Values Builder::many(std::string op, Values inputs, std::size_t outputs,
                              Attributes attributes) {
  Values& names = add(std::move(op), std::move(inputs), std::move(attributes)).outputs;
  for (std::size_t i = 0; i < outputs; ++i) names.push_back(fresh());
  return names;
}

Builder::Values Builder::again(Attributes changes) {
  Values inputs;
  for (std::size_t i = 0; i < site_->input_count(); ++i) inputs.push_back(input(i));
  return again_on(std::move(inputs), std::move(changes));
}

Builder::Values Builder::again_on(Values inputs, Attributes changes) {
  Node node = site_->node();
  node.inputs = std::move(inputs);
  node.version = site_->version();
  for (Attribute& change : changes) node.set(std::move(change.name), std::move(change.value));
  for (std::string& output : node.outputs)
    if (!output.empty()) output = fresh();
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

std::string Builder::constant(Tensor tensor) {
  std::string name = fresh();
  graph_.initializers.push_back({name, std::move(tensor), {}});
  return name;
}

std::string Builder::like(std::size_t i, double value) {
  return constant(make_scalar(site_->element(i), value));
}

std::string Builder::integers(std::vector<std::int64_t> values) {
  return constant(make_vector(values));
}

std::string Builder::integer(std::int64_t value) {
  return constant(make_integers(ElementType::i64, {}, std::span(&value, 1)));
}

void Builder::output(std::size_t i, std::string value) {
  if (i < outputs_.size()) outputs_[i] = std::move(value);
}

Graph Builder::finish() {
  for (std::string& output : outputs_) graph_.outputs.push_back({std::move(output), {}, {}, {}});
  return std::move(graph_);
}

Graph compose(Composition body, const Site& site) {
  Builder builder(site);
  body(builder);
  return builder.finish();
}

Meaning function(Composition body) {
  return {Pattern::function,
          [body](Call& call) {
            const Graph graph = compose(body, call.site);
            call.outputs = call.evaluator.run_function(call, graph, call.inputs);
          },
          true, body};
}

}  // namespace assay
