// What attentions have in common: their inputs, the options of their calls, and masks.
#pragma once

#include "layers/keras/body.h"

namespace assay::keras {

// Query, value and, if it is another one, key: those that may have a mask.
std::vector<std::string_view> attention_inputs();
// Keras takes these with the call. Argument `masked` has a bit for each input whose mask is given.
std::vector<Argument> with_call_options(std::vector<Argument> arguments);
void require_attention_inputs(Check& c, Limits rank = exactly(3));

// The masks that are given, behind the other weights: "query_mask", "value_mask", "key_mask".
void add_masks(const Site& site, Weights& weights);
std::string truth(Body& l, const std::string& value);  // what is not 0
// One of the masks as truth values, with one axis more; "" where none is given.
std::string mask_along(Body& l, std::string_view name, std::int64_t new_axis);
// Whether a query may look at a key that comes after it, or at one so far away; "" if it may.
std::string in_order(Body& l, const std::string& scores);
std::string in_window(Body& l, const std::string& scores);
std::string all_of(Body& l, const Names& conditions);  // those that are not ""
double far_below(ElementType type);                    // a score that is no score

}  // namespace assay::keras
