// The logarithm of a softmax, whose smallest parts are 0 where the logarithm is not yet large.
#include "numeric/idioms/idiom.h"

namespace assay {

const Idiom kLogSoftmaxIdiom{
    "log-softmax",
    "lint.softmax",
    "this is the logarithm of a softmax; log-softmax computes it",
    [](Builder& b) {
      b.output(0, b("LogSoftmax", {b.input(0)}, {attribute("axis", b.site().integer("axis"))}));
    },
    true,
    false};

}  // namespace assay
