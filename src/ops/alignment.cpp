#include "ops/alignment.h"

#include <algorithm>

#include "ops/catalogue.h"

namespace assay {
namespace {

constexpr int kOwn = 1000;  // letters of the output alone, from here on

std::int64_t rank_of(const Call& call, std::size_t i) {
  return call.has(i) ? call.input(i).tensor().rank() : 0;
}

Letters letters(std::int64_t rank, std::int64_t first) {
  Letters result;
  for (std::int64_t d = 0; d < rank; ++d) result.push_back(static_cast<int>(first + d));
  return result;
}

Alignment broadcasting(const Call& call) {
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) rank = std::max(rank, rank_of(call, i));
  Alignment result;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    result.inputs.push_back(letters(rank_of(call, i), rank - rank_of(call, i)));
  result.output = letters(rank, 0);
  return result;
}

std::optional<Alignment> elementwise(const Operator& entry, const Call& call) {
  const auto given = std::ranges::count_if(call.inputs, &Value::present);
  if (!is_broadcast(entry, call.site, given)) return std::nullopt;
  for (const Value& input : call.inputs)
    if (input.present() && !input.is_tensor()) return std::nullopt;
  Alignment result = broadcasting(call);
  result.elementwise = true;
  return result;
}

// The output has the input's axes: those of a row stay, vanish, or become 1.
Alignment rows(const Call& call, const std::vector<std::int64_t>& axes, bool countable,
               bool reduces) {
  const std::int64_t rank = rank_of(call, 0);
  Alignment result;
  result.inputs.push_back(letters(rank, 0));
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    result.inputs.push_back(letters(rank_of(call, i), kUnread));
  for (std::int64_t axis : axes) result.rows.push_back(static_cast<int>(axis));
  result.countable = countable;
  const bool keep = call.site.integer("keepdims", 1) != 0;
  for (std::int64_t d = 0; d < rank; ++d) {
    const bool gone = reduces && std::find(axes.begin(), axes.end(), d) != axes.end();
    if (!gone)
      result.output.push_back(static_cast<int>(d));
    else if (keep)
      result.output.push_back(kOwn + static_cast<int>(d));
  }
  return result;
}

std::vector<std::int64_t> axes_between(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> axes;
  for (std::int64_t d = first; d < last; ++d) axes.push_back(d);
  return axes;
}

// The axes are an attribute or the second input; none means all.
std::optional<Alignment> reduction(const Call& call) {
  const std::int64_t rank = rank_of(call, 0);
  std::vector<std::int64_t> axes;
  if (call.site.has("axes"))
    axes = call.site.integers("axes");
  else if (call.has(1))
    axes = call.exact(1).integers();
  const bool none = axes.empty() && call.site.integer("noop_with_empty_axes") != 0;
  if (axes.empty() && !none) axes = axes_between(0, rank);
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  return rows(call, axes, true, true);
}

// Along one axis; below version 13, along it and all behind it.
std::vector<std::int64_t> softmax_axes(const Call& call) {
  const std::int64_t rank = rank_of(call, 0);
  if (rank == 0) return {};
  const std::int64_t axis = *normalize_axis(call.site.integer("axis"), rank);
  return call.site.version() >= 13 ? std::vector<std::int64_t>{axis} : axes_between(axis, rank);
}

// Letters of products: i and j of the result, k that is summed over, the batch from its last axis.
constexpr int kI = 0, kK = 1, kJ = 2, kBatch = 100;

}  // namespace

std::optional<Alignment> align_place_in_row(const Call& call) {
  const std::int64_t rank = rank_of(call, 0);
  if (rank == 0) return std::nullopt;
  return rows(call, {*normalize_axis(call.site.integer("axis"), rank)}, false, true);
}

std::optional<Alignment> align_countable_row(const Call& call) {
  return rows(call, softmax_axes(call), true, false);
}

std::optional<Alignment> align_ordered_row(const Call& call) {
  return rows(call, softmax_axes(call), false, false);
}

std::optional<Alignment> align_norm_row(const Call& call) {
  return rows(call, {*normalize_axis(call.site.integer("axis"), rank_of(call, 0))}, true, false);
}

std::optional<Alignment> align_running(const Call& call) {
  return rows(call, {*normalize_axis(call.exact(1).integer(0), rank_of(call, 0))}, false, false);
}

std::optional<Alignment> align_global_pool(const Call& call) {
  return rows(call, axes_between(2, rank_of(call, 0)), true, true);
}

// Every element of the result goes with one of the input, which it need not be a function of.
std::optional<Alignment> align_each_alone(const Call& call) { return rows(call, {}, false, false); }

// Only the type of a second input counts.
std::optional<Alignment> align_first_alone(const Call& call) {
  Alignment result = rows(call, {}, false, false);
  result.elementwise = true;
  return result;
}

std::optional<Alignment> align_matmul(const Call& call) {
  const std::int64_t a = rank_of(call, 0), b = rank_of(call, 1);
  const auto batch = [](std::int64_t rank) {
    Letters result;
    for (std::int64_t d = rank - 2; d > 0; --d) result.push_back(kBatch + static_cast<int>(d));
    return result;
  };
  Alignment result;
  result.inputs = {batch(a), batch(b)};
  result.output = batch(std::max(a, b));
  if (a > 1) result.inputs[0].push_back(kI);
  result.inputs[0].push_back(kK);
  result.inputs[1].push_back(kK);
  if (b > 1) result.inputs[1].push_back(kJ);
  if (a > 1) result.output.push_back(kI);
  if (b > 1) result.output.push_back(kJ);
  result.rows = {kK};
  result.counted = kK;
  return result;
}

std::optional<Alignment> align_gemm(const Call& call) {
  const bool turn_a = call.site.integer("transA") != 0, turn_b = call.site.integer("transB") != 0;
  Alignment result;
  result.inputs = {turn_a ? std::vector{kK, kI} : std::vector{kI, kK},
                   turn_b ? std::vector{kJ, kK} : std::vector{kK, kJ}};
  if (call.inputs.size() > 2) {
    const Letters both = {kI, kJ};
    result.inputs.emplace_back(both.end() - std::min<std::int64_t>(rank_of(call, 2), 2),
                               both.end());
  }
  result.rows = {kK};
  result.counted = kK;
  result.output = {kI, kJ};
  return result;
}

// With groups, a map reads some channels only.
std::optional<Alignment> align_convolution(const Call& call) {
  constexpr int kSample = 0, kChannel = 1, kMap = 2, kGroupChannel = 3, kWindow = 10, kTap = 30;
  const std::int64_t count = call.site.integer("group", 1);
  const bool groups = count != 1;
  Alignment result;
  result.inputs = {{kSample, kChannel}, {kMap, groups ? kGroupChannel : kChannel}};
  if (call.inputs.size() > 2) result.inputs.push_back(letters(rank_of(call, 2), kMap));
  result.output = {kSample, kMap};
  result.rows = {kChannel};
  if (groups) {
    result.rows.insert(result.rows.end(), {kMap, kGroupChannel});
    result.groups = {count, {kChannel, kMap}, call.site.node()};
    result.groups->single.set("group", std::int64_t{1});
  } else {
    result.counted = kChannel;
  }
  for (int d = 0; d + 2 < static_cast<int>(rank_of(call, 0)); ++d) {
    result.inputs[0].push_back(kWindow + d);
    result.inputs[1].push_back(kTap + d);
    result.output.push_back(kWindow + d);
    result.rows.push_back(kTap + d);
    result.windows.push_back(kWindow + d);
  }
  return result;
}

std::optional<Alignment> align_pool(const Call& call) {
  if (call.site.has_output(1)) return std::nullopt;
  Alignment result = rows(call, {}, false, false);
  for (int d = 2; d < static_cast<int>(rank_of(call, 0)); ++d) result.windows.push_back(d);
  return result;
}

// Statistics that are given; what each channel has is an input of one axis.
std::optional<Alignment> align_batch_norm(const Call& call) {
  constexpr int kPlain = 9;  // before, there may be statistics of each place
  const int version = call.site.version();
  const bool trains =
      version >= 14 ? call.site.integer("training_mode") != 0 : call.site.output_count() > 1;
  if (version < kPlain || trains || rank_of(call, 0) < 2) return std::nullopt;
  Alignment result = rows(call, {}, false, false);
  for (std::size_t i = 1; i < result.inputs.size(); ++i) result.inputs[i] = {1};
  return result;
}

std::optional<Alignment> align_instance_norm(const Call& call) {
  Alignment result = rows(call, axes_between(2, rank_of(call, 0)), false, false);
  for (std::size_t i = 1; i < result.inputs.size(); ++i) result.inputs[i] = {1};
  return result;
}

std::optional<Alignment> align_layer_norm(const Call& call) {
  if (call.site.output_count() > 1) return std::nullopt;
  const std::int64_t rank = rank_of(call, 0);
  Alignment result = broadcasting(call);
  const std::int64_t first = *normalize_axis(call.site.integer("axis", -1), rank);
  for (std::int64_t d = first; d < rank; ++d) result.rows.push_back(static_cast<int>(d));
  return result;
}

bool is_broadcast(const Operator& entry, const Site& site, std::int64_t given) {
  constexpr int kBroadcasting = 7;  // the version of the standard that brought it
  if (entry.meaning.pattern != Pattern::elementwise || entry.align || !entry.domain.empty() ||
      site.output_count() != 1 || (given > 1 && site.version() < kBroadcasting))
    return false;
  const bool placed = std::ranges::any_of(
      entry.attributes, [](const AttributeRole& a) { return a.role == Role::axis; });
  return !placed || !site.has("axis");
}

std::optional<Alignment> align(const Operator& entry, const Call& call) {
  if (call.inputs.empty() || !call.has(0) || !call.input(0).is_tensor()) return std::nullopt;
  if (entry.align) return entry.align(call);
  // A reduction of the default domain goes along its axes, element order aside.
  const bool standard = entry.domain.empty();
  if (standard && entry.meaning.pattern == Pattern::reduce) return reduction(call);
  return elementwise(entry, call);
}

}  // namespace assay
