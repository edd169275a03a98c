// Words that the definitions of several families share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/tensorflow/definitions.h"

namespace assay::tensorflow {

using Names = Builder::Values;

// Ends of a slice that take all there is, in either direction.
inline constexpr std::int64_t kToEnd = INT64_MAX;
inline constexpr std::int64_t kToStart = INT64_MIN;

// One node of the standard that has TensorFlow's operation as it is, by a table of names.
struct Renamed {
  std::string_view op, standard;
};
std::string_view standard_name(std::span<const Renamed> table, std::string_view op);
Names all_inputs(const Builder& b);

ElementType type_of(const Builder& b, std::string_view attribute = "T");
std::string number(Builder& b, double value, std::string_view attribute = "T");  // rank 0
std::string cast(Builder& b, std::string value, ElementType type);
std::string to_type(Builder& b, std::string value, std::string_view attribute);  // of an attribute
std::string square(Builder& b, const std::string& value);

// Integer inputs, which TensorFlow has in 32 bits, as the standard takes them.
std::string indices(Builder& b, std::size_t i);       // i64, of the input's shape
std::string flat_indices(Builder& b, std::size_t i);  // i64[n]
std::string flat(Builder& b, const std::string& value);
std::optional<std::vector<std::int64_t>> known_integers(const Builder& b, std::size_t i);
// The same where an attribute of the standard needs them.
std::vector<std::int64_t> needed_integers(const Builder& b, std::size_t i, const char* what);
std::int64_t needed_integer(const Builder& b, std::size_t i, const char* what);

std::string extent(Builder& b, const std::string& value, std::int64_t axis);  // i64[1]
std::string rank_of(Builder& b, const std::string& value);                    // i64[1]
std::string shape_from(Builder& b, const std::string& value, const std::string& axis);
std::string join(Builder& b, Names values);  // vectors, end to end
std::string zeros(Builder& b, const std::string& shape, ElementType type, double value = 0);
// Integers from 0 to `end` (i64[1]).
std::string count_up(Builder& b, const std::string& end);
std::string sum_over(Builder& b, const std::string& value, const std::string& axes, bool keep);
std::string mean_over(Builder& b, const std::string& value, const std::string& axes, bool keep);
std::string transpose(Builder& b, const std::string& value, std::vector<std::int64_t> perm);

// Images: TensorFlow has channels last unless data_format begins with "NC".
bool channels_last(const Builder& b);
std::string channels_first(Builder& b, const std::string& value);  // into the standard's order
std::string as_data_format(Builder& b, const std::string& value);  // and back
std::vector<std::int64_t> spatial(const Builder& b, std::string_view attribute);
std::string channel_axes(Builder& b, const std::string& value);  // all axes but the channels'
std::string along_channels(Builder& b, const std::string& vector, const std::string& like);

}  // namespace assay::tensorflow
