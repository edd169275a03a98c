// Arena: a nameless file through which tensors pass between two processes of one machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/uio.h>
#include <vector>

#include "backends/process.h"
#include "tensor/tensor.h"

namespace assay {

// No name, so nothing is left behind whoever dies; read and written by system calls, so that a file
// which somebody cuts or a disk that is full is an error and not a signal.
class Arena {
 public:
  // In $ASSAY_SHARED_MEMORY, or where the system keeps shared memory.
  static Result<Arena> make();
  // One that cannot become shorter, so that it may be mapped, unless a folder is asked for.
  static Result<Arena> make_lasting();

  int descriptor() const { return file_.number(); }
  void clear(std::uint64_t used = 0) { used_ = used; }
  // Where the bytes lie now; nullopt if there is no room.
  std::optional<std::uint64_t> append(const void* bytes, std::size_t count);
  bool read(std::uint64_t offset, void* bytes, std::size_t count) const;
  // A tensor whose elements lie here in its storage layout.
  std::optional<Tensor> read(std::uint64_t offset, ElementType type, const Shape& shape) const;
  // The same with memory that lies apart; false if there is no room, or not so much.
  bool write(std::uint64_t offset, std::vector<iovec> parts);
  bool read(std::uint64_t offset, std::vector<iovec> parts) const;
  std::uint64_t size() const;
  bool lasting() const { return lasting_; }

 private:
  explicit Arena(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
  std::uint64_t used_ = 0;
  bool lasting_ = false;
};

}  // namespace assay
