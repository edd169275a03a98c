// Distances between what two backends say of one instance: the published ones (CRADLE, section 3),
// and those of vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace assay {

enum class Metric : std::uint8_t { bound, mad, class_rank, l2, cosine };
std::string_view to_text(Metric metric);  // "bound", "mad", "class", "l2", "cosine"
std::optional<Metric> find_metric(std::string_view text);

inline constexpr double kClassThreshold = 8, kMadThreshold = 0.2;

// |σ(a) - σ(b)| with σ = 2^(5 - rank of the true label) within the first five, else 0: 0 … 16. Of
// equal scores the lower index ranks first.
double class_distance(std::span<const double> a, std::span<const double> b, std::int64_t label);

// |δa - δb| / (δa + δb) with δ the mean absolute difference from the truth: 0 … 1.
double mad_distance(std::span<const double> a, std::span<const double> b,
                    std::span<const double> truth);

// ‖a - b‖ / ‖truth‖; infinity if they differ where the truth is 0, or in what is no number.
double l2_distance(std::span<const double> a, std::span<const double> b,
                   std::span<const double> truth);

// 1 - cos of the angle between them: 0 … 2.
double cosine_distance(std::span<const double> a, std::span<const double> b);

// How many distances lie in each bin: of class distances one for each possible value (0, 1, 2, 3,
// … 16 that occur as differences of powers of two), of MAD distances five of width 0.2, of others
// those up to the threshold and those beyond.
std::vector<std::int64_t> pattern_of(Metric metric, std::span<const double> distances,
                                     double threshold);

}  // namespace assay
