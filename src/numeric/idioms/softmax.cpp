// A softmax written by hand, without the largest element subtracted first.
#include "numeric/idioms/idiom.h"

namespace assay {

const Idiom kSoftmaxIdiom{
    "softmax",
    "lint.softmax",
    "this is a softmax written by hand; softmax subtracts the largest element first",
    [](Builder& b) {
      b.output(0, b("Softmax", {b.input(0)}, {attribute("axis", b.site().integer("axis"))}));
    },
    true,
    false};

}  // namespace assay
