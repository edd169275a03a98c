// Random numbers, from a shape that the graph computes.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

std::string drawn_like(Builder& b, const char* op, const std::string& shape, ElementType type) {
  return b(op, {zeros(b, shape, type)}, {attribute("dtype", static_cast<std::int64_t>(type))});
}

std::string drawn(Builder& b, const char* op) {
  return drawn_like(b, op, flat_indices(b, 0), type_of(b, "dtype"));
}

void uniform(Builder& b) { b.output(0, drawn(b, "RandomUniformLike")); }

void normal(Builder& b) { b.output(0, drawn(b, "RandomNormalLike")); }

// TensorFlow draws again what is farther than twice the deviation: the range is the same here, the
// distribution has the farthest ones at the ends.
void truncated_normal(Builder& b) {
  b.output(
      0, b("Clip", {drawn(b, "RandomNormalLike"), number(b, -2, "dtype"), number(b, 2, "dtype")}));
}

// `low` is the input with the least number, the next one has the first that is too large.
void integers_between(Builder& b, std::size_t low, const char* type) {
  const std::string part = drawn_like(b, "RandomUniformLike", flat_indices(b, 0), ElementType::f64);
  const std::string width = cast(b, b("Sub", {b.input(low + 1), b.input(low)}), ElementType::f64);
  const std::string offset = to_type(b, b("Floor", {b("Mul", {part, width})}), type);
  b.output(0, b("Add", {b.input(low), offset}));
}

// (shape, low, high)
void uniform_integers(Builder& b) { integers_between(b, 1, "Tout"); }

// (shape, seed, low, high)
void seeded_integers(Builder& b) { integers_between(b, 2, "dtype"); }

// (shape, key, counter, algorithm, low, high)
void keyed_integers(Builder& b) { integers_between(b, 4, "dtype"); }

std::string any_words(Builder& b, std::int64_t count) {
  const std::string part =
      drawn_like(b, "RandomUniformLike", b.integers({count}), ElementType::f64);
  const std::string most = b.constant(make_scalar(ElementType::f64, 0x1p63));
  return cast(b, b("Floor", {b("Mul", {part, most})}), ElementType::u64);
}

// (seed): what a generator goes on with, which no one can foretell.
void key_and_counter(Builder& b) {
  b.output(0, any_words(b, 1));
  b.output(1, any_words(b, 2));
}

// Rows in the order of random keys.
void shuffle(Builder& b) {
  const std::string count = extent(b, b.input(0), 0);
  const std::string keys = drawn_like(b, "RandomUniformLike", count, ElementType::f64);
  b.output(0,
           b("Gather", {b.input(0), b.many("TopK", {keys, count}, 2)[1]}, {attribute("axis", 0)}));
}

// (logits, number of samples): the largest of logit + Gumbel noise is drawn as the logits say.
void multinomial(Builder& b) {
  const std::string samples = flat_indices(b, 1);
  const std::string rows = extent(b, b.input(0), 0), classes = extent(b, b.input(0), 1);
  const std::string all = join(b, {rows, samples, classes});
  const std::string part = drawn_like(b, "RandomUniformLike", all, ElementType::f32);
  const std::string least = b.constant(make_scalar(ElementType::f32, 1e-30));
  const std::string inside = b("Max", {part, least});
  const std::string waiting = b("Max", {b("Neg", {b("Log", {inside})}), least});
  const std::string noise = b("Neg", {b("Log", {waiting})});
  const std::string logits =
      b("Unsqueeze", {cast(b, b.input(0), ElementType::f32), b.integers({1})});
  const std::string best =
      b("ArgMax", {b("Add", {logits, noise})}, {attribute("axis", -1), attribute("keepdims", 0)});
  const auto type = b.site().integer("output_dtype", static_cast<int>(ElementType::i64));
  b.output(0, cast(b, best, static_cast<ElementType>(type)));
}

}  // namespace

std::vector<Definition> random_definitions() {
  return {{"Multinomial", multinomial},
          {"RandomShuffle", shuffle},
          {"RandomStandardNormal", normal},
          {"RandomUniform", uniform},
          {"RandomUniformInt", uniform_integers},
          {"StatelessRandomGetKeyCounter", key_and_counter, 2},
          {"StatelessRandomNormal", normal},
          {"StatelessRandomNormalV2", normal},
          {"StatelessRandomUniform", uniform},
          {"StatelessRandomUniformInt", seeded_integers},
          {"StatelessRandomUniformIntV2", keyed_integers},
          {"StatelessRandomUniformV2", uniform},
          {"StatelessTruncatedNormal", truncated_normal},
          {"StatelessTruncatedNormalV2", truncated_normal},
          {"TruncatedNormal", truncated_normal}};
}

}  // namespace assay::tensorflow
