// Watchdog: ends the process when --timeout is reached, whatever it is doing.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace assay {

class Watchdog {
 public:
  // After `seconds` (0: never) calls `report` and exits with 2.
  Watchdog(double seconds, std::function<void()> report);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace assay
