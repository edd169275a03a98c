#include "layers/tensorflow/windows.h"

#include <numeric>

#include <fmt/format.h>

namespace assay::tensorflow {
namespace {

// Pairs for each axis, those of the spatial axes: before…, then after….
std::vector<std::int64_t> explicit_border(const Builder& b) {
  const std::vector<std::int64_t>& pairs = b.site().integers("explicit_paddings");
  const std::size_t count = spatial_axes(b), first = channels_last(b) ? 1 : 2;
  if (pairs.size() != 2 * (count + 2)) throw NotDefined("its border has no pair for each axis");
  std::vector<std::int64_t> border;
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < count; ++i) border.push_back(pairs[2 * (first + i) + side]);
  }
  return border;
}

}  // namespace

std::size_t spatial_axes(const Builder& b) {
  const std::size_t named = b.site().text("data_format").size();
  return named < 3 ? 2 : named - 2;
}

std::vector<std::int64_t> spatial_from(const Builder& b, std::int64_t first) {
  std::vector<std::int64_t> axes(spatial_axes(b));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Builder::Attributes window_attributes(const Builder& b) {
  Builder::Attributes all = {attribute("strides", spatial(b, "strides"))};
  const std::string& padding = b.site().text("padding");
  if (padding == "SAME") {
    all.push_back(attribute("auto_pad", "SAME_UPPER"));
  } else if (padding == "EXPLICIT") {
    all.push_back(attribute("pads", explicit_border(b)));
  } else if (padding != "VALID") {
    throw NotDefined(fmt::format("its padding is '{}'", padding));
  }
  return all;
}

Border border_of(Builder& b, const std::string& image, const std::string& windows,
                 const std::string& kernel) {
  const std::string& padding = b.site().text("padding");
  const auto count = static_cast<std::ptrdiff_t>(spatial_axes(b));
  if (padding == "EXPLICIT") {
    const std::vector<std::int64_t> all = explicit_border(b);
    return {b.integers({all.begin(), all.begin() + count}),
            b.integers({all.begin() + count, all.end()})};
  }
  const std::vector<std::int64_t> none(static_cast<std::size_t>(count), 0);
  if (padding != "SAME") return {b.integers(none), b.integers(none)};
  const std::string one = b.integer(1);
  const std::string steps = b.integers(spatial(b, "strides"));
  const std::string gaps = b.integers(spatial(b, "dilations"));
  const std::string way = b("Mul", {b("Sub", {windows, one}), steps});
  const std::string reach = b("Add", {b("Mul", {b("Sub", {kernel, one}), gaps}), one});
  const std::string missing = b("Sub", {b("Add", {way, reach}), image});
  const std::string total = b("Max", {missing, b.integers(none)});
  const std::string before = b("Div", {total, b.integer(2)});
  return {before, b("Sub", {total, before})};
}

std::string spatial_extents(Builder& b, const std::string& value) {
  return b("Shape", {value}, {attribute("start", 2)});
}

std::string spatial_part(Builder& b, std::size_t shape_input) {
  const std::int64_t first = channels_last(b) ? 1 : 2;
  const auto count = static_cast<std::int64_t>(spatial_axes(b));
  return b("Slice",
           {flat_indices(b, shape_input), b.integers({first}), b.integers({first + count})});
}

std::string with_border(Builder& b, const std::string& image, const Border& border) {
  return b("Pad",
           {image, join(b, {border.before, border.after}), "", b.integers(spatial_from(b, 2))});
}

std::string without_border(Builder& b, const std::string& image, const Border& border,
                           const std::string& extents) {
  const std::string end = b("Add", {border.before, extents});
  const std::vector<std::int64_t> none(spatial_axes(b), 0);
  const std::string missing =
      b("Max", {b("Sub", {end, spatial_extents(b, image)}), b.integers(none)});
  const std::string whole = with_border(b, image, {b.integers(none), missing});
  return b("Slice", {whole, border.before, end, b.integers(spatial_from(b, 2))});
}

}  // namespace assay::tensorflow
