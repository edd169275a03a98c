// Nodes that move elements, or fill a tensor with one: the catalogue says where to, and no element
// is touched.
#include <algorithm>
#include <map>
#include <sys/mman.h>

#include "numeric/boxes.h"
#include "numeric/transfer.h"
#include "patterns/array.h"
#include "patterns/move_recorder.h"
#include "semantics/run.h"

namespace assay {
namespace {

constexpr std::int64_t kMostDeciding = 4096;  // elements of an input that may decide where to

// Addresses that read as zeros and take no memory: tensors of any size that nobody looks into. Each
// one gets an address of its own, by which it is known.
class ZeroPages {
 public:
  // Where a process may have little address space, tensors have to be smaller.
  ZeroPages() {
    for (const std::size_t bytes : {std::size_t{1} << 44, std::size_t{1} << 30}) {
      void* const pages =
          mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (pages == MAP_FAILED) continue;
      data_ = static_cast<const char*>(pages);
      bytes_ = bytes;
      return;
    }
  }
  ZeroPages(const ZeroPages&) = delete;
  ZeroPages& operator=(const ZeroPages&) = delete;
  const char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

const ZeroPages& zero_pages() {
  static const ZeroPages* const kPages = new ZeroPages;  // as long as the process
  return *kPages;
}

FormReader& form_reader(Situation& s) {
  return s.numbered ? static_cast<FormReader&>(*s.numbered) : s.forms;
}

class Recording : public MoveRecorder {
 public:
  explicit Recording(Situation& s) : s_(&s), forms_(&form_reader(s)) {}

  Value stand_in_for_input(const Abstract& x, const Shape& shape) {
    return stand_in(s_->numbered ? s_->numbered->numbered(x) : x, shape);
  }

  // A tensor that stands for the abstract one.
  Value stand_in(Abstract x, const Shape& shape) {
    constexpr std::size_t kApart = 64;
    const std::size_t offset = kApart * (known_.size() + 1);
    const auto count = checked_element_count(shape);
    const std::size_t room = zero_pages().bytes();
    if (!count || offset > room ||
        static_cast<std::size_t>(*count) > (room - offset) / storage_size(x.type.element))
      throw InexactDecision("the tensor is too large");
    const char* const place = zero_pages().data() + offset;
    static const auto kOwner = std::make_shared<const int>(0);
    Tensor tensor(x.type.element, shape, kOwner, place);
    known_[place] = {std::move(x), false};
    return tensor;
  }

  struct Seen {
    Abstract value;
    bool relabelled = false;  // its cells are those of a movement's target
  };
  const Seen* find(const Value& value) const {
    if (!value.is_tensor() || !value.exact()) return nullptr;
    const auto found = known_.find(value.tensor().raw());
    return found == known_.end() ? nullptr : &found->second;
  }

  Value moved(const Call& call, const Movement& movement, ElementType type,
              const Shape& shape) override {
    std::vector<std::size_t> used;
    for (const Region& region : movement.regions) used.push_back(region.input);
    const std::vector<Abstract> values = values_of(call);
    std::vector<MoveSource> sources(values.size());
    for (std::size_t i : used) sources[i] = {&values[i], call.input(i).shape()};
    std::optional<Interval> fill;
    if (!movement.complete)
      fill = movement.fill ? hull_of(values[*movement.fill]) : Interval::point(0);
    const MoveTarget target{target_type(type, shape), shape};
    Value result =
        stand_in(relabel(movement, sources, fill, target, s_->setting.tensors, *forms_), shape);
    known_.at(result.tensor().raw()).relabelled = true;
    return result;
  }

  Value gathered(const Call& call, const Sources& sources, ElementType type,
                 const Shape& shape) override {
    std::vector<std::size_t> inputs = sources.inputs;
    const bool filled = std::any_of(sources.indices.begin(), sources.indices.end(),
                                    [](std::int64_t index) { return index < 0; });
    if (filled && sources.fill) inputs.push_back(*sources.fill);
    return any(call, inputs, type, shape, filled && !sources.fill);
  }

  Value placed(const Call& call, const Placement& placement) override {
    const Value& base = call.input(placement.base);
    return any(call, {placement.base, placement.updates}, base.type(), base.shape(), false);
  }

  Value any_of(const Call& call, const std::vector<std::size_t>& inputs, ElementType type,
               const Shape& shape) override {
    return any(call, inputs, type, shape, false);
  }

 private:
  // Open extents of the target are those that the model leaves open.
  ValueType target_type(ElementType type, const Shape& shape) const {
    for (const ValueType& known : s_->output_types)
      if (known.is_tensor() && known.dims && concrete(*known.dims) == shape) return known;
    Dims dims = to_dims(shape);
    const bool open = std::any_of(s_->inputs.begin(), s_->inputs.end(), [](const Abstract& x) {
      return x.is_tensor() && x.ranked() && is_open(*x.type.dims);
    });
    if (open) dims.assign(dims.size(), Dim());
    return ValueType::tensor(type, dims);
  }

  std::vector<Abstract> values_of(const Call& call) const {
    std::vector<Abstract> values;
    for (const Value& input : call.inputs) {
      if (const Seen* known = find(input)) {
        values.push_back(known->value);
      } else if (!input.present()) {
        values.emplace_back();
      } else if (input.exact()) {
        values.push_back(constant_abstract(input.tensor()));
      } else {
        values.push_back(uniform(input.value_type(), Interval::no_number(false)));
        Interval all = Interval::no_number(false);
        for (const Interval& range : *input.intervals()) all = hull(all, range);
        values.back().cells = {{all}};
      }
    }
    return values;
  }

  Value any(const Call& call, const std::vector<std::size_t>& inputs, ElementType type,
            const Shape& shape, bool zero) {
    const std::vector<Abstract> values = values_of(call);
    Interval all = zero ? Interval::point(0) : Interval::no_number(false);
    for (std::size_t i : inputs) all = hull(all, hull_of(values[i]));
    return stand_in(uniform(target_type(type, shape), all), shape);
  }

  Situation* s_;
  FormReader* forms_;
  std::map<const void*, Seen> known_;
};

bool same_dims(const ValueType& a, const ValueType& b) {
  return a.dims && b.dims && a.dims->size() == b.dims->size() &&
         std::equal(a.dims->begin(), a.dims->end(), b.dims->begin(),
                    [](const Dim& x, const Dim& y) { return x.value == y.value; });
}

bool may_decide(const Abstract& x) {
  return x.ranked() && !is_open(*x.type.dims) &&
         element_count(concrete(*x.type.dims)) <= kMostDeciding;
}

// Exact inputs and small ones as they are, so that what decides is asked for in vain if it is not
// known; the others by stand-ins.
std::optional<Value> input_for(Recording& recording, const Abstract& x, bool first) {
  if (!x.is_tensor()) return Value();
  if (!x.ranked() || (!x.exact.defined() && x.cells.empty())) return std::nullopt;
  const Shape shape = concrete(*x.type.dims);
  const auto count = checked_element_count(shape);
  if (!count) return std::nullopt;
  if (first) return recording.stand_in_for_input(x, shape);
  if (x.exact.defined() && x.exact.size() <= kMostDeciding) return x.exact;
  // Looked at as the tensors that have them are; but what counts up to a multiple of an extent
  // would have millions of elements.
  const bool counts =
      x.rank() == 0 && x.extents && !x.extents->empty() && x.extents->front().symbol.factor() > 1;
  if (x.extents && !counts) {
    const Shape extents = concrete(*x.extents);
    return Value(make_integers(x.type.element, shape, extents));
  }
  // Reals decide, too: the first version of Tile has its count as one.
  if (may_decide(x))
    return Value::ranges(x.type.element, shape,
                         std::vector<Interval>(static_cast<std::size_t>(*count), hull_of(x)));
  if (!is_real(x.type.element)) return std::nullopt;
  return recording.stand_in_for_input(x, shape);
}

// The answer of the first attempt, in which only the first input is a stand-in: an operator that
// looks into its data takes zeros for them, so nothing but patterns that copy may come here.
Outputs attempt(Situation& s) {
  if (s.numbered) s.numbered->forget_views();
  Recording recording(s);
  const bool makes = s.node.found.entry->meaning.pattern == Pattern::generate;
  std::vector<Value> inputs;
  // Where all inputs are data of one type (a list of tensors), none of them decides.
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    const bool data =
        !makes && (i == 0 || (s.inputs[i].is_tensor() && s.node.found.schema->inputs.size() == 1));
    auto value = input_for(recording, s.inputs[i], data);
    if (!value) return std::nullopt;
    inputs.push_back(*std::move(value));
  }
  EvaluateOptions options;
  options.reading = Reading::interval;
  RunMemory memory;
  bool unknown = false;
  const MoveRecorderScope scope(recording);
  const std::vector<Value> values = Run(options, memory).run_single(s.node, inputs, &unknown);
  if (unknown) return std::nullopt;
  std::vector<Abstract> outputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].present()) {
      outputs.emplace_back();
      continue;
    }
    if (!values[i].is_tensor()) return std::nullopt;
    const Recording::Seen* known = recording.find(values[i]);
    if (!known) return std::nullopt;
    Abstract output = known->value;
    // A reshape hands its input on: only now its elements lie in another shape.
    const Shape shape = values[i].shape();
    const MoveTarget target{s.output_types[i], shape};
    const bool same = output.ranked() && concrete(*output.type.dims) == shape;
    const bool done = known->relabelled && same_dims(output.type, target.type);
    if (!same || (is_open(*output.type.dims) && !done)) {
      const MoveSource source{&known->value, concrete(*known->value.type.dims)};
      output = relabel(whole(0), {source}, std::nullopt, target, s.setting.tensors, form_reader(s));
    }
    output.type = s.output_types[i].dims ? s.output_types[i] : output.type;
    if (output.cuts.size() != output.rank()) return std::nullopt;
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace

Outputs transfer_moved(Situation& s) {
  const Pattern pattern = s.node.found.entry->meaning.pattern;
  if (pattern != Pattern::move && pattern != Pattern::gather && pattern != Pattern::generate)
    return std::nullopt;
  if (!zero_pages().data()) return std::nullopt;
  try {
    return attempt(s);
  } catch (const InexactDecision&) {
    return std::nullopt;
  }
}

}  // namespace assay
