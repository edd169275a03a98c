// Locally connected layers: a convolution whose kernel is another one at each place.
#include "layers/keras/layers.h"
#include "layers/keras/windows.h"

namespace assay::keras {
namespace {

Dim product(const Dims& dims) {
  Dim all = 1;
  for (const Dim& dim : dims) all = all * dim;
  return all;
}

Weights local_weights(const Site& site) {
  const Dims places = window_counts(site, "kernel_size");
  Dim inside = extent(site, channel_axis(site));
  for (std::int64_t k : spatial(site, "kernel_size")) inside = inside * Dim(k);
  const Dim filters = site.integer("filters");
  Weights weights = {{"kernel", {product(places), inside, filters}}};
  if (!flag(site, "use_bias")) return weights;
  Dims bias = places;
  bias.push_back(filters);
  weights.push_back({"bias", std::move(bias)});
  return weights;
}

// For each place, where in the flattened spatial axes the elements of its window lie.
Tensor window_indices(const Body& l, const Integers& places, const Integers& extents) {
  const Integers kernel = spatial(l.site, "kernel_size"), strides = spatial(l.site, "strides");
  Integers starts = {0}, inside = {0};
  for (std::size_t d = 0; d < places.size(); ++d) {
    Integers next, reached;
    for (std::int64_t start : starts) {
      for (std::int64_t i = 0; i < places[d]; ++i)
        next.push_back(start * extents[d] + i * strides[d]);
    }
    for (std::int64_t offset : inside) {
      for (std::int64_t k = 0; k < kernel[d]; ++k) reached.push_back(offset * extents[d] + k);
    }
    starts = std::move(next);
    inside = std::move(reached);
  }
  Integers all;
  for (std::int64_t start : starts) {
    for (std::int64_t offset : inside) all.push_back(start + offset);
  }
  return make_integers(
      ElementType::i64,
      {static_cast<std::int64_t>(starts.size()), static_cast<std::int64_t>(inside.size())}, all);
}

std::string local(Body& l) {
  const Shape places = *to_shape(window_counts(l.site, "kernel_size"));
  Integers extents;
  for (std::int64_t axis : spatial_axes(l.site)) extents.push_back(l.extent(axis));
  const std::string flat =
      l.reshaped(l.channels_last(l.x), {0, -1, l.extent(channel_axis(l.site))});
  const std::string indices =
      l.b.constant(window_indices(l, {places.begin(), places.end()}, extents));
  const std::string windows = l("Gather", {flat, indices}, {attribute("axis", 1)});
  const std::string rows = l.transposed(l.reshaped(windows, {0, 0, -1}), {1, 0, 2});
  const std::string products = l.transposed(l("MatMul", {rows, l.weight("kernel")}), {1, 0, 2});
  Integers shape(places.begin(), places.end());
  shape.insert(shape.begin(), 0);
  shape.push_back(l.site.integer("filters"));
  std::string y = l.reshaped(products, std::move(shape));
  if (const std::string bias = l.weight("bias"); !bias.empty()) y = l("Add", {y, bias});
  return l.activated(l.from_channels_last(y));
}

Layer locally_connected(std::string_view name, int spatial) {
  return {.name = name,
          .summary = "Each window times a kernel of its own place, summed.",
          .arguments = {count("filters"),
                        {"kernel_size", Role::sizes},
                        sizes("strides", {1}),
                        choice("padding", "valid"),
                        data_format(),
                        activation(),
                        use_bias()},
          .spatial = spatial,
          .weights = local_weights,
          .require =
              [](Check& c) {
                require_windows(c, "kernel_size");
                c.one_of("padding", {"valid"});
                require_activation(c);
              },
          .build = local};
}

}  // namespace

std::vector<Layer> local_layers() {
  return {locally_connected("LocallyConnected1D", 1), locally_connected("LocallyConnected2D", 2)};
}

}  // namespace assay::keras
