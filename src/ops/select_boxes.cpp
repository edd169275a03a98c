// NonMaxSuppression.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/select_parts.h"
#include "ops/shape_numbers.h"
#include "patterns/compute.h"

namespace assay {
namespace {

// Conditions decide which boxes there are, so they must be sure.
bool decide(bool condition) { return condition; }
bool decide(Truth condition) {
  if (!condition.is_known()) throw InexactDecision("rounding decides which box is selected");
  return condition.may_be_true;
}
bool surely(bool condition) { return condition; }
bool surely(Truth condition) { return condition.is_known() && condition.may_be_true; }

template <class S>
struct Box {
  S left, top, right, bottom, area;
};

template <class S>
Box<S> read_box(const S* x, bool center) {
  Box<S> box;
  if (center) {
    const S half_width = x[2] / constant<S>(2), half_height = x[3] / constant<S>(2);
    box = {x[0] - half_width, x[1] - half_height, x[0] + half_width, x[1] + half_height, S()};
  } else {
    box = {min(x[1], x[3]), min(x[0], x[2]), max(x[1], x[3]), max(x[0], x[2]), S()};
  }
  box.area = (box.right - box.left) * (box.bottom - box.top);
  return box;
}

template <class S>
bool overlaps(const Box<S>& a, const Box<S>& b, const S& threshold) {
  const S width = min(a.right, b.right) - max(a.left, b.left);
  const S height = min(a.bottom, b.bottom) - max(a.top, b.top);
  if (surely(less_equal(width, zero<S>())) || surely(less_equal(height, zero<S>()))) return false;
  if (surely(less_equal(a.area, zero<S>())) || surely(less_equal(b.area, zero<S>()))) return false;
  const S common = max(width, zero<S>()) * max(height, zero<S>());
  return decide(less(threshold, common / (a.area + b.area - common)));
}

// Boxes from the best score down; of equals the first comes first, NaN comes last.
template <class S>
std::vector<std::int64_t> by_score(const S* scores, std::vector<std::int64_t> boxes) {
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const double x = to_double(scores[a]), y = to_double(scores[b]);
    return x > y || (x == x && y != y);
  };
  std::stable_sort(boxes.begin(), boxes.end(), before);
  if constexpr (!Plain<S>)
    for (std::size_t i = 1; i < boxes.size(); ++i)
      decide(less_equal(scores[boxes[i]], scores[boxes[i - 1]]));
  return boxes;
}

struct NonMaxSuppression {
  template <class S>
  void operator()(Frame<S>& frame) const {
    const Array<S> boxes = frame.input(0), scores = frame.input(1);
    const std::int64_t batches = scores.shape[0], classes = scores.shape[1],
                       count = scores.shape[2];
    const std::int64_t most = frame.has(2) ? whole_numbers(frame.exact(2))[0] : 0;
    const S threshold = frame.has(3) ? frame.input(3)[0] : zero<S>();
    const bool filters = frame.has(4);
    const S least = filters ? frame.input(4)[0] : zero<S>();
    const bool center = frame.site().integer("center_point_box") != 0;
    std::vector<std::int64_t> result;
    for (std::int64_t n = 0; n < batches && most > 0 && count > 0; ++n) {
      std::vector<Box<S>> all;
      for (std::int64_t i = 0; i < count; ++i)
        all.push_back(read_box(&boxes.data[static_cast<std::size_t>((n * count + i) * 4)], center));
      for (std::int64_t k = 0; k < classes; ++k) {
        const S* row = &scores.data[static_cast<std::size_t>((n * classes + k) * count)];
        std::vector<std::int64_t> candidates, kept;
        for (std::int64_t i = 0; i < count; ++i)
          if (!filters || !decide(less(row[i], least))) candidates.push_back(i);
        for (std::int64_t i : by_score(row, std::move(candidates))) {
          if (static_cast<std::int64_t>(kept.size()) >= most) break;
          const auto covered = [&](std::int64_t other) {
            return overlaps(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(other)],
                            threshold);
          };
          if (std::any_of(kept.begin(), kept.end(), covered)) continue;
          kept.push_back(i);
          result.insert(result.end(), {n, k, i});
        }
      }
    }
    const auto rows = static_cast<std::int64_t>(result.size() / 3);
    frame.output(0, Value(make_integers(ElementType::i64, {rows, 3}, result)));
  }
};

void require_non_max_suppression(Check& c) {
  if (!c.rank("boxes", exactly(3)) || !c.rank("scores", exactly(3))) return;
  const Dims& scores = *c.dims("scores");
  c.extent("boxes", 2, 4, "the coordinates of a box");
  c.extent("boxes", 0, scores[0], "the batch of scores");
  c.extent("boxes", 1, scores[2], "the boxes of scores");
  for (const char* input : {"max_output_boxes_per_class", "iou_threshold", "score_threshold"})
    c.element_count_is(input, 1);
  c.in_range("center_point_box", between(0, 1));
  const Tensor* threshold = c.site.constant(3);
  if (!threshold || threshold->size() != 1) return;
  const double value = threshold->real(0);
  if (!(value >= 0 && value <= 1))
    c.argument(false, "iou-range", "an iou_threshold from 0 to 1", std::to_string(value));
}

// With corners that count as pixels of their own, a box is one wider and higher than their
// difference.
void corners_are_pixels(Builder& b) {
  if (b.site().integer("center_point_box") != 0) return b.output(0, b.again().front());
  const auto corners =
      b.many("Split", {b.input(0)}, 2, {attribute("axis", 2), attribute("num_outputs", 2)});
  const std::string low = b("Min", {corners[0], corners[1]});
  const std::string high = b("Max", {corners[0], corners[1]});
  const std::string boxes =
      b("Concat", {low, b("Add", {high, b.like(0, 1)})}, {attribute("axis", 2)});
  b.output(0, b.again_on({boxes, b.input(1), b.input(2), b.input(3), b.input(4)}).front());
}

// The text removes scores less than the threshold; these remove equal ones as well.
void equal_score_is_removed(Builder& b) {
  const Tensor* threshold = b.site().constant(4);
  if (!threshold || threshold->size() != 1) return b.output(0, b.again().front());
  const auto value = static_cast<float>(threshold->real(0));
  const float next = std::nextafter(value, std::numeric_limits<float>::infinity());
  b.output(0, b.again_on({b.input(0), b.input(1), b.input(2), b.input(3),
                          b.constant(make_scalar(ElementType::f32, next))})
                  .front());
}

Operator non_max_suppression() {
  return {.name = "NonMaxSuppression",
          .versions = {10, 11},
          .summary = "The best boxes of each class that do not overlap a better one too much.",
          .attributes = {{"center_point_box", Role::flag}},
          .require = require_non_max_suppression,
          .infer =
              [](Infer& n) {
                n.output(0, ElementType::i64, {Dim(), 3});
              },
          .meaning = compute<NonMaxSuppression>(Pattern::opaque),
          .variants = {
              {"corners-are-pixels", Variant::Kind::difference,
               "py-faster-rcnn and Detectron, whose areas count (x2 - x1 + 1)", corners_are_pixels},
              {"equal-score-is-removed", Variant::Kind::difference,
               "ONNX Runtime and onnx.reference", equal_score_is_removed}}};
}

}  // namespace

std::vector<Operator> select_box_operators() { return {non_max_suppression()}; }

}  // namespace assay
