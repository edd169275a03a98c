// Files beside a model that hold its large tensors: found inside the model's folder only, mapped
// once, and shared by all tensors that lie in them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Bytes, and what keeps them alive.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

// Maps a whole regular file for reading; throws FormatError, which does not name it.
SharedBytes map_file(const std::filesystem::path& path);

// What a tensor says about where its bytes are.
struct ExternalPlace {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

class ExternalFiles {
 public:
  // An empty folder: no file may be opened.
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The `size` bytes at the place; throws FormatError if they are not there, or not to be had.
  SharedBytes bytes(const ExternalPlace& place, std::uint64_t size);

 private:
  const SharedBytes& file(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, SharedBytes> files_;
};

}  // namespace assay
