#include "tensor/archive.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>
#include <zip.h>

#include "tensor/tensor.h"
#include "tensor/utf.h"

namespace assay {
namespace {

struct Close {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using EntryFile = std::unique_ptr<zip_file_t, Close>;

// Deflate gives at most 1032 bytes for one; an entry that claims more lies.
constexpr std::uint64_t kLargestInflation = 1032;
// What an archive may hold unpacked: this much, or this many times its own size. Arrays that
// compress better are rare, archives made to exhaust memory compress a thousand times.
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{1} << 30;
constexpr std::uint64_t kUsualInflation = 100;

Error broken(std::string_view where, std::string_view what) {
  return {"unreadable", fmt::format("{}: {}", where, what), std::string(where)};
}

Error too_large(std::string_view where, std::string_view what) {
  return {"limit", fmt::format("{}: {}", where, what), std::string(where)};
}

// The claims of an entry, as far as they can be checked without unpacking it.
Result<ArchiveEntry> inspect_entry(zip_t* archive, std::uint64_t index, std::uint64_t archive_size,
                                   const std::string& path) {
  zip_stat_t stat;
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                   ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) {
    return broken(path, fmt::format("its entry {} is broken", index));
  }
  const std::string_view name = stat.name;
  if (!decode_utf8(name)) return broken(path, fmt::format("entry {} has no valid name", index));
  const std::string where = fmt::format("{}/{}", path, name);
  if (stat.encryption_method != ZIP_EM_NONE) return broken(where, "the entry is encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return broken(where, "the entry is neither stored nor deflated");
  }
  const std::uint64_t most =
      stat.comp_method == ZIP_CM_STORE ? stat.comp_size : stat.comp_size * kLargestInflation;
  if (stat.comp_size > archive_size || stat.size > most) {
    return broken(where,
                  fmt::format("the entry claims {} bytes, more than it can hold", stat.size));
  }
  return ArchiveEntry{std::string(name), index, stat.size};
}

Result<std::vector<ArchiveEntry>> list_entries(zip_t* archive, const std::string& path) {
  std::error_code error;
  const std::uint64_t archive_size = std::filesystem::file_size(path, error);
  if (error) return broken(path, error.message());
  const std::uint64_t allowed = std::max(kAlwaysAllowed, archive_size * kUsualInflation);
  std::vector<ArchiveEntry> entries;
  std::unordered_set<std::string> names;
  std::uint64_t total = 0;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    Result<ArchiveEntry> entry =
        inspect_entry(archive, static_cast<std::uint64_t>(i), archive_size, path);
    if (!entry) return entry.error();
    if (!names.insert(entry->name).second) {
      return broken(path, fmt::format("two entries are named '{}'", entry->name));
    }
    total += entry->size;
    if (total > allowed || total > memory_limit()) {
      return too_large(path, fmt::format("unpacked it takes at least {} bytes, but {} are allowed",
                                         total, std::min<std::uint64_t>(allowed, memory_limit())));
    }
    entries.push_back(*std::move(entry));
  }
  return entries;
}

}  // namespace

void Archive::Discard::operator()(zip* archive) const { zip_discard(archive); }

Result<Archive> Archive::open(const std::string& path, std::string_view kind) {
  int code = 0;
  Archive archive;
  archive.path_ = path;
  archive.archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive.archive_) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    return broken(path, fmt::format("not a readable {} file ({})", kind, why));
  }
  Result<std::vector<ArchiveEntry>> entries = list_entries(archive.archive_.get(), path);
  if (!entries) return entries.error();
  archive.entries_ = *std::move(entries);
  return archive;
}

const ArchiveEntry* Archive::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &ArchiveEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

// Grows with what really comes out, never beyond the entry's claim.
Result<std::string> Archive::unpack(const ArchiveEntry& entry) const {
  const std::string where = fmt::format("{}/{}", path_, entry.name);
  const EntryFile file(zip_fopen_index(archive_.get(), entry.index, 0));
  if (!file) return broken(where, zip_strerror(archive_.get()));
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
  std::string bytes;
  for (;;) {
    const std::size_t have = bytes.size();
    // One byte more than claimed, so that the end is reached and the checksum compared.
    bytes.resize(have + std::min(std::max<std::uint64_t>(kChunk, have), entry.size + 1 - have));
    const zip_int64_t read = zip_fread(file.get(), bytes.data() + have, bytes.size() - have);
    if (read < 0) return broken(where, zip_file_strerror(file.get()));
    bytes.resize(have + static_cast<std::size_t>(read));
    if (bytes.size() > entry.size) return broken(where, "the entry is longer than it claims");
    if (read == 0) break;
  }
  if (bytes.size() < entry.size) return broken(where, "the entry is cut off");
  return bytes;
}

}  // namespace assay
