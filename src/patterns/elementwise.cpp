#include <algorithm>
#include <cmath>

#include "base/isa.h"
#include "base/parallel.h"
#include "patterns/elementwise_exact.h"
#include "patterns/elementwise_long.h"

namespace assay::elementwise_detail {
namespace {

constexpr std::int64_t kBlock = 1024;      // elements handled at a time: fits the first cache
constexpr std::int64_t kGrain = 8 * 1024;  // elements worth a thread

// The elements themselves, if they lie in memory as S.
template <class S>
const S* elements_as(const Value& value) {
  if constexpr (!std::is_same_v<S, Bounded> && !std::is_same_v<S, Interval>) {
    if (storage_of(value.type()) == StorageOf<S>::value) return value.tensor().data<S>().data();
  }
  return nullptr;
}

// Reads one input as if it had the output's shape, where it lies if that can be.
template <class S>
class Reader {
 public:
  Reader(const Value& value, const Shape& output)
      : value_(&value), source_(elements_as<S>(value)), lies_(source_ != nullptr) {
    const std::int64_t size = value.tensor().size();
    if (value.shape() == output || (size == element_count(output) && size > 0)) return;
    if constexpr (!std::is_same_v<S, float>) {
      if (!lies_) {
        whole_ = load<S>(value).data;
        source_ = whole_.data();
      }
    }
    if (size == 1) {
      mode_ = Mode::single;
      return;
    }
    mode_ = Mode::strided;
    merge(output, broadcast_strides(value.shape(), output));
  }

  bool constant() const { return mode_ == Mode::single; }
  bool in_place() const { return lies_ && mode_ == Mode::direct; }

  // Elements [begin, begin + count): in place, or in `out`.
  const S* read(std::int64_t begin, std::int64_t count, S* out) const {
    switch (mode_) {
      case Mode::direct:
        if (lies_) return source_ + begin;
        if constexpr (!std::is_same_v<S, float>) load<S>(*value_, begin, begin + count, out);
        break;
      case Mode::single:
        std::fill(out, out + count, source_[0]);
        break;
      case Mode::strided:
        gather(begin, count, out);
        break;
    }
    return out;
  }

 private:
  enum class Mode : std::uint8_t { direct, single, strided };

  // Neighboring axes that are stepped through evenly become one, so that runs get longer.
  void merge(const Shape& output, const Shape& strides) {
    for (std::size_t d = 0; d < output.size(); ++d) {
      if (output[d] == 1 && d + 1 < output.size()) continue;
      if (!extents_.empty() && strides_.back() == strides[d] * output[d]) {
        extents_.back() *= output[d];
        strides_.back() = strides[d];
      } else {
        extents_.push_back(output[d]);
        strides_.push_back(strides[d]);
      }
    }
  }

  void gather(std::int64_t begin, std::int64_t count, S* out) const {
    const std::size_t rank = extents_.size();
    Shape index(rank);
    std::int64_t rest = begin, offset = 0;
    for (std::size_t d = rank; d-- > 0;) {
      index[d] = rest % extents_[d];
      rest /= extents_[d];
      offset += index[d] * strides_[d];
    }
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t run = std::min(count - done, extents_[rank - 1] - index[rank - 1]);
      const std::int64_t step = strides_[rank - 1];
      const S* source = source_ + offset;
      if (step == 0)
        std::fill(out + done, out + done + run, *source);
      else
        for (std::int64_t i = 0; i < run; ++i) out[done + i] = source[i * step];
      done += run;
      offset += run * step;
      index[rank - 1] += run;
      for (std::size_t d = rank - 1; d > 0 && index[d] == extents_[d]; --d) {
        offset += strides_[d - 1] - index[d] * strides_[d];
        index[d] = 0;
        ++index[d - 1];
      }
    }
  }

  const Value* value_;
  Mode mode_ = Mode::direct;
  std::vector<S> whole_;
  const S* source_;
  bool lies_;
  Shape extents_;
  Shape strides_;
};

// Block by block through the first cache: reads, computes, and puts(begin, count, results).
// Results are computed where place(begin) says.
template <class S, class Place, class Put>
void by_blocks(const std::vector<Reader<S>>& readers, const Kernel<S>& kernel, std::int64_t begin,
               std::int64_t end, const Place& place, const Put& put) {
  const std::int64_t block = std::min(kBlock, end - begin);
  const bool in_place = std::all_of(readers.begin(), readers.end(),
                                    [](const Reader<S>& reader) { return reader.in_place(); });
  std::vector<S> buffer(in_place ? 0 : readers.size() * static_cast<std::size_t>(block));
  InlineVector<const S*, 4> in(readers.size());
  const auto own = [&](std::size_t k) {
    return buffer.data() + static_cast<std::int64_t>(k) * block;
  };
  for (std::size_t k = 0; k < readers.size(); ++k)
    if (readers[k].constant()) in[k] = readers[k].read(0, block, own(k));
  for (std::int64_t at = begin; at < end; at += block) {
    const std::int64_t count = std::min(block, end - at);
    for (std::size_t k = 0; k < readers.size(); ++k)
      if (!readers[k].constant()) in[k] = readers[k].read(at, count, own(k));
    S* const out = place(at);
    kernel(in.data(), readers.size(), out, count);
    put(at, count, out);
  }
}

template <class S>
std::vector<Reader<S>> make_readers(const Call& call, const Shape& shape) {
  std::vector<Reader<S>> readers;
  readers.reserve(call.inputs.size());
  for (const Value& input : call.inputs)
    if (input.present()) readers.emplace_back(input, shape);
  return readers;
}

template <class S>
void run_as(Call& call, const Kernel<S>& kernel) {
  const Shape shape = call.output_shape(0);
  const ElementType type = call.output_type(0);
  const std::vector<Reader<S>> readers = make_readers<S>(call, shape);
  ElementType computes = type;  // a comparison rounds as its inputs do
  for (const Value& input : call.inputs)
    if (input.present() && is_real(input.type()) && !is_real(computes)) computes = input.type();
  Settler<S> settler(type, shape);
  parallel_for(element_count(shape), kGrain, [&](std::int64_t begin, std::int64_t end) {
    const RoundingScope scope(rounding_of(computes));
    std::vector<S> results(static_cast<std::size_t>(std::min(kBlock, end - begin)));
    by_blocks(
        readers, kernel, begin, end, [&](std::int64_t) { return results.data(); },
        [&](std::int64_t at, std::int64_t count, const S* out) { settler.put(at, count, out); });
  });
  call.outputs[0] = settler.finish();
}

// All in float32, which the kernel itself reads and writes.
void run_single(Call& call, const Kernel<float>& kernel) {
  const Shape shape = call.output_shape(0);
  const std::vector<Reader<float>> readers = make_readers<float>(call, shape);
  Tensor result = Tensor::uninitialized(ElementType::f32, shape);
  float* const out = result.mutate<float>().data();
  parallel_for(element_count(shape), kGrain, [&](std::int64_t begin, std::int64_t end) {
    by_blocks(
        readers, kernel, begin, end, [&](std::int64_t at) { return out + at; },
        [](std::int64_t, std::int64_t, const float*) {});
  });
  call.outputs[0] = std::move(result);
}

bool all_single(const Call& call) {
  return call.output_type(0) == ElementType::f32 &&
         std::all_of(call.inputs.begin(), call.inputs.end(),
                     [](const Value& v) { return !v.present() || v.type() == ElementType::f32; });
}

bool any_real(const Call& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(),
                     [](const Value& v) { return v.present() && is_real(v.type()); });
}

bool all_exact(const Call& call) {
  return std::all_of(call.inputs.begin(), call.inputs.end(),
                     [](const Value& v) { return !v.present() || v.exact(); });
}

bool all_natural(const Call& call) {
  return std::all_of(call.inputs.begin(), call.inputs.end(), [](const Value& v) {
    return !v.present() || domain_of(v.type()) == Domain::unsigned_integer;
  });
}

}  // namespace

bool wide_loops() { return isa() != Isa::sse; }

bool widest_loops() { return isa() == Isa::avx512; }

bool run_exact(Call& call, const Kernel<double>& kernel, Margins margins) {
  if (!all_single(call) || !all_exact(call)) return false;
  const Shape shape = call.output_shape(0);
  const std::vector<Reader<double>> readers = make_readers<double>(call, shape);
  if (readers.empty() || readers.size() > 2) return false;
  Tensor result = Tensor::uninitialized(ElementType::f32, shape);
  float* const values = result.mutate<float>().data();
  Buffer<double> errors(static_cast<std::size_t>(element_count(shape)));
  parallel_for(element_count(shape), kGrain, [&](std::int64_t begin, std::int64_t end) {
    const RoundingScope scope(rounding_of(ElementType::f32));
    std::vector<double> results(static_cast<std::size_t>(std::min(kBlock, end - begin)));
    std::int64_t place = begin;
    const Kernel<double> both = [&](const double* const* in, std::size_t inputs, double* out,
                                    std::int64_t count) {
      kernel(in, inputs, out, count);
      margins({in[0], inputs > 1 ? in[1] : nullptr, out, count}, errors.data() + place);
      settle_singles(out, count, values + place, errors.data() + place);
    };
    by_blocks(
        readers, both, begin, end,
        [&](std::int64_t at) {
          place = at;
          return results.data();
        },
        [](std::int64_t, std::int64_t, const double*) {});
  });
  call.outputs[0] = Value::bounded(std::move(result), std::move(errors));
  return true;
}

void run(Call& call, const Kernels& kernels) {
  const bool real = any_real(call) || !kernels.integer;
  if (call.reading == Reading::value || (!real && all_exact(call))) {
    if (real && kernels.single && all_single(call))
      run_single(call, kernels.single);
    else if (real)
      run_as<double>(call, kernels.real);
    else if (all_natural(call))
      run_as<std::uint64_t>(call, kernels.natural);
    else
      run_as<std::int64_t>(call, kernels.integer);
  } else if (call.reading == Reading::interval) {
    run_as<Interval>(call, kernels.interval);
  } else if (kernels.bounded) {
    run_as<Bounded>(call, kernels.bounded);
  } else {
    answer_unknown(call);
  }
}

}  // namespace assay::elementwise_detail
