// Minimising: the fewest of some things with which something still holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace assay {

// Takes things away, many at a time and then one by one, as long as `holds(rest)`. In the end none
// can be spared, though there may be another set with fewer.
template <class T, class F>
std::vector<T> minimise(std::vector<T> things, F&& holds) {
  for (std::size_t chunk = things.size() / 2; chunk > 0;) {
    bool spared = false;
    for (std::size_t at = 0; at < things.size() && things.size() > 1;) {
      const std::size_t end = std::min(at + chunk, things.size());
      std::vector<T> rest(things.begin(), things.begin() + static_cast<std::ptrdiff_t>(at));
      rest.insert(rest.end(), things.begin() + static_cast<std::ptrdiff_t>(end), things.end());
      if (!rest.empty() && holds(rest)) {
        things = std::move(rest);
        spared = true;
      } else {
        at = end;
      }
    }
    // What could not go before may go now that something else has.
    if (chunk == 1 && !spared) break;
    chunk = std::max<std::size_t>(chunk / 2, 1);
  }
  return things;
}

}  // namespace assay
