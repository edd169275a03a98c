// .npz: zip archives of .npy files.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <unordered_set>

#include <fmt/format.h>
#include <zip.h>

#include "tensor/npy.h"
#include "tensor/npy_format.h"
#include "tensor/utf.h"

namespace assay {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using EntryFile = std::unique_ptr<zip_file_t, Discard>;

// Deflate gives at most 1032 bytes for one; an entry that claims more lies.
constexpr std::uint64_t kLargestInflation = 1032;
// What an archive may hold unpacked: this much, or this many times its own size. Arrays that
// compress better are rare, archives made to exhaust memory compress a thousand times.
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{1} << 30;
constexpr std::uint64_t kUsualInflation = 100;
constexpr std::string_view kSuffix = ".npy";

Result<Archive> open_archive(const std::string& path, int flags) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string what = fmt::format("not a readable .npz file ({})", zip_error_strerror(&error));
  zip_error_fini(&error);
  return npy_error(path, what);
}

struct Entry {
  std::string name;
  std::uint64_t index = 0;
  std::uint64_t size = 0;
};

// The claims of an entry, as far as they can be checked without unpacking it.
Result<Entry> inspect_entry(zip_t* archive, std::uint64_t index, std::uint64_t archive_size,
                            const std::string& path) {
  zip_stat_t stat;
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                   ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) {
    return npy_error(path, fmt::format("its entry {} is broken", index));
  }
  std::string_view name = stat.name;
  if (!decode_utf8(name)) return npy_error(path, fmt::format("entry {} has no valid name", index));
  const std::string where = fmt::format("{}/{}", path, name);
  if (!name.ends_with(kSuffix)) return npy_error(where, "the entry is not a .npy file");
  name.remove_suffix(kSuffix.size());
  if (stat.encryption_method != ZIP_EM_NONE) return npy_error(where, "the entry is encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return npy_error(where, "the entry is neither stored nor deflated");
  }
  const std::uint64_t most =
      stat.comp_method == ZIP_CM_STORE ? stat.comp_size : stat.comp_size * kLargestInflation;
  if (stat.comp_size > archive_size || stat.size > most) {
    return npy_error(where,
                     fmt::format("the entry claims {} bytes, more than it can hold", stat.size));
  }
  return Entry{std::string(name), index, stat.size};
}

Result<std::vector<Entry>> list_entries(zip_t* archive, const std::string& path) {
  std::error_code error;
  const std::uint64_t archive_size = std::filesystem::file_size(path, error);
  if (error) return npy_error(path, error.message());
  const std::uint64_t allowed = std::max(kAlwaysAllowed, archive_size * kUsualInflation);
  std::vector<Entry> entries;
  std::unordered_set<std::string> names;
  std::uint64_t total = 0;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    Result<Entry> entry = inspect_entry(archive, static_cast<std::uint64_t>(i), archive_size, path);
    if (!entry) return entry.error();
    if (!names.insert(entry->name).second) {
      return npy_error(path, fmt::format("two entries are named '{}'", entry->name));
    }
    total += entry->size;
    if (total > allowed || total > memory_limit()) {
      return npy_limit_error(
          path, fmt::format("unpacked it takes at least {} bytes, but {} are allowed", total,
                            std::min<std::uint64_t>(allowed, memory_limit())));
    }
    entries.push_back(*std::move(entry));
  }
  return entries;
}

// Grows with what really comes out, never beyond the entry's claim.
Result<std::string> unpack_entry(zip_t* archive, const Entry& entry, const std::string& where) {
  const EntryFile file(zip_fopen_index(archive, entry.index, 0));
  if (!file) return npy_error(where, zip_strerror(archive));
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
  std::string bytes;
  for (;;) {
    const std::size_t have = bytes.size();
    // One byte more than claimed, so that the end is reached and the checksum compared.
    bytes.resize(have + std::min(std::max<std::uint64_t>(kChunk, have), entry.size + 1 - have));
    const zip_int64_t read = zip_fread(file.get(), bytes.data() + have, bytes.size() - have);
    if (read < 0) return npy_error(where, zip_file_strerror(file.get()));
    bytes.resize(have + static_cast<std::size_t>(read));
    if (bytes.size() > entry.size) return npy_error(where, "the entry is longer than it claims");
    if (read == 0) break;
  }
  if (bytes.size() < entry.size) return npy_error(where, "the entry is cut off");
  return bytes;
}

Result<std::vector<NpzEntry>> read_entries(const std::string& path) {
  const Result<Archive> archive = open_archive(path, ZIP_RDONLY);
  if (!archive) return archive.error();
  const Result<std::vector<Entry>> entries = list_entries(archive->get(), path);
  if (!entries) return entries.error();
  std::vector<NpzEntry> tensors;
  for (const Entry& entry : *entries) {
    const std::string where = fmt::format("{}/{}{}", path, entry.name, kSuffix);
    const Result<std::string> bytes = unpack_entry(archive->get(), entry, where);
    if (!bytes) return bytes.error();
    Result<Tensor> tensor = parse_npy(*bytes, where);
    if (!tensor) return tensor.error();
    tensors.emplace_back(entry.name, *std::move(tensor));
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
  Result<Archive> archive = open_archive(path, ZIP_CREATE | ZIP_TRUNCATE);
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
