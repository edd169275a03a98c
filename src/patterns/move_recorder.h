// MoveRecorder: someone who wants to know what would be moved, without moving it.
#pragma once

#include <vector>

#include "patterns/move.h"

namespace assay {

// Gives what stands for each result. The inputs may then be tensors whose elements mean nothing.
class MoveRecorder {
 public:
  virtual ~MoveRecorder() = default;
  virtual Value moved(const Call& call, const Movement& movement, ElementType type,
                      const Shape& shape) = 0;
  virtual Value gathered(const Call& call, const Sources& sources, ElementType type,
                         const Shape& shape) = 0;
  virtual Value placed(const Call& call, const Placement& placement) = 0;
  virtual Value any_of(const Call& call, const std::vector<std::size_t>& inputs, ElementType type,
                       const Shape& shape) = 0;
};

// Sets the recorder of this thread for as long as it lives.
class MoveRecorderScope {
 public:
  explicit MoveRecorderScope(MoveRecorder& recorder);
  ~MoveRecorderScope();
  MoveRecorderScope(const MoveRecorderScope&) = delete;
  MoveRecorderScope& operator=(const MoveRecorderScope&) = delete;

 private:
  MoveRecorder* before_;
};

bool recording_moves();  // whether one is set

// Every element is one of the elements of these inputs, and nobody knows which: ranges.
Value any_of(const Call& call, const std::vector<std::size_t>& inputs, ElementType type,
             const Shape& shape);

}  // namespace assay
