// The published distances between what two backends say of one instance (CRADLE, section 3).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay {

enum class Metric : std::uint8_t { class_rank, mad };
std::string_view to_text(Metric metric);  // "class", "mad"

inline constexpr double kClassThreshold = 8, kMadThreshold = 0.2;
double threshold_of(Metric metric);

// |σ(a) - σ(b)| with σ = 2^(5 - rank of the true label) within the first five, else 0: 0 … 16. Of
// equal scores the lower index ranks first.
double class_distance(std::span<const double> a, std::span<const double> b, std::int64_t label);

// |δa - δb| / (δa + δb) with δ the mean absolute difference from the truth: 0 … 1.
double mad_distance(std::span<const double> a, std::span<const double> b,
                    std::span<const double> truth);

// How many distances lie in each bin: of class distances one for each possible value (0, 1, 2, 3,
// … 16 that occur as differences of powers of two), of others five of width 0.2.
std::vector<std::int64_t> pattern_of(Metric metric, std::span<const double> distances);

}  // namespace assay
