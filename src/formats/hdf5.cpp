#include "formats/hdf5.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "formats/failure.h"
#include "formats/hdf5_library.h"
#include "graph/names.h"

namespace assay {
namespace {

// Deflate gives at most 1032 bytes for one; below the second limit nobody is harmed.
constexpr std::uint64_t kLargestInflation = 1032, kAlwaysAllowed = std::uint64_t{1} << 26;
constexpr std::size_t kMostMembers = 1 << 20;
constexpr int kMostAxes = 32;

const Hdf5Library& h5() { return hdf5_library(); }

[[noreturn]] void broken(const std::string& what) { throw FormatError("unreadable", what); }

// The library holds its state globally; it is told once to keep its errors to itself,
// and to load no code for filters.
std::unique_lock<std::mutex> lock_library() {
  static std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  static const bool quiet =
      h5().Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0 && h5().PLset_loading_state(0) >= 0;
  static_cast<void>(quiet);
  return lock;
}

// An identifier of the library, released by the function that its kind has.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t), std::string_view what) : id_(id), close_(close) {
    if (id_ < 0) broken(fmt::format("{} is broken", what));
  }
  ~Id() { close_(id_); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: as the library's functions take it

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Whether every step of the path is a link inside this file.
bool exists(hid_t file, std::string_view path) {
  std::string reached;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    reached += std::string(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    H5L_info_t link;
    if (h5().Lget_info(file, reached.c_str(), &link, H5P_DEFAULT) < 0) return false;
    if (link.type != H5L_TYPE_HARD) {
      broken(
          fmt::format("{} is a link to something else, which is not followed", in_quotes(reached)));
    }
    reached += '/';
  }
  return true;
}

hid_t open_object(hid_t file, const std::string& path) {
  if (!path.empty() && !exists(file, path)) broken(fmt::format("no {} is in it", in_quotes(path)));
  return h5().Oopen(file, path.empty() ? "/" : path.c_str(), H5P_DEFAULT);
}

Shape extents(hid_t space, std::string_view what) {
  const int rank = h5().Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > kMostAxes) broken(fmt::format("{} has no shape", what));
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  if (rank > 0 && h5().Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0) {
    broken(fmt::format("{} has no shape", what));
  }
  Shape shape(sizes.begin(), sizes.end());
  if (!checked_element_count(shape)) broken(fmt::format("the shape of {} is absurd", what));
  return shape;
}

struct Native {
  ElementType type;
  hid_t memory;  // the library's name of what it is here
};

// Half precision has no name of its own in the library: its elements come as they are stored.
std::optional<Native> native(hid_t type) {
  const std::size_t size = h5().Tget_size(type);
  switch (h5().Tget_class(type)) {
    case H5T_FLOAT:
      if (size == 4) return Native{ElementType::f32, h5().f32};
      if (size == 8) return Native{ElementType::f64, h5().f64};
      if (size == 2 && h5().Tget_ebias(type) == 15 && h5().Tget_order(type) == H5T_ORDER_LE) {
        return Native{ElementType::f16, type};
      }
      return std::nullopt;
    case H5T_INTEGER: {
      const bool is_signed = h5().Tget_sign(type) == H5T_SGN_2;
      if (size == 1 && !is_signed) return Native{ElementType::u8, h5().u8};
      if (size == 1) return Native{ElementType::i8, h5().i8};
      if (size == 4 && is_signed) return Native{ElementType::i32, h5().i32};
      if (size == 4) return Native{ElementType::u32, h5().u32};
      if (size == 8 && is_signed) return Native{ElementType::i64, h5().i64};
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// What an array claims against what of the file it takes.
void check_storage(hid_t array, std::uint64_t claimed, std::string_view what) {
  const Id how(h5().Dget_create_plist(array), h5().Pclose, what);
  const H5D_layout_t layout = h5().Pget_layout(how);
  if (layout == H5D_VIRTUAL || h5().Pget_external_count(how) != 0) {
    broken(fmt::format("the elements of {} lie outside the file", what));
  }
  const std::uint64_t stored = h5().Dget_storage_size(array);
  if (claimed > kAlwaysAllowed && claimed / kLargestInflation > stored) {
    throw FormatError(
        "limit", fmt::format("{} claims {} bytes, but only {} are stored", what, claimed, stored));
  }
}

std::string trimmed(const char* text, std::size_t most) { return {text, strnlen(text, most)}; }

// All texts of an attribute, of fixed or of variable length.
std::vector<std::string> read_texts(hid_t attribute, std::string_view what) {
  const Id space(h5().Aget_space(attribute), h5().Sclose, what);
  const Id type(h5().Aget_type(attribute), h5().Tclose, what);
  const std::int64_t found = *checked_element_count(extents(space, what));
  if (found == 0) return {};
  if (h5().Tget_class(type) != H5T_STRING) broken(fmt::format("{} is no text", what));
  const auto count = static_cast<std::size_t>(found);
  if (count > kMostMembers) throw FormatError("limit", fmt::format("{} is too long", what));
  std::vector<std::string> texts;
  if (h5().Tis_variable_str(type) > 0) {
    std::vector<char*> rows(count, nullptr);
    const Id memory(h5().Tcopy(h5().text), h5().Tclose, what);
    h5().Tset_size(memory, H5T_VARIABLE);
    h5().Tset_cset(memory, h5().Tget_cset(type));
    if (h5().Aread(attribute, memory, rows.data()) < 0) broken(fmt::format("{} is broken", what));
    for (const char* row : rows) texts.emplace_back(row ? row : "");
    h5().Dvlen_reclaim(memory, space, H5P_DEFAULT, rows.data());
    return texts;
  }
  const std::size_t size = h5().Tget_size(type);
  if (size > kAlwaysAllowed / count)
    throw FormatError("limit", fmt::format("{} is too long", what));
  std::string bytes(size * count, '\0');
  if (h5().Aread(attribute, type, bytes.data()) < 0) broken(fmt::format("{} is broken", what));
  for (std::size_t i = 0; i < count; ++i) texts.push_back(trimmed(bytes.data() + i * size, size));
  return texts;
}

}  // namespace

Hdf5File::Hdf5File(std::string bytes) : bytes_(std::move(bytes)) {
  const auto lock = lock_library();
  const Id access(h5().Pcreate(h5().file_access), h5().Pclose, "the file");
  constexpr std::size_t kGrowth = 1 << 16;
  if (h5().Pset_fapl_core(access, kGrowth, 0) < 0 ||
      h5().Pset_file_image(access, bytes_.data(), bytes_.size()) < 0) {
    broken("the file cannot be kept in memory");
  }
  file_ = h5().Fopen("in memory", Hdf5Library::kReadOnly, access);
  if (file_ < 0) broken("not an HDF5 file, or cut, or broken");
}

Hdf5File::~Hdf5File() {
  const auto lock = lock_library();
  h5().Fclose(file_);
}

bool Hdf5File::has(std::string_view path) const {
  const auto lock = lock_library();
  return exists(file_, path);
}

std::vector<std::string> Hdf5File::members(const std::string& path) const {
  const auto lock = lock_library();
  const Id group(open_object(file_, path), h5().Oclose, in_quotes(path));
  std::vector<std::string> names;
  const auto note = [](hid_t, const char* name, const H5L_info_t*, void* all) -> herr_t {
    auto& list = *static_cast<std::vector<std::string>*>(all);
    list.emplace_back(name);
    return list.size() > kMostMembers ? -1 : 0;
  };
  if (h5().Iget_type(group) != H5I_GROUP ||
      h5().Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, note, &names) < 0) {
    broken(fmt::format("{} is a broken group", in_quotes(path)));
  }
  return names;
}

bool Hdf5File::is_array(const std::string& path) const {
  const auto lock = lock_library();
  const Id object(open_object(file_, path), h5().Oclose, in_quotes(path));
  return h5().Iget_type(object) == H5I_DATASET;
}

Tensor Hdf5File::read(const std::string& path) const {
  const auto lock = lock_library();
  const std::string what = in_quotes(path);
  const Id array(open_object(file_, path), h5().Oclose, what);
  if (h5().Iget_type(array) != H5I_DATASET) broken(fmt::format("{} is no array", what));
  const Id space(h5().Dget_space(array), h5().Sclose, what);
  const Id type(h5().Dget_type(array), h5().Tclose, what);
  const Shape shape = extents(space, what);
  const auto known = native(type);
  if (!known) broken(fmt::format("the elements of {} are of no type that a weight has", what));
  const auto count = static_cast<std::uint64_t>(*checked_element_count(shape));
  check_storage(array, count * h5().Tget_size(type), what);
  if (count == 0) return {known->type, shape};
  std::string bytes(count * h5().Tget_size(type), '\0');
  if (h5().Dread(array, known->memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
    broken(fmt::format("the elements of {} cannot be read", what));
  }
  return *from_file_bytes(known->type, shape, bytes);
}

std::optional<std::vector<std::string>> Hdf5File::texts(const std::string& path,
                                                        const std::string& attribute) const {
  const auto lock = lock_library();
  const Id object(open_object(file_, path), h5().Oclose, in_quotes(path));
  if (h5().Aexists(object, attribute.c_str()) <= 0) return std::nullopt;
  const std::string what = fmt::format("the attribute {}", in_quotes(attribute));
  const Id found(h5().Aopen(object, attribute.c_str(), H5P_DEFAULT), h5().Aclose, what);
  return read_texts(found, what);
}

std::optional<std::string> Hdf5File::text(const std::string& path,
                                          const std::string& attribute) const {
  const auto all = texts(path, attribute);
  if (!all) return std::nullopt;
  if (all->size() != 1) broken(fmt::format("the attribute {} is no text", in_quotes(attribute)));
  return all->front();
}

}  // namespace assay
