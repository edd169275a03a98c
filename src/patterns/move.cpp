#include "patterns/move.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "patterns/array.h"
#include "patterns/copy.h"
#include "patterns/move_recorder.h"

namespace assay {

Region simplified(const Region& region) {
  Region result = region;
  result.extents.clear();
  result.from_strides.clear();
  result.to_strides.clear();
  for (std::size_t d = 0; d < region.extents.size(); ++d) {
    const std::int64_t extent = region.extents[d];
    if (extent == 1) continue;
    if (!result.extents.empty() && result.from_strides.back() == region.from_strides[d] * extent &&
        result.to_strides.back() == region.to_strides[d] * extent) {
      result.extents.back() *= extent;
      result.from_strides.back() = region.from_strides[d];
      result.to_strides.back() = region.to_strides[d];
    } else {
      result.extents.push_back(extent);
      result.from_strides.push_back(region.from_strides[d]);
      result.to_strides.push_back(region.to_strides[d]);
    }
  }
  return result;
}

copy_detail::Walk copy_detail::plan_walk(const Region& region) {
  Walk walk;
  for (std::size_t d = 0; d < region.extents.size(); ++d)
    walk.outer.push_back({region.extents[d], region.from_strides[d], region.to_strides[d]});
  if (walk.outer.empty()) return walk;
  walk.columns = walk.outer.back();
  walk.outer.pop_back();
  if (walk.columns.to_stride != 1 || std::abs(walk.columns.from_stride) < 2) return walk;
  const auto along_input =
      std::find_if(walk.outer.rbegin(), walk.outer.rend(),
                   [](const Line& line) { return line.from_stride == 1 && line.extent > 1; });
  if (along_input == walk.outer.rend()) return walk;
  walk.rows = *along_input;
  walk.outer.erase(std::next(along_input).base());
  return walk;
}

namespace {

// Side data of a value as a full array: errors, or ranges, or nothing.
template <class T>
std::vector<T> side(const Value& value) {
  if constexpr (std::is_same_v<T, double>) {
    if (const auto* errors = value.errors()) return {errors->begin(), errors->end()};
    return std::vector<double>(static_cast<std::size_t>(value.tensor().size()));
  } else {
    return load<Interval>(value).data;
  }
}

using Inputs = InlineVector<std::size_t, 4>;

bool carries(const Call& call, const Inputs& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](std::size_t i) { return call.has(i) && !call.input(i).exact(); });
}

// The result of a copying function applied to the elements and to their errors or ranges.
// apply<T>(source pointers by input, target, fill)
template <class Apply>
Value copied(const Call& call, const Inputs& inputs, std::optional<std::size_t> fill, bool complete,
             ElementType type, const Shape& shape, const Apply& apply) {
  Inputs involved = inputs;
  if (fill) involved.push_back(*fill);
  std::sort(involved.begin(), involved.end());
  involved.erase(std::unique(involved.begin(), involved.end()), involved.end());
  const bool inexact = carries(call, involved);
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (inexact && call.reading == Reading::interval) {
    std::vector<std::vector<Interval>> sources(call.inputs.size());
    for (std::size_t i : involved) sources[i] = side<Interval>(call.input(i));
    std::vector<Interval> target(count, fill ? sources[*fill][0] : Interval::point(0));
    apply([&](std::size_t i) { return sources[i].data(); }, target.data());
    return Value::ranges(type, shape, std::move(target));
  }
  Tensor result = complete ? Tensor::uninitialized(type, shape) : Tensor(type, shape);
  visit_storage(type, [&]<class T>(T*) {
    T* target = result.mutate<T>().data();
    if (fill) std::fill(target, target + count, call.input(*fill).tensor().data<T>()[0]);
    apply([&](std::size_t i) { return call.input(i).tensor().data<T>().data(); }, target);
  });
  if (!inexact) return result;
  std::vector<std::vector<double>> sources(call.inputs.size());
  for (std::size_t i : involved) sources[i] = side<double>(call.input(i));
  Buffer<double> errors(count, fill ? sources[*fill][0] : 0.0);
  apply([&](std::size_t i) { return sources[i].data(); }, errors.data());
  return Value::bounded(std::move(result), std::move(errors));
}

bool is_whole(const Call& call, const Movement& movement, std::int64_t count) {
  return movement.regions.size() == 1 && movement.regions[0].extents.empty() &&
         movement.regions[0].from == -1 &&
         call.input(movement.regions[0].input).tensor().size() == count;
}

}  // namespace

Movement whole(std::size_t input) {
  Region region;
  region.input = input;
  region.from = -1;
  return {{region}, {}};
}

namespace {
thread_local MoveRecorder* recorder = nullptr;
}  // namespace

MoveRecorderScope::MoveRecorderScope(MoveRecorder& other)
    : before_(std::exchange(recorder, &other)) {}
MoveRecorderScope::~MoveRecorderScope() { recorder = before_; }
bool recording_moves() { return recorder != nullptr; }

Value any_of(const Call& call, const std::vector<std::size_t>& inputs, ElementType type,
             const Shape& shape) {
  if (recorder) return recorder->any_of(call, inputs, type, shape);
  if (!has_numbers(type)) throw InexactDecision("elements without a range are chosen by a range");
  Interval all = Interval::no_number(false);
  for (std::size_t i : inputs)
    for (const Interval& range : load<Interval>(call.input(i)).data) all = hull(all, range);
  const auto count = static_cast<std::size_t>(element_count(shape));
  return Value::ranges(type, shape, std::vector<Interval>(count, all));
}

Value moved(const Call& call, const Movement& movement, ElementType type, const Shape& shape) {
  if (recorder) return recorder->moved(call, movement, type, shape);
  if (is_whole(call, movement, element_count(shape)))
    return call.input(movement.regions[0].input).reshaped(shape);
  Inputs inputs;
  std::vector<Region> regions;
  regions.reserve(movement.regions.size());
  for (const Region& region : movement.regions) {
    inputs.push_back(region.input);
    regions.push_back(simplified(region));
  }
  return copied(call, inputs, movement.fill, movement.complete, type, shape,
                [&](const auto& source, auto* target) {
                  for (const Region& region : regions)
                    copy_region(region, source(region.input), target);
                });
}

Meaning move(std::vector<Movement> (*body)(const Call&)) {
  Meaning meaning = custom(Pattern::move, [body](Call& call) {
    const std::vector<Movement> movements = body(call);
    for (std::size_t i = 0; i < movements.size() && i < call.outputs.size(); ++i)
      if (call.site.has_output(i))
        call.outputs[i] = moved(call, movements[i], call.output_type(i), call.output_shape(i));
  });
  return meaning;
}

Value gathered(const Call& call, const Sources& sources, ElementType type, const Shape& shape) {
  if (recorder) return recorder->gathered(call, sources, type, shape);
  const std::int64_t block = sources.block;
  const auto blocks = static_cast<std::int64_t>(sources.indices.size());
  ASSAY_CHECK(blocks * block == element_count(shape));
  std::vector<std::int64_t> starts;
  std::int64_t total = 0;
  for (std::size_t i : sources.inputs) {
    starts.push_back(total);
    total += call.input(i).tensor().size();
  }
  const auto gather_all = [&](const auto& source, auto* target) {
    const auto gather = [&](std::int64_t begin, std::int64_t end) {
      std::size_t k = 0;
      const auto* from = source(sources.inputs[0]);
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t index = sources.indices[static_cast<std::size_t>(i)];
        if (index < 0) continue;
        if (starts.size() > 1) {
          k = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), index) -
                                       starts.begin() - 1);
          from = source(sources.inputs[k]);
          index -= starts[k];
        }
        if (block == 1)
          target[i] = from[index];
        else
          std::copy(from + index, from + index + block, target + i * block);
      }
    };
    parallel_for(blocks,
                 std::max<std::int64_t>(1, kParallelCopy / std::max<std::int64_t>(1, block)),
                 gather);
  };
  const bool complete = std::none_of(sources.indices.begin(), sources.indices.end(),
                                     [](std::int64_t index) { return index < 0; });
  return copied(call, sources.inputs, sources.fill, complete, type, shape, gather_all);
}

Value placed(const Call& call, const Placement& placement) {
  if (recorder) return recorder->placed(call, placement);
  const Value& base = call.input(placement.base);
  const std::int64_t block = placement.block;
  return copied(call, {placement.base, placement.updates}, {}, true, base.type(), base.shape(),
                [&](const auto& source, auto* target) {
                  const auto* from = source(placement.base);
                  std::copy(from, from + base.tensor().size(), target);
                  const auto* update = source(placement.updates);
                  for (std::int64_t to : placement.targets) {
                    std::copy(update, update + block, target + to);
                    update += block;
                  }
                });
}

Meaning gather(Sources (*body)(const Call&)) {
  Meaning meaning = custom(Pattern::gather, [body](Call& call) {
    const Sources sources = body(call);
    call.outputs[0] = gathered(call, sources, call.output_type(0), call.output_shape(0));
  });
  return meaning;
}

}  // namespace assay
