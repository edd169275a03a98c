// A described Keras network as a model: a node for each call of a layer, networks inside it laid
// out in their place.
#pragma once

#include "formats/keras_described.h"
#include "formats/keras_weights.h"
#include "graph/graph.h"

namespace assay::keras {

// A value has its layer's name; behind "@2" that of the second call, behind ":1" the second output.
// A call that can never be made (its inputs form a circle, or do not exist) stays in the graph with
// names that show it. `version` is that of Keras, 2 or 3.
Model to_model(const DescribedLayer& network, const WeightStore& weights, int version);

}  // namespace assay::keras
