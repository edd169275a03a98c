// Loops that share nothing, for a thread that is one of many with work of their own.
#pragma once

#include <atomic>

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

// Threads with work of their own. While there are as many as processors, the loops of each run on
// it alone; the last ones share theirs again.
class Crowd {
 public:
  // While it lives, its thread is one of them.
  class Member {
   public:
    explicit Member(Crowd& crowd);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   private:
    Crowd& crowd_;
    const Crowd* before_;
  };

  bool has_all_processors() const;

 private:
  std::atomic<int> members_{0};
};

}  // namespace assay
