// The mean of squares less the square of the mean: rounding makes it negative where all elements
// are nearly equal, and its root NaN.
#include "numeric/idioms/idiom.h"

namespace assay {

const Idiom kVarianceIdiom{
    "variance",
    "lint.variance",
    "this is a variance as a difference of squares, which rounding may make negative; the mean of "
    "squared differences is not",
    [](Builder& b) {
      const std::string axes = b.integers({b.site().integer("axis")});
      const std::string mean = b("ReduceMean", {b.input(0), axes}, {attribute("keepdims", 1)});
      const std::string apart = b("Sub", {b.input(0), mean});
      b.output(0, b("ReduceMean", {b("Mul", {apart, apart}), axes},
                    {attribute("keepdims", b.site().integer("keepdims"))}));
    },
    true,
    true};

}  // namespace assay
