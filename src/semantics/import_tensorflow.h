// A TensorFlow graph as a model: each node is translated with what inference says of its inputs.
#pragma once

#include <memory>

#include "graph/graph.h"
#include "layers/tensorflow/graph_def.h"
#include "semantics/infer_types.h"

namespace assay {

// A model, and what inference over it says, for those who would ask for it again.
struct TypedModel {
  Model model;
  std::shared_ptr<const ModelTypes> types;  // null: nobody has inferred them
};

// Some definitions need to know a rank or a constant that only inference finds: the nodes of the
// main graph are inferred as they are written; where there are loops, the two take turns as long as
// that makes more nodes known. Outputs get their inferred types; one of which the element type or
// the rank is not known is none, since the standard has no place for it, unless there is no other.
TypedModel import_tensorflow(tensorflow::GraphDef graph);

}  // namespace assay
