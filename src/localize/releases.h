// Releases: which was the first to go wrong, and which the first to be right again.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class ReleaseVerdict : std::uint8_t { good, bad, untold };  // untold: it cannot be tried

std::string_view to_text(ReleaseVerdict verdict);

struct ReleaseTrial {
  std::string release;
  ReleaseVerdict verdict = ReleaseVerdict::untold;
  std::string detail{};
};

struct ReleaseSearch {
  std::optional<std::string> first_bad, first_good;
  bool earlier = false;  // the oldest is bad, so that an older one may be the first
  std::vector<ReleaseTrial> tried{};
  std::string note{};  // what the search could not say
};

using ReleaseOracle = std::function<ReleaseTrial(const std::string& release)>;

// Tries the oldest and the newest, then halves what is left between a good one and a bad one. If
// both ends are good, a bad one between them has to be `known`: then both of its sides are halved.
// No release is tried whose verdict is known or follows. `releases` are sorted, oldest first.
ReleaseSearch find_releases(const std::vector<std::string>& releases,
                            const std::map<std::string, ReleaseVerdict>& known,
                            const ReleaseOracle& oracle);

}  // namespace assay
