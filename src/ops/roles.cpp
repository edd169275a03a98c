#include "ops/roles.h"

#include <cmath>
#include <limits>

namespace assay {
namespace {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt32 = std::int64_t{1} << 31;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

const Integers& hostile_integers(Role role) {
  static const Integers kSizes = {0, -1, kInt32, kHuge};
  static const Integers kAxes = {-1000, 1000, kHuge, std::numeric_limits<std::int64_t>::min()};
  static const Integers kFlags = {-1, 2, kHuge};
  static const Integers kTypes = {0, -1, 99, kHuge};
  static const Integers kNumbers = {-1, 0, kInt32, kHuge, std::numeric_limits<std::int64_t>::min()};
  switch (role) {
    case Role::sizes:
    case Role::pads:
    case Role::count:
      return kSizes;
    case Role::axis:
    case Role::axes:
    case Role::permutation:
      return kAxes;
    case Role::flag:
      return kFlags;
    case Role::type:
      return kTypes;
    default:
      return kNumbers;
  }
}

const Reals& hostile_reals() {
  static const Reals kValues = {0, -1, 1e300, kInfinity, -kInfinity, kNaN};
  return kValues;
}

// Lists of the given length filled with each value, then one too long and an empty one.
template <class T>
std::vector<AttributeValue> hostile_lists(const std::vector<T>& values, std::size_t length,
                                          T filler) {
  std::vector<AttributeValue> result;
  for (const T& value : values) result.emplace_back(std::vector<T>(length, value));
  result.emplace_back(std::vector<T>(length + 1, filler));
  result.emplace_back(std::vector<T>{});
  return result;
}

template <class T>
std::size_t length_of(const AttributeValue* like) {
  const auto* list = like ? std::get_if<std::vector<T>>(like) : nullptr;
  return list ? list->size() : 2;
}

}  // namespace

std::vector<AttributeValue> hostile_values(Role role, AttributeKind kind,
                                           const AttributeValue* like) {
  std::vector<AttributeValue> result;
  switch (kind) {
    case AttributeKind::integer:
      for (std::int64_t value : hostile_integers(role)) result.emplace_back(value);
      break;
    case AttributeKind::real:
      for (double value : hostile_reals()) result.emplace_back(value);
      break;
    case AttributeKind::text:
      result.emplace_back(std::string());
      result.emplace_back(std::string("no such word"));
      break;
    case AttributeKind::integers:
      return hostile_lists(hostile_integers(role), length_of<std::int64_t>(like), std::int64_t{1});
    case AttributeKind::reals:
      return hostile_lists(hostile_reals(), length_of<double>(like), 1.0);
    case AttributeKind::texts:
      return hostile_lists<std::string>({"", "no such word"}, length_of<std::string>(like), "a");
    default:
      break;
  }
  return result;
}

std::vector<AttributeValue> legal_values(Role role, AttributeKind kind, std::int64_t rank) {
  std::vector<AttributeValue> result;
  const auto spatial = static_cast<std::size_t>(std::max<std::int64_t>(rank - 2, 0));
  switch (role) {
    case Role::flag:
      result = {std::int64_t{0}, std::int64_t{1}};
      break;
    case Role::axis:
      for (std::int64_t axis = -rank; axis < rank; ++axis) result.emplace_back(axis);
      break;
    case Role::axes:
      for (std::int64_t axis = 0; axis < rank; ++axis) result.emplace_back(Integers{axis});
      break;
    case Role::permutation: {
      Integers order;
      for (std::int64_t axis = 0; axis < rank; ++axis) order.insert(order.begin(), axis);
      result.emplace_back(order);
      break;
    }
    case Role::sizes:
      for (std::int64_t size : {1, 2, 3}) result.emplace_back(Integers(spatial, size));
      break;
    case Role::pads:
      for (std::int64_t size : {0, 1, 2}) result.emplace_back(Integers(2 * spatial, size));
      break;
    case Role::count:
      result = {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}};
      break;
    case Role::index:
    case Role::number:
    case Role::seed:
      result = {std::int64_t{0}, std::int64_t{1}};
      break;
    case Role::epsilon:
      result = {1e-5, 1e-3, 0.1};
      break;
    case Role::ratio:
      result = {0.0, 0.25, 0.5, 1.0};
      break;
    case Role::factor:
    case Role::bounds:
      result = {-1.0, 0.0, 0.5, 1.0, 3.0};
      break;
    case Role::factors:
      result = {Reals{0.5}, Reals{1.0, 2.0}};
      break;
    default:
      break;
  }
  // A role may be given by attributes of several kinds; only values of this one can be set.
  std::erase_if(result, [&](const AttributeValue& value) {
    const bool integer = std::holds_alternative<std::int64_t>(value);
    const bool real = std::holds_alternative<double>(value);
    const bool integers = std::holds_alternative<Integers>(value);
    return !((kind == AttributeKind::integer && integer) || (kind == AttributeKind::real && real) ||
             (kind == AttributeKind::integers && integers) ||
             (kind == AttributeKind::reals && std::holds_alternative<Reals>(value)));
  });
  return result;
}

}  // namespace assay
