// Functions of a TensorFlow 2 graph, put into the graph that calls them, branches or loops with
// them.
#pragma once

#include "layers/tensorflow/graph_def.h"

namespace assay::tensorflow {

// The graph without calls of functions that it holds: their nodes are "call/node", and the call
// itself passes their results on. If and While become the nodes that TensorFlow 1 has for them. A
// call beyond the limits of depth and size stays what it is.
GraphDef with_functions_inside(GraphDef graph);

}  // namespace assay::tensorflow
