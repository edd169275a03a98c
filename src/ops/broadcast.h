// What binary operators share: numpy broadcasting, and the older rule of versions below 7, where the
// second input had to have the first one's shape unless `broadcast` aligned it at `axis`.
#pragma once

#include "ops/operator.h"

namespace assay {

void require_broadcast(Check& c);        // both rules, by version
void infer_broadcast(Infer& n);          // type of the first input
void infer_comparison(Infer& n);         // bool
Meaning aligned(Meaning meaning);        // places the second input as the older rule says
inline const std::vector<AttributeRole> kBroadcastRoles = {
    {"axis", Role::axis}, {"broadcast", Role::flag}, {"consumed_inputs", Role::number}};

}  // namespace assay
