// .npz: zip archives of .npy files.
#include <fstream>
#include <memory>
#include <new>

#include <fmt/format.h>
#include <zip.h>

#include "tensor/archive.h"
#include "tensor/npy.h"
#include "tensor/npy_format.h"

namespace assay {
namespace {

struct Abandon {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using WrittenArchive = std::unique_ptr<zip_t, Abandon>;

constexpr std::string_view kSuffix = ".npy";

Result<WrittenArchive> make_archive(const std::string& path) {
  int code = 0;
  WrittenArchive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  return npy_error(path, fmt::format("cannot be written ({})", why));
}

Result<std::vector<NpzEntry>> read_entries(const std::string& path) {
  const Result<Archive> archive = Archive::open(path, ".npz");
  if (!archive) return archive.error();
  std::vector<NpzEntry> tensors;
  for (const ArchiveEntry& entry : archive->entries()) {
    const std::string where = fmt::format("{}/{}", path, entry.name);
    if (!entry.name.ends_with(kSuffix)) return npy_error(where, "the entry is not a .npy file");
    const Result<std::string> bytes = archive->unpack(entry);
    if (!bytes) return bytes.error();
    Result<Tensor> tensor = parse_npy(*bytes, where);
    if (!tensor) return tensor.error();
    tensors.emplace_back(entry.name.substr(0, entry.name.size() - kSuffix.size()),
                         *std::move(tensor));
  }
  return tensors;
}

// The source reads header and payload where they lie; both must outlive zip_close.
bool add_entry(zip_t* archive, const std::string& name, NpyParts& parts) {
  const std::string_view payload = parts.payload();
  zip_buffer_fragment_t fragments[] = {
      {reinterpret_cast<zip_uint8_t*>(parts.header.data()), parts.header.size()},
      {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(payload.data())), payload.size()},
  };
  zip_source_t* source = zip_source_buffer_fragment(archive, fragments, payload.empty() ? 1 : 2, 0);
  if (source == nullptr) return false;
  const std::string file = name + std::string(kSuffix);
  const zip_int64_t index = zip_file_add(archive, file.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return false;
  }
  // The first day of the format's calendar: a file's bytes do not depend on when it was written.
  constexpr zip_uint16_t kFirstDay = 1 << 5 | 1;
  const auto entry = static_cast<zip_uint64_t>(index);
  return zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) == 0 &&
         zip_file_set_dostime(archive, entry, 0, kFirstDay, 0) == 0;
}

// libzip writes no archive without entries; this is one.
Result<void> write_empty_archive(const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << "PK\x05\x06" << std::string(18, '\0');
  file.close();
  if (!file) return npy_error(path, "cannot be written");
  return {};
}

}  // namespace

Result<std::vector<NpzEntry>> read_npz(const std::string& path) {
  try {
    return read_entries(path);
  } catch (const std::bad_alloc&) {
    return npy_limit_error(path, "the memory does not suffice");
  }
}

Result<void> write_npz(const std::string& path, std::span<const NpzEntry> tensors) {
  if (tensors.empty()) return write_empty_archive(path);
  std::vector<NpyParts> parts;
  for (const auto& [name, tensor] : tensors) {
    Result<NpyParts> made = make_npy_parts(tensor, fmt::format("{}/{}{}", path, name, kSuffix));
    if (!made) return made.error();
    parts.push_back(*std::move(made));
  }
  Result<WrittenArchive> archive = make_archive(path);
  if (!archive) return archive.error();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!add_entry(archive->get(), tensors[i].first, parts[i])) {
      return npy_error(path, fmt::format("'{}' cannot be written ({})", tensors[i].first,
                                         zip_strerror(archive->get())));
    }
  }
  if (zip_close(archive->get()) != 0) {
    return npy_error(path, fmt::format("cannot be written ({})", zip_strerror(archive->get())));
  }
  static_cast<void>(archive->release());  // zip_close has freed it
  return {};
}

}  // namespace assay
