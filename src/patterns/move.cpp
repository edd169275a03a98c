#include "patterns/move.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "patterns/array.h"

namespace assay {
namespace {

// Calls copy(from, to, count, from_stride, to_stride) for each innermost run of a region.
template <class Copy>
void for_runs(const Region& region, Copy&& copy) {
  const std::size_t rank = region.extents.size();
  if (rank == 0) return copy(region.from, region.to, std::int64_t{1}, std::int64_t{0}, std::int64_t{0});
  if (std::find(region.extents.begin(), region.extents.end(), 0) != region.extents.end()) return;
  std::vector<std::int64_t> index(rank - 1);
  std::int64_t from = region.from, to = region.to;
  while (true) {
    copy(from, to, region.extents[rank - 1], region.from_strides[rank - 1], region.to_strides[rank - 1]);
    std::size_t d = rank - 1;
    while (d > 0) {
      --d;
      from += region.from_strides[d];
      to += region.to_strides[d];
      if (++index[d] < region.extents[d]) break;
      from -= index[d] * region.from_strides[d];
      to -= index[d] * region.to_strides[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (rank == 1) return;
  }
}

template <class T>
void copy_run(const T* source, T* target, std::int64_t count, std::int64_t step, std::int64_t stride) {
  if (step == 1 && stride == 1) {
    std::copy(source, source + count, target);
  } else {
    for (std::int64_t i = 0; i < count; ++i) target[i * stride] = source[i * step];
  }
}

// Merges neighbouring axes that both sides step through evenly, so that runs get longer.
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

// Side data of a value as a full array: errors, or ranges, or nothing.
template <class T>
std::vector<T> side(const Value& value) {
  if constexpr (std::is_same_v<T, double>) {
    if (value.errors()) return *value.errors();
    return std::vector<double>(static_cast<std::size_t>(value.tensor().size()));
  } else {
    return load<Interval>(value).data;
  }
}

bool carries(const Call& call, const std::vector<std::size_t>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](std::size_t i) { return call.has(i) && !call.input(i).exact(); });
}

// The result of a copying function applied to the elements and to their errors or ranges.
// apply<T>(source pointers by input, target, fill)
template <class Apply>
Value copied(const Call& call, const std::vector<std::size_t>& inputs, std::optional<std::size_t> fill,
             ElementType type, const Shape& shape, const Apply& apply) {
  std::vector<std::size_t> involved = inputs;
  if (fill) involved.push_back(*fill);
  const bool inexact = carries(call, involved);
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (inexact && call.reading == Reading::interval) {
    std::vector<std::vector<Interval>> sources(call.inputs.size());
    for (std::size_t i : involved) sources[i] = side<Interval>(call.input(i));
    std::vector<Interval> target(count, fill ? sources[*fill][0] : Interval::point(0));
    apply([&](std::size_t i) { return sources[i].data(); }, target.data());
    return Value::ranges(type, shape, std::move(target));
  }
  Tensor result(type, shape);
  visit_storage(type, [&]<class T>(T*) {
    T* target = result.mutate<T>().data();
    if (fill) std::fill(target, target + count, call.input(*fill).tensor().data<T>()[0]);
    apply([&](std::size_t i) { return call.input(i).tensor().data<T>().data(); }, target);
  });
  if (!inexact) return result;
  std::vector<std::vector<double>> sources(call.inputs.size());
  for (std::size_t i : involved) sources[i] = side<double>(call.input(i));
  std::vector<double> errors(count, fill ? sources[*fill][0] : 0.0);
  apply([&](std::size_t i) { return sources[i].data(); }, errors.data());
  return Value::bounded(std::move(result), std::move(errors));
}

bool is_whole(const Call& call, const Movement& movement, std::int64_t count) {
  return movement.regions.size() == 1 && movement.regions[0].extents.empty() &&
         movement.regions[0].from == -1 && call.input(movement.regions[0].input).tensor().size() == count;
}

}  // namespace

Movement whole(std::size_t input) {
  Region region;
  region.input = input;
  region.from = -1;
  return {{region}, {}};
}

Value moved(const Call& call, const Movement& movement, ElementType type, const Shape& shape) {
  if (is_whole(call, movement, element_count(shape)))
    return call.input(movement.regions[0].input).reshaped(shape);
  std::vector<std::size_t> inputs;
  std::vector<Region> regions;
  for (const Region& region : movement.regions) {
    inputs.push_back(region.input);
    regions.push_back(simplified(region));
  }
  return copied(call, inputs, movement.fill, type, shape, [&](const auto& source, auto* target) {
    for (const Region& region : regions) {
      const auto* from = source(region.input);
      for_runs(region, [&](std::int64_t at, std::int64_t to, std::int64_t count, std::int64_t step,
                           std::int64_t stride) { copy_run(from + at, target + to, count, step, stride); });
    }
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
  ASSAY_CHECK(static_cast<std::int64_t>(sources.indices.size()) == element_count(shape));
  std::vector<std::int64_t> starts;
  std::int64_t total = 0;
  for (std::size_t i : sources.inputs) {
    starts.push_back(total);
    total += call.input(i).tensor().size();
  }
  return copied(call, sources.inputs, sources.fill, type, shape, [&](const auto& source, auto* target) {
    if (sources.inputs.size() == 1) {
      const auto* from = source(sources.inputs[0]);
      for (std::size_t i = 0; i < sources.indices.size(); ++i)
        if (sources.indices[i] >= 0) target[i] = from[sources.indices[i]];
      return;
    }
    for (std::size_t i = 0; i < sources.indices.size(); ++i) {
      const std::int64_t index = sources.indices[i];
      if (index < 0) continue;
      const auto k = static_cast<std::size_t>(
          std::upper_bound(starts.begin(), starts.end(), index) - starts.begin() - 1);
      target[i] = source(sources.inputs[k])[index - starts[k]];
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
