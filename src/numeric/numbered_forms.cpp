#include "numeric/numbered_forms.h"

#include <algorithm>

namespace assay {

NumberedForms::NumberedForms(std::span<const Abstract> inputs) {
  for (const Abstract& input : inputs)
    for (const Cell& cell : input.cells)
      if (number_of(cell.form) == 0 && cell.form != 0) given_.push_back(cell.form);
}

std::uint32_t NumberedForms::number_of(std::uint32_t form) const {
  const auto found = std::find(given_.begin(), given_.end(), form);
  return found == given_.end() ? 0 : static_cast<std::uint32_t>(found - given_.begin()) + 1;
}

Abstract NumberedForms::numbered(Abstract x) const {
  for (Cell& cell : x.cells) cell.form = number_of(cell.form);
  return x;
}

std::uint32_t NumberedForms::seen_through(std::uint32_t number, const IndexMap& through) {
  if (number == 0 || is_plain(through)) return number;
  views_.push_back({number, through});
  return static_cast<std::uint32_t>(given_.size() + views_.size());
}

void NumberedForms::resolve(const FormViews& views, std::vector<Abstract>& outputs,
                            Forms& forms) const {
  std::vector<std::uint32_t> made(given_);
  for (const auto& [of, through] : views) made.push_back(forms.seen_through(made[of - 1], through));
  for (Abstract& output : outputs)
    for (Cell& cell : output.cells)
      if (cell.form != 0) cell.form = made[cell.form - 1];
}

}  // namespace assay
