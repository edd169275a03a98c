// Zip archives, read under limits: an entry that claims more than it can hold, or an archive that
// unpacks to more than one may expect of its size, is refused before memory is spent on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct zip;

namespace assay {

struct ArchiveEntry {
  std::string name;
  std::uint64_t index = 0;
  std::uint64_t size = 0;
};

class Archive {
 public:
  // `kind` names what the file should be in errors: ".npz".
  static Result<Archive> open(const std::string& path, std::string_view kind);

  const std::vector<ArchiveEntry>& entries() const { return entries_; }  // as they lie in the file
  const ArchiveEntry* find(std::string_view name) const;
  Result<std::string> unpack(const ArchiveEntry& entry) const;

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };
  std::string path_;
  std::unique_ptr<zip, Discard> archive_;
  std::vector<ArchiveEntry> entries_;
};

}  // namespace assay
