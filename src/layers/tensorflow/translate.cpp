#include "layers/tensorflow/translate.h"

#include "graph/name_index.h"
#include "graph/order.h"
#include "layers/tensorflow/emitter.h"

namespace assay::tensorflow {
namespace {

// Old enough for the runtimes that take such files, new enough for what the definitions use.
constexpr std::int64_t kOpset = 21;
constexpr std::int64_t kIrVersion = 10;

// What nobody takes is what the graph is for.
void add_outputs(Graph& graph) {
  NameIndex taken, captured(NameIndex::Names::copied);
  taken.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) taken.add(input);
    for_each_subgraph(node, [&](const std::string&, const Graph& body) {
      for (const std::string& name : captured_names(body)) captured.add(name);
    });
  }
  for (const Node& node : graph.nodes) {
    if (node.op == "Constant" && node.domain.empty()) continue;
    for (const std::string& output : node.outputs) {
      const bool inner = output.find("::") != std::string::npos;
      if (!inner && !taken.contains(output) && !captured.contains(output))
        graph.outputs.push_back({output, {}, {}, {}});
    }
  }
}

}  // namespace

const std::map<std::string, std::int64_t>& translated_opsets() {
  static const std::map<std::string, std::int64_t> kOpsets = {{"", kOpset}, {"tensorflow", 1}};
  return kOpsets;
}

Translation translate(const GraphDef& graph, KnownValues& known) {
  Translation result;
  result.model.ir_version = kIrVersion;
  result.model.opsets = translated_opsets();
  result.model.producer = "tensorflow";
  result.model.producer_version = graph.producer_version;
  result.model.graph.name = "tensorflow";
  result.model.graph.nodes.reserve(4 * graph.nodes.size());  // what stays empty takes no memory
  const Wiring wiring(graph);
  const Frames frames(wiring);
  Emitter emitter(wiring, frames, known, result.model);
  emitter.emit_all();
  result.unresolved = emitter.unresolved();
  result.loops = frames.count() > 1;
  add_outputs(result.model.graph);
  return result;
}

}  // namespace assay::tensorflow
