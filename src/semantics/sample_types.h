// Types of outputs where a rule needs concrete extents: the rule is applied to several assignments
// of numbers to the unknown ones, and what all agree on is kept.
#pragma once

#include <functional>
#include <vector>

#include "patterns/site.h"

namespace assay {

// Nothing is known (an empty list) where the rank of an input is unknown.
std::vector<Known> sample_types(const Site& site,
                                const std::function<std::vector<Known>(const Site&)>& rule);

// The site with numbers in the place of all unknown extents, other ones for another trial.
Site concrete_site(const Site& site, int trial);

}  // namespace assay
