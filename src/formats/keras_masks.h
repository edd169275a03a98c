// Masks of Keras: which steps of a sequence count. An Embedding or a Masking makes one, and it goes
// along with the values until a layer uses it.
#pragma once

#include "graph/graph.h"

namespace assay::keras {

// Gives the masks to the layers of the main graph that use them, as values of the model. A layer
// that would use one, but has no meaning for that, gets an argument that it does not have.
void spread_masks(Model& model);

}  // namespace assay::keras
