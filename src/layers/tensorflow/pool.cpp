// Pools and their gradients.
#include "layers/tensorflow/windows.h"

namespace assay::tensorflow {
namespace {

Builder::Attributes pool_attributes(const Builder& b) {
  Builder::Attributes all = window_attributes(b);
  all.push_back(attribute("kernel_shape", spatial(b, "ksize")));
  return all;
}

void require_spatial(const Builder& b) {
  const std::vector<std::int64_t>& all = b.site().integers("ksize");
  if (all.size() < 3 || all[0] != 1 || all[channels_last(b) ? all.size() - 1 : 1] != 1) {
    throw NotDefined("its windows reach over images or channels");
  }
}

void pool(Builder& b) {
  require_spatial(b);
  const bool largest = b.site().node().op.starts_with("Max");
  b.output(0, as_data_format(b, b(largest ? "MaxPool" : "AveragePool",
                                  {channels_first(b, b.input(0))}, pool_attributes(b))));
}

// (image, its pool, gradient): to the element that was the largest, the first of equal ones.
void max_pool_grad(Builder& b) {
  require_spatial(b);
  const std::string image = channels_first(b, b.input(0));
  const std::string places = b.many("MaxPool", {image}, 2, pool_attributes(b))[1];
  const std::string count = b("Reshape", {b("Size", {image}), b.integers({1})});
  const std::string all =
      b("ScatterElements",
        {zeros(b, count, type_of(b)), flat(b, places), flat(b, channels_first(b, b.input(2)))},
        {attribute("reduction", "add")});
  b.output(0, as_data_format(b, b("Reshape", {all, b("Shape", {image})})));
}

// (shape of the image, gradient): an equal share to each element that was in the window.
void avg_pool_grad(Builder& b) {
  require_spatial(b);
  const std::vector<std::int64_t> steps = spatial(b, "strides"), kernel = spatial(b, "ksize");
  const std::string gradient = channels_first(b, b.input(1));
  const std::string extents = spatial_part(b, 0), windows = spatial_extents(b, gradient);
  const Border border = border_of(b, extents, windows, b.integers(kernel));
  const std::string one = b.integers({1, 1});
  const std::string box = zeros(b, join(b, {one, b.integers(kernel)}), type_of(b), 1);
  const std::string image = zeros(b, join(b, {one, extents}), type_of(b), 1);
  const std::string inside_each =
      b("Conv", {with_border(b, image, border), box}, {attribute("strides", steps)});
  const std::string counts = b("Max", {inside_each, number(b, 1)});  // no window is all border
  const std::string planes = b("Reshape", {gradient, join(b, {b.integers({-1, 1}), windows})});
  const std::string full =
      b("ConvTranspose", {b("Div", {planes, counts}), box}, {attribute("strides", steps)});
  const std::string inside = without_border(b, full, border, extents);
  const std::string shape =
      join(b, {b("Shape", {gradient}, {attribute("start", 0), attribute("end", 2)}), extents});
  b.output(0, as_data_format(b, b("Reshape", {inside, shape})));
}

}  // namespace

std::vector<Definition> pool_definitions() {
  return {{"AvgPool", pool}, {"AvgPool3D", pool}, {"AvgPoolGrad", avg_pool_grad},
          {"MaxPool", pool}, {"MaxPool3D", pool}, {"MaxPoolGrad", max_pool_grad}};
}

}  // namespace assay::tensorflow
