// RootSet: which inputs and parameters a value depends on. Values of one network mostly depend on
// the same ones, so sets are shared and never changed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace assay {

class RootSet {
 public:
  RootSet() = default;
  explicit RootSet(int root) {
    const auto place = static_cast<std::size_t>(root);
    Words words(place / kBits + 1);
    words.back() = std::uint64_t{1} << place % kBits;
    words_ = std::make_shared<const Words>(std::move(words));
  }

  void add(const RootSet& other) {
    if (words_ == other.words_ || holds_all(other)) return;
    if (other.holds_all(*this)) {
      words_ = other.words_;
      return;
    }
    Words both(std::max(words_->size(), other.words_->size()));
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = word(i) | other.word(i);
    words_ = std::make_shared<const Words>(std::move(both));
  }

  bool contains(int root) const {
    const auto place = static_cast<std::size_t>(root);
    return (word(place / kBits) >> place % kBits & 1) != 0;
  }
  std::size_t size() const {
    std::size_t count = 0;
    for (std::size_t i = 0; words_ && i < words_->size(); ++i)
      count += static_cast<std::size_t>(std::popcount(word(i)));
    return count;
  }
  // Ascending; the first so many.
  std::vector<int> all(std::size_t most = SIZE_MAX) const {
    std::vector<int> roots;
    for (std::size_t i = 0; words_ && i < words_->size(); ++i)
      for (std::uint64_t left = word(i); left != 0 && roots.size() < most; left &= left - 1)
        roots.push_back(static_cast<int>(i * kBits) + std::countr_zero(left));
    return roots;
  }

 private:
  using Words = std::vector<std::uint64_t>;
  static constexpr std::size_t kBits = 64;

  std::uint64_t word(std::size_t i) const {
    return words_ && i < words_->size() ? (*words_)[i] : 0;
  }
  bool holds_all(const RootSet& other) const {
    for (std::size_t i = 0; other.words_ && i < other.words_->size(); ++i)
      if ((other.word(i) & ~word(i)) != 0) return false;
    return true;
  }

  std::shared_ptr<const Words> words_;  // a bit for each root; none: empty
};

}  // namespace assay
