// A small pool of worker threads that every parallel loop of the engine shares.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>

namespace assay {

// How many threads a loop may use, the caller's included. A count below one means one per processor
// that this process may run on, which is also the initial value. Takes effect with the next loop.
void set_thread_count(int count);
int thread_count();

// While processes beside us need the processors as well (frameworks that compute what we compare
// with), threads that have nothing to do sleep sooner.
void set_company(bool others);

// Calls body(begin, end) for disjoint pieces that cover [0, count), in any order and on any thread;
// where the pieces begin and end depends on the number of threads, so no result may depend on it.
// No piece but the last is shorter than `grain`. Runs body(0, count) on the caller when count <=
// grain, with one thread, inside another loop's body, and while another thread's loop has the pool.
// An exception ends the loop; the caller gets the one of the lowest failing piece, which for a body
// that walks its piece upwards is the one that a single thread would have thrown.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& body);
// The body stays where it is: a function that holds it would need memory for each loop.
template <std::invocable<std::int64_t, std::int64_t> Body>
void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  const std::function<void(std::int64_t, std::int64_t)> reference(std::cref(body));
  parallel_for(count, grain, reference);
}

// Hands thread-local state of the caller to the workers: each parallel loop calls `capture` on the
// caller and the function it returns on every worker that joins, before its first piece. Neither
// may throw. Registered once for the whole life of the process.
void on_parallel(std::function<std::function<void()>()> capture);

}  // namespace assay
