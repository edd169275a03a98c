// A TensorFlow graph as a model: translated, inferred, and translated again with what was inferred.
#pragma once

#include "graph/graph.h"
#include "layers/tensorflow/graph_def.h"

namespace assay {

// Some definitions need to know a rank or a constant that only inference over the model finds: the
// two take turns as long as that makes more nodes known. Outputs get their inferred types; one of
// which the element type or the rank is not known is none, since the standard has no place for it,
// unless there is no other.
Model import_tensorflow(tensorflow::GraphDef graph);

}  // namespace assay
