#include "scalar/watch.h"

namespace assay {
namespace {

thread_local Watch* current_watch = nullptr;
thread_local const Counts* current_counts = nullptr;

}  // namespace

Watch* watch() { return current_watch; }
const Counts* counts() { return current_counts; }

WatchScope::WatchScope(Watch* watch) : before_(std::exchange(current_watch, watch)) {}
WatchScope::~WatchScope() { current_watch = before_; }

CountsScope::CountsScope(const Counts& counts) : before_(std::exchange(current_counts, &counts)) {}
CountsScope::~CountsScope() { current_counts = before_; }

}  // namespace assay
