// Images of another size.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

// (images with channels last, [height, width])
std::string resized(Builder& b, const std::string& image, Builder::Attributes how) {
  const std::string first = transpose(b, image, {0, 3, 1, 2});
  const std::string kept = b("Shape", {first}, {attribute("start", 0), attribute("end", 2)});
  const std::string sizes = join(b, {kept, flat_indices(b, 1)});
  return transpose(b, b("Resize", {first, "", "", sizes}, std::move(how)), {0, 2, 3, 1});
}

std::string coordinates(const Builder& b) {
  if (b.site().integer("align_corners")) return "align_corners";
  return b.site().integer("half_pixel_centers") ? "half_pixel" : "asymmetric";
}

void resize_bilinear(Builder& b) {
  const std::string image = cast(b, b.input(0), ElementType::f32);
  b.output(0, resized(b, image,
                      {attribute("mode", "linear"),
                       attribute("coordinate_transformation_mode", coordinates(b))}));
}

void resize_nearest(Builder& b) {
  const std::string mode = coordinates(b);
  const char* nearest = mode == "asymmetric" ? "floor" : "round_prefer_ceil";
  b.output(0, resized(b, b.input(0),
                      {attribute("mode", "nearest"), attribute("nearest_mode", nearest),
                       attribute("coordinate_transformation_mode", mode)}));
}

}  // namespace

std::vector<Definition> image_definitions() {
  return {{"ResizeBilinear", resize_bilinear}, {"ResizeNearestNeighbor", resize_nearest}};
}

}  // namespace assay::tensorflow
