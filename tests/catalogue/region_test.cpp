// A region of interest that is a range: Resize answers with all that any region in it gives, and
// with no more than the input and what lies outside where it only mixes these.
#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "graph/graph.h"
#include "patterns/array.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr int kOpset = 19;
constexpr double kOutside = -3;

struct Sampling {
  const char* mode;
  bool antialias, exclude_outside;
  std::int64_t input, output;
};

Node crop_node(const Sampling& s) {
  Node node;
  node.op = "Resize";
  node.inputs = {"X", "roi", "", "sizes"};
  node.outputs = {"Y"};
  node.set("mode", std::string(s.mode));
  node.set("coordinate_transformation_mode", std::string("tf_crop_and_resize"));
  node.set("extrapolation_value", kOutside);
  node.set("antialias", std::int64_t{s.antialias});
  node.set("exclude_outside", std::int64_t{s.exclude_outside});
  return node;
}

// A region, how far its ends may move, and an input of small whole numbers.
struct Crop {
  double start, end, reach;
  Tensor x;

  std::vector<Value> inputs(const Sampling& s, Value roi) const {
    return {x, std::move(roi), Value(), make_vector(std::vector<std::int64_t>{s.output})};
  }
  Value ranges() const {
    return Value::ranges(
        ElementType::f64, {2},
        {{start - reach, start + reach, false}, {end - reach, end + reach, false}});
  }
};

Crop draw(const Sampling& s, std::mt19937_64& random) {
  std::uniform_real_distribution<double> end(-0.5, 1.5);
  const double reach = std::array{1e-4, 0.05, 1.0}[random() % 3];
  std::vector<double> elements;
  for (std::int64_t i = 0; i < s.input; ++i) elements.push_back(static_cast<double>(random() % 9));
  return {end(random), end(random), reach, make_tensor(ElementType::f32, {s.input}, elements)};
}

std::vector<Interval> ranges_of(const Sampling& s, const Crop& crop) {
  bool unknown = false;
  const auto found = evaluate_node(crop_node(s), kOpset, crop.inputs(s, crop.ranges()),
                                   Reading::interval, nullptr, 0, &unknown);
  EXPECT_TRUE(found) << found.error().message;
  EXPECT_FALSE(unknown);
  return load<Interval>((*found)[0]).data;
}

void expect_covered(const Sampling& s, const Crop& crop, const std::vector<Interval>& ranges,
                    std::mt19937_64& random) {
  std::uniform_real_distribution<double> move(-crop.reach, crop.reach);
  const std::vector<double> ends = {crop.start + move(random), crop.end + move(random)};
  const auto values =
      evaluate_node(crop_node(s), kOpset, crop.inputs(s, make_tensor(ElementType::f64, {2}, ends)),
                    Reading::value);
  ASSERT_TRUE(values) << values.error().message;
  const std::vector<double> y = (*values)[0].tensor().reals();
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_TRUE(ranges[i].contains(y[i]))
        << s.mode << " element " << i << ": " << y[i] << " outside of [" << ranges[i].low << ", "
        << ranges[i].high << "], region " << ends[0] << " to " << ends[1];
}

// Two weights that are ranges reach beyond what they mix, but not far.
void expect_narrow(const Sampling& s, const Crop& crop, const std::vector<Interval>& ranges) {
  const std::string_view mode = s.mode;
  if (mode == "cubic" || (mode == "linear" && (s.antialias || s.exclude_outside))) return;
  const std::vector<double> x = crop.x.reals();
  const double most = *std::max_element(x.begin(), x.end());
  const double slack = mode == "linear" ? most - kOutside : 0;
  for (const Interval& range : ranges) {
    EXPECT_GE(range.low, kOutside - slack) << mode;
    EXPECT_LE(range.high, most + slack) << mode;
  }
}

TEST(Region, ARangeCoversEveryRegionInIt) {
  std::mt19937_64 random(7);
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const bool antialias : {false, true})
      for (const bool exclude : {false, true})
        for (const auto& [input, output] : {std::pair(1, 3), {5, 1}, {4, 7}, {9, 4}})
          for (int round = 0; round < 12; ++round) {
            const Sampling s{mode, antialias, exclude, input, output};
            const Crop crop = draw(s, random);
            const std::vector<Interval> ranges = ranges_of(s, crop);
            for (int point = 0; point < 8; ++point) expect_covered(s, crop, ranges, random);
            expect_narrow(s, crop, ranges);
          }
}

}  // namespace
}  // namespace assay
