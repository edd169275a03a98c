// Sequences and optionals: values that hold values.
#include <fmt/format.h>

#include "ops/container_pieces.h"
#include "ops/families.h"

namespace assay {
namespace {

ValueType element_type_of(const Site& site, std::size_t i) {
  const ValueType& type = site.type(i);
  return type.inner ? *type.inner : ValueType();
}

// A single whole number that the node needs exactly.
std::int64_t number(const Call& call, std::size_t i) { return call.exact(i).integer(0); }

// A position counted from the back if negative; `length` itself is allowed if `end` says so.
std::size_t position_of(const Call& call, std::size_t i, std::size_t length, bool end) {
  const auto n = static_cast<std::int64_t>(length);
  const std::int64_t position = number(call, i);
  if (position < -n || position > (end ? n : n - 1))
    throw EvaluationError(call.node().op + ".index-range",
                          fmt::format("position {} of a sequence of {}", position, length));
  return static_cast<std::size_t>(position < 0 ? position + n : position);
}

void require_position(Check& c) { c.element_count_is("position", 1); }

void require_all_inputs(Check& c) {
  for (std::size_t i = 0; i < c.site.input_count(); ++i)
    c.argument(c.site.has_input(i), "inputs", fmt::format("input {}", i), "none");
}

Operator sequence_construct() {
  return {.name = "SequenceConstruct",
          .versions = {11},
          .summary = "The inputs as a sequence.",
          .attributes = {},
          .require = require_all_inputs,
          .infer =
              [](Infer& n) {
                ValueType type = n.site.type(0);
                for (std::size_t i = 1; i < n.site.input_count(); ++i)
                  type = common_type(type, n.site.type(i));
                n.output(0, ValueType::sequence(std::move(type)));
              },
          .meaning = custom(Pattern::container, [](Call& call) {
            call.outputs[0] =
                Value::sequence(common_type(call.inputs), {call.inputs.begin(), call.inputs.end()});
          })};
}

ElementType empty_type(const Site& site) {
  return static_cast<ElementType>(site.integer("dtype", static_cast<int>(ElementType::f32)));
}

Operator sequence_empty() {
  return {
      .name = "SequenceEmpty",
      .versions = {11},
      .summary = "A sequence of no tensors, of the element type `dtype`.",
      .attributes = {{"dtype", Role::type}},
      .require =
          [](Check& c) {
            const std::int64_t type = c.site.integer("dtype", 1);
            c.argument(type >= 1 && type <= static_cast<std::int64_t>(ElementType::c128), "choice",
                       "dtype a type that a sequence may hold", fmt::format("{}", type));
          },
      .infer =
          [](Infer& n) { n.output(0, ValueType::sequence(ValueType::tensor(empty_type(n.site)))); },
      .meaning = custom(Pattern::container, [](Call& call) {
        call.outputs[0] = Value::sequence(ValueType::tensor(empty_type(call.site)), {});
      })};
}

Operator sequence_length() {
  return {.name = "SequenceLength",
          .versions = {11},
          .summary = "The number of tensors of a sequence, a scalar.",
          .attributes = {},
          .infer = [](Infer& n) { n.output(0, ElementType::i64, Dims{}); },
          .meaning = custom(Pattern::container, [](Call& call) {
            const auto length = static_cast<std::int64_t>(call.input(0).elements().size());
            call.outputs[0] = make_integers(ElementType::i64, {}, std::span(&length, 1));
          })};
}

Operator sequence_at() {
  return {
      .name = "SequenceAt",
      .versions = {11},
      .summary = "The tensor at a position of a sequence; negative positions count from the back.",
      .attributes = {},
      .require = require_position,
      .infer = [](Infer& n) { n.output(0, element_type_of(n.site, 0)); },
      .meaning = custom(Pattern::container, [](Call& call) {
        const auto& elements = call.input(0).elements();
        call.outputs[0] = elements[position_of(call, 1, elements.size(), false)];
      })};
}

Operator sequence_erase() {
  return {.name = "SequenceErase",
          .versions = {11},
          .summary = "The sequence without the tensor at a position, the last one by default.",
          .attributes = {},
          .require = require_position,
          .infer = [](Infer& n) { n.output(0, n.site.type(0)); },
          .meaning = custom(Pattern::container, [](Call& call) {
            std::vector<Value> elements = call.input(0).elements();
            if (!call.has(1) && elements.empty())
              throw EvaluationError("SequenceErase.index-range", "the sequence is empty");
            const std::size_t at =
                call.has(1) ? position_of(call, 1, elements.size(), false) : elements.size() - 1;
            elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(at));
            call.outputs[0] = Value::sequence(element_type_of(call.site, 0), std::move(elements));
          })};
}

void require_insert(Check& c) {
  require_position(c);
  const ValueType inner = element_type_of(c.site, 0);
  const ElementType tensor = c.site.element(1);
  if (inner.element == ElementType::undefined || tensor == ElementType::undefined)
    return c.undecided("element-type", "the types of the sequence and of the tensor");
  c.argument(inner.element == tensor, "element-type",
             fmt::format("a tensor of {}", short_name(inner.element)),
             std::string(short_name(tensor)));
}

// onnx.reference takes the position modulo the length: the end becomes the front.
void end_wraps_to_front(Builder& b) {
  if (!b.has(2)) return b.output(0, b.again().front());
  const std::string position =
      b("Cast", {b.input(2)}, {attribute("to", static_cast<int>(ElementType::i64))});
  const std::string wrapped = b("Mod", {position, b("SequenceLength", {b.input(0)})});
  b.output(0, b.again_on({b.input(0), b.input(1), wrapped}).front());
}

Operator sequence_insert() {
  return {
      .name = "SequenceInsert",
      .versions = {11},
      .summary = "The sequence with a tensor put before a position, at the end by default.",
      .attributes = {},
      .require = require_insert,
      .infer =
          [](Infer& n) {
            n.output(0,
                     ValueType::sequence(common_type(element_type_of(n.site, 0), n.site.type(1))));
          },
      .meaning = custom(
          Pattern::container,
          [](Call& call) {
            std::vector<Value> elements = call.input(0).elements();
            const std::size_t at =
                call.has(2) ? position_of(call, 2, elements.size(), true) : elements.size();
            const ValueType before = element_type_of(call.site, 0);
            const ValueType type = common_type(
                elements.empty() ? call.input(1).value_type() : before, call.input(1).value_type());
            elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(at), call.input(1));
            call.outputs[0] = Value::sequence(type, std::move(elements));
          }),
      .variants = {{"end-wraps-to-front", Variant::Kind::defect, "onnx.reference 1.23",
                    end_wraps_to_front}}};
}

// Axes that a sequence of rank r may be joined along.
Limits join_axes(const Site& site, std::int64_t rank) {
  const std::int64_t extra = site.integer("new_axis") != 0 ? 1 : 0;
  return between(-rank - extra, rank + extra - 1);
}

void require_concat(Check& c) {
  if (!c.in_range("new_axis", between(0, 1))) return;
  const ValueType inner = element_type_of(c.site, 0);
  if (!inner.dims) return c.undecided("axis-range", "the rank of the tensors");
  c.axis("axis", c.site.integer("axis"),
         join_axes(c.site, static_cast<std::int64_t>(inner.dims->size())));
}

void infer_concat(Infer& n) {
  const ValueType inner = element_type_of(n.site, 0);
  if (!inner.dims) return n.output(0, inner.element);
  const bool fresh = n.site.integer("new_axis") != 0;
  const auto rank = static_cast<std::int64_t>(inner.dims->size()) + (fresh ? 1 : 0);
  const auto axis = normalize_axis(n.site.integer("axis"), rank);
  if (!axis) return n.output(0, inner.element);
  Dims dims = *inner.dims;
  if (fresh) dims.insert(dims.begin() + *axis, Dim());
  dims[static_cast<std::size_t>(*axis)] = Dim();
  n.output(0, inner.element, std::move(dims));
}

// The tensors of a sequence, which must have one shape apart from the axis they are joined along.
void check_parts(const std::vector<Value>& parts, std::size_t axis, bool fresh) {
  for (const Value& part : parts) {
    Shape a = parts[0].shape(), b = part.shape();
    if (!fresh && a.size() == b.size()) a[axis] = b[axis];
    if (a != b)
      throw EvaluationError(
          "ConcatFromSequence.same-shape",
          fmt::format("tensors of shapes {} and {} cannot be joined along axis {}",
                      to_text(parts[0].shape()), to_text(b), axis));
  }
}

void evaluate_concat(Call& call) {
  std::vector<Value> parts = call.input(0).elements();
  if (parts.empty()) throw EvaluationError("ConcatFromSequence.not-empty", "the sequence is empty");
  const bool fresh = call.site.integer("new_axis") != 0;
  const std::int64_t rank = parts[0].tensor().rank() + (fresh ? 1 : 0);
  const auto axis = normalize_axis(call.site.integer("axis"), rank);
  if (!axis)
    throw EvaluationError("ConcatFromSequence.axis-range",
                          fmt::format("axis {} of rank {}", call.site.integer("axis"), rank));
  const auto along = static_cast<std::size_t>(*axis);
  check_parts(parts, along, fresh);
  if (fresh)
    for (Value& part : parts) part = part.reshaped(with_axis(part.shape(), along, 1));
  call.outputs[0] = joined(parts, along);
}

Operator concat_from_sequence() {
  return {.name = "ConcatFromSequence",
          .versions = {11},
          .summary = "The tensors of a sequence joined along an axis, or stacked along a new one.",
          .attributes = {{"axis", Role::axis}, {"new_axis", Role::flag}},
          .require = require_concat,
          .infer = infer_concat,
          .meaning = custom(Pattern::container, evaluate_concat)};
}

// Lengths of the pieces, or nothing if they do not make up `extent`.
std::optional<std::vector<std::int64_t>> split_lengths(const Tensor& split, std::int64_t extent) {
  if (split.rank() == 0) {
    const std::int64_t length = split.integer(0);
    if (length <= 0) return std::nullopt;
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(extent / length), length);
    if (extent % length != 0) lengths.push_back(extent % length);
    return lengths;
  }
  std::vector<std::int64_t> lengths = split.integers();
  std::int64_t rest = extent;
  for (std::int64_t length : lengths) {
    if (length < 0 || length > rest) return std::nullopt;
    rest -= length;
  }
  if (rest != 0) return std::nullopt;
  return lengths;
}

void require_split(Check& c) {
  if (!c.rank("input", at_least(1)) || !c.rank("split", between(0, 1))) return;
  if (!c.axis("axis", "input") || !c.site.has_input(1)) return;
  const Dims& dims = *c.site.dims(0);
  const auto axis = *normalize_axis(c.site.integer("axis"), static_cast<std::int64_t>(dims.size()));
  const Dim& extent = dims[static_cast<std::size_t>(axis)];
  const Tensor* split = c.site.constant(1);
  if (!split || !extent.known())
    return c.undecided("split-sum", "the elements of split and the extent");
  c.argument(split_lengths(*split, extent.value).has_value(), "split-sum",
             fmt::format("lengths that make up {}", extent.value),
             fmt::format("{} lengths", split->size()));
}

bool drops_axis(const Site& site) { return !site.has_input(1) && site.integer("keepdims", 1) == 0; }

void infer_split(Infer& n) {
  ValueType type = n.site.type(0);
  const auto rank = n.site.rank(0);
  const auto axis = rank ? normalize_axis(n.site.integer("axis"), *rank) : std::nullopt;
  if (!axis) {
    type.dims.reset();
  } else if (drops_axis(n.site)) {
    type.dims->erase(type.dims->begin() + *axis);
  } else {
    (*type.dims)[static_cast<std::size_t>(*axis)] = n.site.has_input(1) ? Dim() : Dim(1);
  }
  n.output(0, ValueType::sequence(std::move(type)));
}

void evaluate_split(Call& call) {
  const Value& input = call.input(0);
  const auto axis =
      static_cast<std::size_t>(*normalize_axis(call.site.integer("axis"), input.tensor().rank()));
  const std::int64_t extent = input.shape()[axis];
  const bool drop = drops_axis(call.site);
  std::vector<std::int64_t> lengths(call.has(1) ? 0 : static_cast<std::size_t>(extent), 1);
  if (call.has(1)) lengths = *split_lengths(call.exact(1), extent);
  std::vector<Value> pieces;
  std::int64_t begin = 0;
  for (std::int64_t length : lengths) {
    pieces.push_back(piece(input, axis, begin, begin + length));
    if (drop) pieces.back() = pieces.back().reshaped(without_axis(input.shape(), axis));
    begin += length;
  }
  const ValueType type = pieces.empty() ? *call.types[0].inner : common_type(pieces);
  call.outputs[0] = Value::sequence(type, std::move(pieces));
}

// onnxruntime drops the axis also where a scalar asks for pieces of one.
void axis_dropped_by_a_scalar(Builder& b) {
  const Tensor* split = b.site().constant(1);
  const bool ones = split && split->rank() == 0 && split->integer(0) == 1;
  b.output(0, (ones ? b.again_on({b.input(0)}) : b.again()).front());
}

Operator split_to_sequence() {
  return {.name = "SplitToSequence",
          .versions = {11, 24},
          .summary = "Pieces of a tensor along an axis, of given lengths or of one each.",
          .attributes = {{"axis", Role::axis}, {"keepdims", Role::flag}},
          .require = require_split,
          .infer = infer_split,
          .meaning = custom(Pattern::container, evaluate_split),
          .variants = {{"axis-dropped-by-a-scalar", Variant::Kind::difference, "onnxruntime 1.31",
                        axis_dropped_by_a_scalar}}};
}

const ValueType* type_attribute(const Site& site) {
  const AttributeValue* value = site.node().find("type");
  return value ? std::get_if<ValueType>(value) : nullptr;
}

void require_optional(Check& c) {
  const ValueType* type = type_attribute(c.site);
  if (!c.argument(c.site.has_input(0) || type, "required", "an input or the attribute type",
                  "none"))
    return;
  if (!type) return;
  const std::string name = standard_name(*type);
  const bool holds =
      (type->is_tensor() && type->element != ElementType::undefined) ||
      (type->kind == ValueType::Kind::sequence && type->inner && type->inner->is_tensor());
  if (!c.argument(holds, "element-type", "type a tensor or a sequence of tensors", name)) return;
  if (c.site.has_input(0) && c.site.type(0).kind != ValueType::Kind::unknown)
    c.argument(standard_name(c.site.type(0)) == name, "element-type",
               fmt::format("an input of type {}", name), standard_name(c.site.type(0)));
}

ValueType optional_type(const Site& site) {
  return site.has_input(0) ? site.type(0) : *type_attribute(site);
}

Operator optional() {
  return {.name = "Optional",
          .versions = {15, 28},
          .summary = "The input wrapped as an optional, or an empty optional of a type.",
          .attributes = {{"type", Role::type}},
          .require = require_optional,
          .infer = [](Infer& n) { n.output(0, ValueType::optional(optional_type(n.site))); },
          .meaning = custom(Pattern::container, [](Call& call) {
            call.outputs[0] = call.has(0) ? Value::optional(call.input(0))
                                          : Value::optional(optional_type(call.site));
          })};
}

Operator optional_get_element() {
  return {.name = "OptionalGetElement",
          .versions = {15, 18, 28},
          .summary = "What an optional holds; anything else as it is.",
          .attributes = {},
          .infer =
              [](Infer& n) {
                const bool wrapped = n.site.type(0).kind == ValueType::Kind::optional;
                n.output(0, wrapped ? element_type_of(n.site, 0) : n.site.type(0));
              },
          .meaning = custom(Pattern::container, [](Call& call) {
            const Value& input = call.input(0);
            const bool wrapped = input.kind() == Value::Kind::optional;
            if (wrapped && input.elements().empty())
              throw EvaluationError("OptionalGetElement.not-empty", "the optional is empty");
            call.outputs[0] = wrapped ? input.elements().front() : input;
          })};
}

Operator optional_has_element() {
  return {.name = "OptionalHasElement",
          .versions = {15, 18, 28},
          .summary = "Whether there is an element: false for an empty optional and for no input.",
          .attributes = {},
          .infer = [](Infer& n) { n.output(0, ElementType::boolean, Dims{}); },
          .meaning = custom(Pattern::container, [](Call& call) {
            const bool empty = !call.has(0) || (call.input(0).kind() == Value::Kind::optional &&
                                                call.input(0).elements().empty());
            call.outputs[0] = make_scalar(ElementType::boolean, empty ? 0 : 1);
          })};
}

}  // namespace

std::vector<Operator> container_operators() {
  return {concat_from_sequence(), optional(),         optional_get_element(),
          optional_has_element(), sequence_at(),      sequence_construct(),
          sequence_empty(),       sequence_erase(),   sequence_insert(),
          sequence_length(),      split_to_sequence()};
}

}  // namespace assay
