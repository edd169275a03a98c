#include "validate/reshaping.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "layers/keras/layers.h"

namespace assay {
namespace {

std::int64_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

class ChainBuilder {
 public:
  ChainBuilder(std::string from, std::string name)
      : value_(std::move(from)), name_(std::move(name)) {}

  void add(const std::string& op, const std::string& argument, Extents value) {
    // Of two changes of shape without anything between them, the second counts.
    if (op == "Reshape" && !chain_.layers.empty() && chain_.layers.back().op == op) {
      value_ = chain_.layers.back().inputs.front();
      chain_.layers.pop_back();
      chain_.what.resize(shorter_);
    }
    shorter_ = chain_.what.size();
    Node node;
    node.op = op;
    node.domain = keras::kDomain;
    node.inputs = {value_};
    node.attributes = {{argument, value}};
    if (!chain_.what.empty()) chain_.what += ", ";
    chain_.what += fmt::format("{} {}", op, to_text(value));
    value_ = fmt::format("{}/{}{}", name_, op, chain_.layers.size());
    node.name = value_;
    node.outputs = {value_};
    chain_.layers.push_back(std::move(node));
  }
  ShapeChain finish() { return std::move(chain_); }

 private:
  std::string value_, name_;
  ShapeChain chain_;
  std::size_t shorter_ = 0;  // the length of the text before the last layer
};

// What is missing, or too much, at the end of each spatial axis.
Extents borders(const Extents& has, const Extents& wants, std::size_t spatial, bool missing) {
  Extents both;
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t more = missing ? wants[d] - has[d] : has[d] - wants[d];
    both.insert(both.end(), {0, std::max<std::int64_t>(more, 0)});
  }
  return both;
}

bool any(const Extents& values) {
  return std::ranges::any_of(values, [](std::int64_t v) { return v != 0; });
}

}  // namespace

ShapeChain shape_chain(const std::string& from, const Extents& has, const Extents& wants,
                       const std::string& name) {
  ChainBuilder chain(from, name);
  if (product(has) == product(wants)) {
    chain.add("Reshape", "target_shape", wants);
    return chain.finish();
  }
  Extents current = has;
  if (has.size() != wants.size()) {
    const std::vector<Extents> shapes = shapes_of_rank(has, wants.size());
    if (shapes.empty()) return {};
    current = shapes.front();
    chain.add("Reshape", "target_shape", current);
  }
  // The last axis is the channels', which no border is put on: one more axis makes it spatial.
  const bool channels = current.empty() || current.back() != wants.back();
  const std::size_t spatial = current.size() - (channels ? 0 : 1);
  if (spatial < 1 || spatial > 3) return {};
  if (channels) {
    Extents wider = current;
    wider.push_back(1);
    chain.add("Reshape", "target_shape", wider);
  }
  const Extents missing = borders(current, wants, spatial, true);
  const Extents surplus = borders(current, wants, spatial, false);
  if (any(missing)) chain.add(fmt::format("ZeroPadding{}D", spatial), "padding", missing);
  if (any(surplus)) chain.add(fmt::format("Cropping{}D", spatial), "cropping", surplus);
  if (channels) chain.add("Reshape", "target_shape", wants);
  return chain.finish();
}

std::vector<Extents> shapes_of_rank(const Extents& has, std::size_t axes) {
  std::vector<Extents> shapes;
  if (axes == 0 || has.empty()) return shapes;
  if (has.size() <= axes) {
    // In front of the channels, behind them, or behind the batch.
    const std::size_t more = axes - has.size();
    for (const std::size_t place : {has.size() - 1, has.size(), std::size_t{0}}) {
      Extents shape = has;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(place), more, 1);
      if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(std::move(shape));
    }
    return shapes;
  }
  for (std::size_t first = 0; first + (has.size() - axes) < has.size(); ++first) {
    Extents shape(has.begin(), has.begin() + static_cast<std::ptrdiff_t>(first));
    const std::size_t last = first + (has.size() - axes) + 1;
    std::int64_t joined = 1;
    for (std::size_t d = first; d < last; ++d) joined *= has[d];
    shape.push_back(joined);
    shape.insert(shape.end(), has.begin() + static_cast<std::ptrdiff_t>(last), has.end());
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace assay
