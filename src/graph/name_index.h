// NameIndex: numbers for names, in the order in which they come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// Graphs of 10^5 names are looked up in several of these: entries lie in two lists instead of one
// allocation each. Few names are compared instead of hashed.
class NameIndex {
 public:
  enum class Names : std::uint8_t { outlive, copied };
  explicit NameIndex(Names names = Names::outlive) : copies_(names == Names::copied) {}

  void reserve(std::size_t count) { entries_.reserve(count); }
  std::size_t size() const { return entries_.size(); }
  bool contains(std::string_view name) const { return find(name) >= 0; }
  std::string_view name(std::size_t number) const { return entries_[number].name; }

  int find(std::string_view name) const {  // -1: it has not come
    if (places_.empty()) return compare_all(name);
    return places_[place_of(name, hash_of(name))];
  }

  // The name's number, and whether it is new.
  std::pair<int, bool> add(std::string_view name) {
    const auto next = static_cast<int>(entries_.size());
    if (places_.empty()) {
      if (const int known = compare_all(name); known >= 0) return {known, false};
      append(name, start_of(name));
      if (entries_.size() > kMostCompared) hash_all();
      return {next, true};
    }
    const std::uint64_t hash = hash_of(name);
    const std::size_t place = place_of(name, hash);
    if (places_[place] >= 0) return {places_[place], false};
    places_[place] = next;
    append(name, hash);
    if (entries_.size() * 2 > places_.size()) spread(places_.size() * 2);
    return {next, true};
  }

  void clear() {
    entries_.clear();
    places_.clear();
  }

 private:
  struct Entry {
    std::uint64_t mark;  // the hash; of few names their start: what differs mostly differs there
    std::string_view name;
  };
  static constexpr std::size_t kMostCompared = 16;
  static constexpr std::size_t kFirstChunk = 1 << 8, kLargestChunk = 1 << 16;

  // Eight bytes at a time, for names of graphs are long.
  static std::uint64_t hash_of(std::string_view name) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    std::uint64_t hash = name.size() * kOdd;
    const char* at = name.data();
    std::size_t left = name.size();
    for (; left > sizeof hash; left -= sizeof hash, at += sizeof hash) hash = mixed(hash, word(at));
    std::uint64_t last = 0;
    if (name.size() >= sizeof last)
      last = word(at + left - sizeof last);  // some of it again
    else if (left > 0)
      std::memcpy(&last, at, left);
    return mixed(hash, last);
  }
  static std::uint64_t word(const char* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  // Both halves of a product: each bit of either side reaches the low ones, which choose the place.
  static std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    const auto product =
        static_cast<unsigned __int128>(hash ^ word ^ 0xa0761d6478bd642fU) * 0xe7037ed1a0b428dbU;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  static std::uint64_t start_of(std::string_view name) {
    std::uint64_t start = 0;
    if (name.empty()) return start;  // it may have no address
    std::memcpy(&start, name.data(), std::min(name.size(), sizeof start));
    return start;
  }

  int compare_all(std::string_view name) const {
    const std::uint64_t start = start_of(name);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].mark == start && entries_[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  // Where the name is, or would be.
  std::size_t place_of(std::string_view name, std::uint64_t hash) const {
    const std::size_t mask = places_.size() - 1;
    for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
      if (places_[place] < 0) return place;
      const Entry& entry = entries_[static_cast<std::size_t>(places_[place])];
      if (entry.mark == hash && entry.name == name) return place;
    }
  }

  void append(std::string_view name, std::uint64_t mark) {
    entries_.push_back({mark, copies_ ? copy_of(name) : name});
  }

  std::string_view copy_of(std::string_view name) {
    if (name.empty()) return {};
    if (name.size() > left_) {
      left_ = std::max(name.size(), std::exchange(chunk_, std::min(2 * chunk_, kLargestChunk)));
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
      next_ = chunks_.back().get();
    }
    std::memcpy(next_, name.data(), name.size());
    left_ -= name.size();
    return {std::exchange(next_, next_ + name.size()), name.size()};
  }

  void hash_all() {
    for (Entry& entry : entries_) entry.mark = hash_of(entry.name);
    std::size_t count = 4 * kMostCompared;
    while (count < 2 * entries_.capacity()) count *= 2;
    spread(count);
  }

  void spread(std::size_t count) {
    places_.assign(count, -1);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      places_[place_of(entries_[i].name, entries_[i].mark)] = static_cast<int>(i);
    }
  }

  std::vector<Entry> entries_;
  std::vector<int> places_;  // a power of two; -1: free
  bool copies_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0, chunk_ = kFirstChunk;
};

}  // namespace assay
