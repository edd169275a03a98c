// Loops that share nothing, for a thread that is one of many with work of their own.
#pragma once

namespace assay {

// While it lives, the loops of this thread run on this thread. Where there are as many threads with
// work of their own as processors, to share loops costs time and saves none.
class SerialScope {
 public:
  explicit SerialScope(bool serial);
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool before_;
};

}  // namespace assay
