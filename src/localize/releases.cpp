#include "localize/releases.h"

#include <fmt/format.h>

namespace assay {
namespace {

class Halving {
 public:
  Halving(const std::vector<std::string>& releases,
          const std::map<std::string, ReleaseVerdict>& known, const ReleaseOracle& oracle,
          ReleaseSearch& search)
      : releases_(releases), known_(known), oracle_(oracle), search_(search) {}

  ReleaseVerdict at(std::size_t index) {
    const auto known = known_.find(releases_[index]);
    if (known != known_.end()) return known->second;
    ReleaseTrial trial = oracle_(releases_[index]);
    trial.release = releases_[index];
    known_[trial.release] = trial.verdict;
    search_.tried.push_back(trial);
    return trial.verdict;
  }

  // The nearest to one end that can be tried.
  std::optional<std::size_t> first_told(bool from_the_oldest) {
    for (std::size_t i = 0; i < releases_.size(); ++i) {
      const std::size_t index = from_the_oldest ? i : releases_.size() - 1 - i;
      if (at(index) != ReleaseVerdict::untold) return index;
    }
    return std::nullopt;
  }

  // The first release after `low` that is like `high`, whose verdict is another.
  std::size_t turn(std::size_t low, std::size_t high) {
    const ReleaseVerdict after = at(high);
    while (true) {
      const std::optional<std::size_t> middle = told_between(low, high);
      if (!middle) break;
      (at(*middle) == after ? high : low) = *middle;
    }
    if (high - low > 1) {
      say(fmt::format("nothing between {} and {} can be tried", releases_[low], releases_[high]));
    }
    return high;
  }

  void say(const std::string& what) { search_.note += (search_.note.empty() ? "" : "; ") + what; }

 private:
  // The nearest to the middle that can be tried.
  std::optional<std::size_t> told_between(std::size_t low, std::size_t high) {
    const std::size_t middle = low + (high - low) / 2;
    for (std::size_t far = 0; far < high - low; ++far) {
      for (const std::size_t index : {middle - far, middle + far}) {
        if (index <= low || index >= high) continue;
        if (at(index) != ReleaseVerdict::untold) return index;
      }
    }
    return std::nullopt;
  }

  const std::vector<std::string>& releases_;
  std::map<std::string, ReleaseVerdict> known_;
  const ReleaseOracle& oracle_;
  ReleaseSearch& search_;
};

}  // namespace

std::string_view to_text(ReleaseVerdict verdict) {
  static constexpr std::string_view kNames[] = {"good", "bad", "untold"};
  return kNames[static_cast<std::size_t>(verdict)];
}

ReleaseSearch find_releases(const std::vector<std::string>& releases,
                            const std::map<std::string, ReleaseVerdict>& known,
                            const ReleaseOracle& oracle) {
  ReleaseSearch search;
  Halving halving(releases, known, oracle, search);
  const std::optional<std::size_t> oldest = halving.first_told(true);
  const std::optional<std::size_t> newest = oldest ? halving.first_told(false) : std::nullopt;
  if (!newest) {
    search.note = "no release can be tried";
    return search;
  }
  const bool starts_bad = halving.at(*oldest) == ReleaseVerdict::bad;
  const bool ends_bad = halving.at(*newest) == ReleaseVerdict::bad;
  std::size_t bad = starts_bad ? *oldest : *newest;
  if (!starts_bad && !ends_bad) {
    for (std::size_t i = *oldest; i <= *newest && bad == *newest; ++i) {
      const auto told = known.find(releases[i]);
      if (told != known.end() && told->second == ReleaseVerdict::bad) bad = i;
    }
    if (bad == *newest) {
      search.note = "the oldest and the newest are both right, and no bad one between is known";
      return search;
    }
  }
  search.earlier = starts_bad;
  search.first_bad = releases[starts_bad ? *oldest : halving.turn(*oldest, bad)];
  if (ends_bad) {
    halving.say(starts_bad ? "the oldest and the newest are both wrong" : "the newest is wrong");
  } else {
    search.first_good = releases[halving.turn(bad, *newest)];
  }
  return search;
}

}  // namespace assay
