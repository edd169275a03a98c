#include "cli/watchdog.h"

#include <cstdio>
#include <cstdlib>

#include "cli/command.h"

namespace assay {

Watchdog::Watchdog(double seconds, std::function<void()> report) {
  if (seconds <= 0) return;
  thread_ = std::thread([this, seconds, report = std::move(report)] {
    std::unique_lock lock(mutex_);
    if (done_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return finished_; }))
      return;
    report();
    std::fflush(nullptr);
    std::_Exit(static_cast<int>(ExitCode::usage));
  });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  done_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace assay
