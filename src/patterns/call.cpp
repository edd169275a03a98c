#include "patterns/call.h"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "patterns/array.h"
#include "patterns/move_recorder.h"
#include "scalar/tier.h"

namespace assay {

std::string_view to_text(Pattern pattern) {
  static constexpr std::array<std::string_view, 16> kNames = {
      "Elementwise", "Reduce", "Rowwise",  "Windowed", "Contraction", "Move",
      "Gather",      "Sample", "Prefix",   "Generate", "Random",      "Control",
      "Container",   "Text",   "Function", "Opaque"};
  return kNames[static_cast<std::size_t>(pattern)];
}

const Tensor& Call::exact(std::size_t i) const {
  if (!inputs[i].exact())
    throw InexactDecision(fmt::format("input {} of {} is not exact", i, node().op));
  return inputs[i].tensor();
}

Shape Call::output_shape(std::size_t i) const {
  ASSAY_CHECK(i < types.size() && types[i].dims);
  auto shape = to_shape(*types[i].dims);
  ASSAY_CHECK(shape.has_value());
  return *std::move(shape);
}

Meaning custom(Pattern pattern, std::function<void(Call&)> evaluate) {
  return {pattern,
          [run = std::move(evaluate)](Call& call) {
            try {
              run(call);
            } catch (const InexactDecision&) {
              answer_unknown(call);
            }
          },
          true};
}

void answer_unknown(Call& call) {
  note_open_decision();
  call.unknown = true;
  if (recording_moves()) {  // nobody looks at elements, which may be any number
    call.outputs.assign(call.node().outputs.size(), Value::unknown());
    return;
  }
  call.outputs.assign(call.node().outputs.size(), Value());
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const ValueType& type = call.types[i];
    const auto shape = type.is_tensor() && type.dims ? to_shape(*type.dims) : std::nullopt;
    if (!shape || type.element == ElementType::string) {
      call.outputs[i] = Value::unknown();
      continue;
    }
    const auto count = static_cast<std::size_t>(element_count(*shape));
    if (call.reading == Reading::interval)
      call.outputs[i] = Value::ranges(type.element, *shape,
                                      std::vector<Interval>(count, whole_range(type.element)));
    else
      call.outputs[i] =
          Value::bounded(Tensor(type.element, *shape),
                         std::vector<double>(count, std::numeric_limits<double>::infinity()));
  }
}

}  // namespace assay
