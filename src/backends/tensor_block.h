// TensorBlock: how the tensors of a feed, or of its answer, lie side by side.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/uio.h>
#include <vector>

#include "backends/answer.h"

namespace assay {

// Whether an element lies in a file as it does in memory.
bool same_in_memory(ElementType type);

// Each tensor starts at a multiple of 64 bytes, and so does the next block.
class TensorBlock {
 public:
  static constexpr std::size_t kAlignment = 64;
  struct Place {
    std::string name;
    ElementType type;
    Shape shape;
    std::size_t length;  // in bytes
  };

  // None if one of the values is no tensor of numbers.
  static std::optional<TensorBlock> of(const NamedValues& values);
  bool fits(const NamedValues& values) const;  // of the same names, types and shapes
  std::size_t size() const { return size_; }
  const std::vector<Place>& places() const { return places_; }

 private:
  std::vector<Place> places_;
  std::size_t size_ = 0;
};

// Memory that lies apart and is one stretch of bytes elsewhere, for system calls that take it so.
class ScatteredBytes {
 public:
  void add(const void* bytes, std::size_t count);
  const std::vector<iovec>& parts() const { return parts_; }
  std::size_t size() const { return size_; }
  void copy_to(std::string& bytes) const;
  bool copy_from(std::string_view bytes) const;  // false if it is not as long

 private:
  std::vector<iovec> parts_;
  std::size_t size_ = 0;
  std::shared_ptr<std::array<char, TensorBlock::kAlignment>> between_ =
      std::make_shared<std::array<char, TensorBlock::kAlignment>>();
};

// The bytes of some feeds, all of a block's form.
class BlockSource {
 public:
  BlockSource(const TensorBlock& block, std::span<const NamedValues> feeds);
  const ScatteredBytes& bytes() const { return bytes_; }

 private:
  ScatteredBytes bytes_;
  std::deque<std::string> packed_;
};

// Tensors for some blocks, which are values once their bytes are there.
class BlockTarget {
 public:
  BlockTarget(const TensorBlock& block, std::size_t count);
  const ScatteredBytes& bytes() const { return bytes_; }
  std::optional<std::vector<NamedValues>> take();

 private:
  struct Element {
    const TensorBlock::Place* place;
    Tensor tensor{};       // where it is the same in memory
    std::string packed{};  // else
  };
  std::size_t count_, each_;
  std::vector<Element> elements_;
  ScatteredBytes bytes_;
};

}  // namespace assay
