// Loops of TensorFlow 1: the nodes between Enter and Exit, and what of them a loop is made of.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "layers/tensorflow/wiring.h"

namespace assay::tensorflow {

// Merge(Enter, NextIteration), Switch(Merge, LoopCond), Exit(Switch).
struct LoopVariable {
  std::size_t merge = kNowhere, enter = kNowhere, next = kNowhere;
  std::size_t branch = kNowhere;  // the Switch
  std::size_t exit = kNowhere;
};

struct Frame {
  std::string name;
  std::size_t parent = 0;
  std::size_t condition = kNowhere;  // LoopCond
  std::vector<LoopVariable> variables;
  std::vector<std::size_t> enters;
  std::vector<std::size_t> nodes;     // its own and the Exits of frames inside it, in order
  std::vector<std::size_t> deciding;  // nodes that LoopCond needs in each round, in order
  std::string failure;                // why it is no loop of the usual form; empty: it is one
};

class Frames {
 public:
  explicit Frames(const Wiring& wiring);

  static constexpr std::size_t kOutermost = 0;
  const Frame& operator[](std::size_t frame) const { return frames_[frame]; }
  std::size_t count() const { return frames_.size(); }
  std::size_t of(std::size_t node) const { return of_[node]; }

 private:
  std::size_t value_frame(std::size_t node) const;  // where the values of a node are
  void assign(const std::vector<std::size_t>& order);
  std::size_t entered(std::size_t node, std::size_t parent);
  void structure(std::size_t frame);
  void find_ends(Frame& frame, std::size_t number);
  void find_deciding(Frame& frame, std::size_t number);

  const Wiring& wiring_;
  std::vector<std::size_t> of_;
  std::vector<std::size_t> depth_;
  std::vector<Frame> frames_;
  std::unordered_map<std::string, std::size_t> numbers_;  // of frames, by parent and name
};

}  // namespace assay::tensorflow
