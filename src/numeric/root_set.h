// RootSet: which inputs and parameters a value depends on. Values of one network mostly depend on
// the same ones, so sets are shared and never changed.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace assay {

class RootSet {
 public:
  RootSet() = default;
  explicit RootSet(int root) : roots_(std::make_shared<const std::vector<int>>(1, root)) {}

  void add(const RootSet& other) {
    if (!other.roots_ || roots_ == other.roots_) return;
    if (!roots_) {
      roots_ = other.roots_;
      return;
    }
    std::vector<int> both;
    std::set_union(begin(), end(), other.begin(), other.end(), std::back_inserter(both));
    if (both.size() == other.size())
      roots_ = other.roots_;
    else if (both.size() != size())
      roots_ = std::make_shared<const std::vector<int>>(std::move(both));
  }

  const int* begin() const { return roots_ ? roots_->data() : nullptr; }
  const int* end() const { return roots_ ? roots_->data() + roots_->size() : nullptr; }
  std::size_t size() const { return roots_ ? roots_->size() : 0; }

 private:
  std::shared_ptr<const std::vector<int>> roots_;  // ascending; none: empty
};

}  // namespace assay
