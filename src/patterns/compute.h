// Compute: a body with loops of its own over arrays of scalars, compiled once for each reading.
#pragma once

#include <type_traits>

#include "patterns/array.h"
#include "patterns/call.h"
#include "patterns/elementwise.h"

namespace assay {

// A call as a body sees it: inputs and outputs as arrays of S.
template <class S>
class Frame {
 public:
  explicit Frame(Call& call) : call_(&call) {}
  const Call& call() const { return *call_; }
  const Site& site() const { return call_->site; }
  bool has(std::size_t i) const { return call_->has(i); }
  bool wants(std::size_t i) const { return call_->site.has_output(i); }
  Array<S> input(std::size_t i) const { return load<S>(call_->input(i)); }
  const Shape& shape(std::size_t i) const { return call_->input(i).shape(); }
  // Elements that decide where to read: must be exact, else the whole answer is "unknown".
  const Tensor& exact(std::size_t i) const { return call_->exact(i); }
  Shape output_shape(std::size_t i) const { return call_->output_shape(i); }
  void output(std::size_t i, const Array<S>& array) {
    call_->outputs[i] = settle(call_->output_type(i), array);
  }
  void output(std::size_t i, Value value) { call_->outputs[i] = std::move(value); }

 private:
  Call* call_;
};

namespace compute_detail {
enum class Scalar : std::uint8_t { real, bounded, interval, integer, natural };
// Which scalar suits the call: by the reading and by the type of input `leading`.
Scalar choose(const Call& call, std::size_t leading, bool has_real, bool has_integers);
}  // namespace compute_detail

// Body: made from the call if it has such a constructor, with
//   template <class S> void operator()(Frame<S>& frame) const
// Its scalar follows the type of input `leading` and the reading; rounding is that of output 0.
template <class Body, class Kinds = Reals>
Meaning compute(Pattern pattern, std::size_t leading = 0) {
  return {pattern,
          [leading](Call& call) {
            using compute_detail::Scalar;
            constexpr bool kReal = !std::is_same_v<Kinds, Integers> && !std::is_same_v<Kinds, Bits>;
            constexpr bool kIntegers = !std::is_same_v<Kinds, Reals>;
            constexpr bool kRanges = !std::is_same_v<Kinds, Bits>;
            const Body body = elementwise_detail::make_body<Body>(call);
            const auto as = [&]<class S>(std::type_identity<S>) {
              Frame<S> frame(call);
              body(frame);
            };
            try {
              const ElementType type = call.types.empty() ? ElementType::f32 : call.output_type(0);
              const ElementType lead = call.has(leading) ? call.input(leading).type() : type;
              const RoundingScope scope(rounding_of(is_real(type) ? type : lead));
              switch (compute_detail::choose(call, leading, kReal, kIntegers)) {
                case Scalar::real:
                  if constexpr (kReal) as(std::type_identity<double>{});
                  break;
                case Scalar::integer:
                  if constexpr (kIntegers) as(std::type_identity<std::int64_t>{});
                  break;
                case Scalar::natural:
                  if constexpr (kIntegers) as(std::type_identity<std::uint64_t>{});
                  break;
                case Scalar::bounded:
                  if constexpr (kRanges)
                    as(std::type_identity<Bounded>{});
                  else
                    answer_unknown(call);
                  break;
                case Scalar::interval:
                  if constexpr (kRanges)
                    as(std::type_identity<Interval>{});
                  else
                    answer_unknown(call);
                  break;
              }
            } catch (const InexactDecision&) {
              answer_unknown(call);
            }
          },
          true};
}

}  // namespace assay
