// HDF5 files in memory: groups, texts and arrays of numbers, read under limits. Nothing outside the
// file is ever opened (external links, external storage and virtual arrays are refused).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace assay {

// All members throw FormatError of kind "unreadable", or "limit" where an array claims more than
// the file can hold. One thread at a time reads, whatever file it is of.
class Hdf5File {
 public:
  explicit Hdf5File(std::string bytes);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  bool has(std::string_view path) const;                            // a group or an array
  std::vector<std::string> members(const std::string& path) const;  // of a group, sorted
  bool is_array(const std::string& path) const;
  Tensor read(const std::string& path) const;

  // An attribute that is one text; nullopt if there is none of the name.
  std::optional<std::string> text(const std::string& path, const std::string& attribute) const;
  // One that is a list of texts; an empty list may be of any type.
  std::optional<std::vector<std::string>> texts(const std::string& path,
                                                const std::string& attribute) const;

 private:
  std::string bytes_;
  std::int64_t file_ = -1;
};

}  // namespace assay
