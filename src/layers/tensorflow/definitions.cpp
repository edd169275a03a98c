#include "layers/tensorflow/definitions.h"

#include <algorithm>

#include "graph/name_index.h"

namespace assay::tensorflow {
namespace {

std::vector<Definition> gather_all() {
  std::vector<Definition> all;
  for (const auto family : {activation_definitions,   activation_gradient_definitions,
                            arithmetic_definitions,   conv_definitions,
                            fill_definitions,         gather_definitions,
                            image_definitions,        layout_definitions,
                            logic_definitions,        loss_definitions,
                            matrix_definitions,       norm_definitions,
                            optimizer_definitions,    pool_definitions,
                            random_definitions,       reduce_definitions,
                            scatter_definitions,      select_definitions,
                            shape_definitions,        slice_definitions,
                            source_definitions,       state_definitions,
                            tensor_array_definitions, trigonometry_definitions,
                            unary_definitions}) {
    for (Definition& definition : family()) all.push_back(definition);
  }
  std::sort(all.begin(), all.end(),
            [](const Definition& a, const Definition& b) { return a.op < b.op; });
  return all;
}

}  // namespace

std::span<const Definition> definitions() {
  static const std::vector<Definition> all = gather_all();
  return all;
}

const Definition* find_definition(std::string_view op) {
  static const NameIndex kNumbers = [] {
    NameIndex numbers;
    for (const Definition& definition : definitions()) numbers.add(definition.op);
    return numbers;
  }();
  const int found = kNumbers.find(op);
  return found < 0 ? nullptr : &definitions()[static_cast<std::size_t>(found)];
}

}  // namespace assay::tensorflow
