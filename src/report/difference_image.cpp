#include "report/difference_image.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

constexpr int kLevels = 9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double difference_of(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::abs(a - b);
  return std::isnan(difference) ? kInfinity : difference;
}

char level_of(double difference, double largest) {
  if (difference == 0) return '0';
  if (std::isinf(difference)) return '!';
  const int below = static_cast<int>(std::floor(-2 * std::log10(difference / largest)));
  return static_cast<char>('0' + std::clamp(kLevels - below, 1, kLevels));
}

bool is_more(char a, char b) { return b != '!' && (a == '!' || a > b); }

void set_grid(const Tensor& tensor, std::int64_t side, DifferenceImage& image) {
  image.columns = tensor.rank() == 0 ? 1 : tensor.shape().back();
  image.rows = tensor.size() / image.columns;
  if (image.rows == 1) {
    image.columns =
        std::min(image.columns,
                 std::max(side, static_cast<std::int64_t>(std::ceil(std::sqrt(tensor.size())))));
    image.rows = (tensor.size() + image.columns - 1) / image.columns;
  }
  image.width = std::min(image.columns, side);
  image.height = std::min(image.rows, side);
}

}  // namespace

std::optional<DifferenceImage> difference_image(const Tensor& a, const Tensor& b,
                                                std::int64_t side) {
  const bool alike = a.type() == b.type() && a.shape() == b.shape();
  if (!alike || !has_numbers(a.type()) || a.size() == 0) return {};
  const std::vector<double> first = a.reals(), second = b.reals();
  DifferenceImage image;
  set_grid(a, side, image);
  std::vector<double> cells(static_cast<std::size_t>(image.width * image.height), 0);
  double largest = 0, finite = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const double difference = difference_of(first[place], second[place]);
    if (difference > largest) {
      largest = difference;
      image.at = i;
    }
    if (!std::isinf(difference)) finite = std::max(finite, difference);
    const std::int64_t y = i / image.columns * image.height / image.rows;
    const std::int64_t x = i % image.columns * image.width / image.columns;
    double& cell = cells[static_cast<std::size_t>(y * image.width + x)];
    cell = std::max(cell, difference);
  }
  if (largest == 0) return {};
  image.largest = largest;
  for (const double cell : cells) image.cells += level_of(cell, finite);
  return image;
}

DifferenceImage shrunk(const DifferenceImage& image, std::int64_t side) {
  if (image.height <= side && image.width <= side) return image;
  DifferenceImage result = image;
  result.height = std::min(image.height, side);
  result.width = std::min(image.width, side);
  result.cells.assign(static_cast<std::size_t>(result.width * result.height), '0');
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const std::int64_t to =
          y * result.height / image.height * result.width + x * result.width / image.width;
      char& cell = result.cells[static_cast<std::size_t>(to)];
      const char level = image.cells[static_cast<std::size_t>(y * image.width + x)];
      if (is_more(level, cell)) cell = level;
    }
  }
  return result;
}

}  // namespace assay
