// What convolutions, pools and their gradients share: windows that slide over an image, and
// borders.
#pragma once

#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {

std::size_t spatial_axes(const Builder& b);  // how many an image has
std::vector<std::int64_t> spatial_from(const Builder& b,
                                       std::int64_t first);  // first, first + 1, …
Builder::Attributes window_attributes(const Builder& b);  // strides, and the border as it is named

// Extents are i64[n], one a spatial axis.
struct Border {
  std::string before, after;
};
Border border_of(Builder& b, const std::string& image, const std::string& windows,
                 const std::string& kernel);
std::string spatial_extents(Builder& b, const std::string& value);  // of channels first
std::string spatial_part(Builder& b, std::size_t shape_input);      // of a shape in data_format
std::string with_border(Builder& b, const std::string& image, const Border& border);
// The part of `image`, which has a border, that lies inside it; zeros where it is too short.
std::string without_border(Builder& b, const std::string& image, const Border& border,
                           const std::string& extents);

}  // namespace assay::tensorflow
