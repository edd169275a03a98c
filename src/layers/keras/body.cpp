#include "layers/keras/body.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "layers/keras/layers.h"

namespace assay::keras {

static Names input_names(const Builder& b) {
  Names names;
  for (std::size_t i = 0; i < b.site().input_count(); ++i) names.push_back(b.input(i));
  return names;
}

Body::Body(Builder& builder, const Layer& layer)
    : Body(builder, layer, builder.site(), input_names(builder)) {}

Body::Body(Builder& builder, const Layer& layer, const Site& site, Names inputs)
    : layer(layer), b(builder), site(site), x(inputs.front()), inputs_(std::move(inputs)) {
  if (layer.weights) weights_ = layer.weights(site);
}

std::string Body::weight(std::string_view name) {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i].name != name) continue;
    const std::size_t place = layer.inputs.size() + i;
    if (has(place)) return inputs_[place];
    const Tensor initial = make_scalar(type(), weights_[i].initial);
    return b("ConstantOfShape", {b.integers(*to_shape(weights_[i].shape))},
             {attribute("value", initial.reshaped({1}))});
  }
  return "";
}

void Body::give(std::size_t i, const std::string& value) {
  if (more)
    more->push_back(value);
  else
    b.output(i, value);
}

ElementType Body::type() const { return site.element(layer.indices && site.has_input(1) ? 1 : 0); }

std::int64_t Body::rank() const { return *site.rank(0); }

std::int64_t Body::extent(std::int64_t axis) const { return keras::extent(site, axis).value; }

std::string Body::transposed(const std::string& value, Integers perm) {
  return b("Transpose", {value}, {attribute("perm", std::move(perm))});
}

std::string Body::reshaped(const std::string& value, Integers shape) {
  return b("Reshape", {value, b.integers(std::move(shape))});
}

// The last axis behind the batch, and the second one to the end.
static Integers last_to_front(int spatial) {
  Integers perm = {0, spatial + 1};
  for (int i = 1; i <= spatial; ++i) perm.push_back(i);
  return perm;
}

Integers front_to_last(std::int64_t spatial) {
  Integers perm = {0};
  for (std::int64_t i = 2; i < spatial + 2; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

std::string Body::channels_first(const std::string& value) {
  return keras::channels_last(site) ? transposed(value, last_to_front(layer.spatial)) : value;
}

std::string Body::as_data_format(const std::string& value) {
  return keras::channels_last(site) ? transposed(value, front_to_last(layer.spatial)) : value;
}

std::string Body::channels_last(const std::string& value) {
  return keras::channels_last(site) ? value : transposed(value, front_to_last(layer.spatial));
}

std::string Body::from_channels_last(const std::string& value) {
  return keras::channels_last(site) ? value : transposed(value, last_to_front(layer.spatial));
}

std::string Body::biased(const std::string& value) {
  const std::string bias = weight("bias");
  if (bias.empty()) return value;
  if (keras::channels_last(site)) return b("Add", {value, bias});
  Integers shape(static_cast<std::size_t>(layer.spatial) + 1, 1);
  shape.front() = -1;
  return b("Add", {value, reshaped(bias, std::move(shape))});
}

std::string Body::activated(const std::string& value, std::string_view argument) {
  return activate(*this, value, site.text(argument));
}

bool channels_last(const Site& site) { return site.text("data_format") != "channels_first"; }

bool flag(const Site& site, std::string_view argument) { return site.integer(argument) != 0; }

// The same layer is asked for many times in a row.
const Layer& layer_of(const Site& site) {
  thread_local const Layer* last = nullptr;
  if (!last || last->name != site.node().op) last = find_layer(site.node().op);
  ASSAY_CHECK(last);
  return *last;
}

Integers spatial(const Site& site, std::string_view argument) {
  Integers values = site.integers(argument);
  if (values.size() == 1) {
    values.resize(static_cast<std::size_t>(layer_of(site).spatial), values.front());
  }
  return values;
}

Integers borders(const Site& site, std::string_view argument) {
  Integers given = spatial(site, argument);
  const auto axes = static_cast<std::size_t>(layer_of(site).spatial);
  if (given.size() == 2 * axes && site.integers(argument).size() != 1) return given;
  Integers both;
  for (std::int64_t one : given) both.insert(both.end(), {one, one});
  return both;
}

std::int64_t channel_axis(const Site& site) { return channels_last(site) ? -1 : 1; }

Dim extent(const Site& site, std::int64_t axis, std::size_t input) {
  const Dims* dims = site.dims(input);
  if (!dims) return {};
  const auto place = normalize_axis(axis, static_cast<std::int64_t>(dims->size()));
  return place ? (*dims)[static_cast<std::size_t>(*place)] : Dim();
}

Integers spatial_axes(const Site& site) {
  Integers axes;
  for (int i = 0; i < layer_of(site).spatial; ++i)
    axes.push_back(channels_last(site) ? i + 1 : i + 2);
  return axes;
}

Argument count(std::string_view name) { return {name, Role::count}; }

Argument sizes(std::string_view name, Integers fallback) {
  return {name, Role::sizes, std::move(fallback)};
}

Argument choice(std::string_view name, std::string fallback) {
  return {name, Role::choice, std::move(fallback)};
}

Argument flag_argument(std::string_view name, bool fallback) {
  return {name, Role::flag, std::int64_t{fallback}};
}

Argument real(std::string_view name, Role role, double fallback) { return {name, role, fallback}; }

Argument data_format() { return choice("data_format", "channels_last"); }

Argument activation(std::string fallback) { return choice("activation", std::move(fallback)); }

Argument masked() { return {"masked", Role::flag, {}, true}; }

Argument use_bias() { return flag_argument("use_bias", true); }

double shape_distance(const Dims& a, const Dims& b) {
  const std::size_t common = std::min(a.size(), b.size());
  double distance = 10 * static_cast<double>(std::max(a.size(), b.size()) - common);
  for (std::size_t d = 0; d < common; ++d) {
    if (a[d].known() && b[d].known()) {
      distance += std::abs(static_cast<double>(a[d].value - b[d].value));
    }
  }
  return std::max(distance, 1.0);
}

void require_spatial(Check& c) {
  c.one_of("data_format", {"channels_last", "channels_first"});
  c.rank("x", exactly(layer_of(c.site).spatial + 2));
}

void require_activation(Check& c, std::string_view argument) {
  const std::string& name = c.site.text(argument);
  c.argument(is_activation(name), "activation", "a function that Keras has", name);
  if (!halves_axis(name) || !c.site.rank(0)) return;
  const Dim halved = c.site.has("units") ? Dim(c.site.integer("units")) : extent(c.site, -1);
  c.divisible(halved, 2, "what the activation halves");
}

}  // namespace assay::keras
