// NumberedForms: the forms of a node's inputs by number, and how its outputs see them. Numbers are
// the same for all nodes that do the same with other forms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numeric/abstract.h"
#include "numeric/forms.h"

namespace assay {

// What a node that moves elements makes of forms, to be done again with others: each is the form of
// a number (of an input's, or of a view before) seen through another index.
struct FormView {
  std::uint32_t of = 0;
  IndexMap through;
};
using FormViews = std::vector<FormView>;

class NumberedForms : public FormReader {
 public:
  // Numbers the forms as they come.
  explicit NumberedForms(std::span<const Abstract> inputs);

  std::uint32_t number_of(std::uint32_t form) const;
  Abstract numbered(Abstract x) const;
  std::uint32_t seen_through(std::uint32_t number, const IndexMap& through) override;

  const FormViews& views() const { return views_; }
  void forget_views() { views_.clear(); }
  // Puts the forms in the place of their numbers, made by these views.
  void resolve(const FormViews& views, std::vector<Abstract>& outputs, Forms& forms) const;

 private:
  std::vector<std::uint32_t> given_;  // by number, from 1 on
  FormViews views_;                   // whose numbers follow
};

}  // namespace assay
