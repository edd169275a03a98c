#include "layers/tensorflow/translate.h"

#include "layers/tensorflow/emitter.h"

namespace assay::tensorflow {
namespace {

// Old enough for the runtimes that take such files, new enough for what the definitions use.
constexpr std::int64_t kOpset = 21;
constexpr std::int64_t kIrVersion = 10;

// What nobody reads is what the graph is for.
void add_outputs(Graph& graph, const std::vector<bool>& read) {
  std::size_t place = 0;
  for (const Node& node : graph.nodes) {
    const bool constant = node.op == "Constant" && node.domain.empty();
    for (const std::string& output : node.outputs) {
      const bool unread = !read[place++] && !constant;
      if (unread && output.find("::") == std::string::npos)
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
  add_outputs(result.model.graph, known.read(result.model.graph));
  return result;
}

}  // namespace assay::tensorflow
