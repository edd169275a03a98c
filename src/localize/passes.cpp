#include "localize/passes.h"

#include "localize/minimise.h"

namespace assay {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kFew = 8;  // names that are tried one by one at once

// A group that does not cure it together holds none that cures it alone; one that breaks the
// backend says nothing.
void find_alone(const Names& names, const PassTrial& trial, Names& found) {
  if (names.size() <= kFew) {
    for (const std::string& name : names) {
      if (trial({name}) == Trial::cured) found.push_back(name);
    }
    return;
  }
  const auto middle = names.begin() + static_cast<std::ptrdiff_t>(names.size() / 2);
  for (const Names& half : {Names(names.begin(), middle), Names(middle, names.end())}) {
    if (trial(half) != Trial::still) find_alone(half, trial, found);
  }
}

// Names that cure it together; where the backend breaks without all of them, as many as it bears.
Names find_together(const Names& names, const PassTrial& trial) {
  const Trial all = trial(names);
  if (all == Trial::cured) return names;
  if (all == Trial::still) return {};
  Names off;
  for (const std::string& name : names) {
    off.push_back(name);
    const Trial now = trial(off);
    if (now == Trial::cured) return off;
    if (now == Trial::broken) off.pop_back();
  }
  return {};
}

}  // namespace

Cure find_cure(const PassList& passes, const PassTrial& trial) {
  Cure cure;
  for (const Names& names : {passes.changed, passes.others}) {
    find_alone(names, trial, cure.passes);
    if (!cure.passes.empty()) return cure;
  }
  cure.any = false;
  Names all = passes.changed;
  all.insert(all.end(), passes.others.begin(), passes.others.end());
  for (const Names& names : {passes.changed, all}) {
    if (names.size() < 2) continue;
    cure.passes = find_together(names, trial);
    if (!cure.passes.empty()) break;
  }
  cure.passes = minimise(std::move(cure.passes),
                         [&](const Names& fewer) { return trial(fewer) == Trial::cured; });
  return cure;
}

}  // namespace assay
