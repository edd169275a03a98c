// NumberedForms: the forms of a node's inputs by number, and how its outputs see them. Numbers are
// the same for all nodes that do the same with other forms.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "numeric/abstract.h"
#include "numeric/forms.h"

namespace assay {

// What a node that moves elements makes of forms, to be done again with others.
struct FormViews {
  struct View {
    std::uint32_t of = 0;  // a number: of an input's form, or of a view before
    IndexMap through;
  };
  std::size_t given = 0;  // numbers 1 to this are of the inputs' forms, those behind of the views
  std::vector<View> views;
};

class NumberedForms : public FormReader {
 public:
  // Numbers the forms as they come.
  explicit NumberedForms(std::span<const Abstract> inputs);

  std::uint32_t number_of(std::uint32_t form) const;
  Abstract numbered(Abstract x) const;
  std::uint32_t seen_through(std::uint32_t number, const IndexMap& through) override;

  const FormViews& views() const { return views_; }
  void forget_views() { views_.views.clear(); }
  // Puts the forms in the place of their numbers, made by these views.
  void resolve(const FormViews& views, std::vector<Abstract>& outputs, Forms& forms) const;

 private:
  std::vector<std::uint32_t> given_;  // by number, from 1 on
  FormViews views_;
};

}  // namespace assay
