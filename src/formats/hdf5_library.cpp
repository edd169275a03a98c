#include "formats/hdf5_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "formats/failure.h"

namespace assay {
namespace {

// ASSAY_HDF5 is the file's name, as whoever is linked with the library would ask for it.
class Loader {
 public:
  Loader() : library_(dlopen(ASSAY_HDF5, RTLD_NOW | RTLD_LOCAL)) { require(library_); }

  template <class Function>
  void take(Function& function, const char* name) const {
    void* const found = dlsym(library_, name);
    require(found);
    function = reinterpret_cast<Function>(found);
  }
  hid_t identifier(const char* name) const {
    const hid_t* found = nullptr;
    take(found, name);
    return *found;
  }

 private:
  static void require(const void* found) {
    if (found) return;
    const char* const why = dlerror();
    throw FormatError("environment", fmt::format("the HDF5 library cannot be loaded: {}",
                                                 why ? why : "it lacks something"));
  }

  void* library_;  // stays: what it has given out points into it
};

// Some of its functions are macros, which name one of several versions.
#define ASSAY_TEXT(name) #name
#define ASSAY_TAKE(function) loader.take(made.function, ASSAY_TEXT_OF(H5##function))
#define ASSAY_TEXT_OF(name) ASSAY_TEXT(name)

Hdf5Library load() {
  const Loader loader;
  Hdf5Library made{};
  ASSAY_TAKE(Aclose);
  ASSAY_TAKE(Aexists);
  ASSAY_TAKE(Aget_space);
  ASSAY_TAKE(Aget_type);
  ASSAY_TAKE(Aopen);
  ASSAY_TAKE(Aread);
  ASSAY_TAKE(Dget_create_plist);
  ASSAY_TAKE(Dget_space);
  ASSAY_TAKE(Dget_storage_size);
  ASSAY_TAKE(Dget_type);
  ASSAY_TAKE(Dread);
  ASSAY_TAKE(Dvlen_reclaim);
  ASSAY_TAKE(Eset_auto2);
  ASSAY_TAKE(Fclose);
  ASSAY_TAKE(Fopen);
  ASSAY_TAKE(Iget_type);
  ASSAY_TAKE(Lget_info);
  ASSAY_TAKE(Literate);
  ASSAY_TAKE(Oclose);
  ASSAY_TAKE(Oopen);
  ASSAY_TAKE(PLset_loading_state);
  ASSAY_TAKE(Pclose);
  ASSAY_TAKE(Pcreate);
  ASSAY_TAKE(Pget_external_count);
  ASSAY_TAKE(Pget_layout);
  ASSAY_TAKE(Pset_fapl_core);
  ASSAY_TAKE(Pset_file_image);
  ASSAY_TAKE(Sclose);
  ASSAY_TAKE(Sget_simple_extent_dims);
  ASSAY_TAKE(Sget_simple_extent_ndims);
  ASSAY_TAKE(Tclose);
  ASSAY_TAKE(Tcopy);
  ASSAY_TAKE(Tget_class);
  ASSAY_TAKE(Tget_cset);
  ASSAY_TAKE(Tget_ebias);
  ASSAY_TAKE(Tget_order);
  ASSAY_TAKE(Tget_sign);
  ASSAY_TAKE(Tget_size);
  ASSAY_TAKE(Tis_variable_str);
  ASSAY_TAKE(Tset_cset);
  ASSAY_TAKE(Tset_size);
  decltype(&H5open) open = nullptr;
  loader.take(open, "H5open");
  open();
  made.file_access = loader.identifier("H5P_CLS_FILE_ACCESS_ID_g");
  made.text = loader.identifier("H5T_C_S1_g");
  made.f32 = loader.identifier("H5T_NATIVE_FLOAT_g");
  made.f64 = loader.identifier("H5T_NATIVE_DOUBLE_g");
  made.i8 = loader.identifier("H5T_NATIVE_INT8_g");
  made.u8 = loader.identifier("H5T_NATIVE_UINT8_g");
  made.i32 = loader.identifier("H5T_NATIVE_INT32_g");
  made.u32 = loader.identifier("H5T_NATIVE_UINT32_g");
  made.i64 = loader.identifier("H5T_NATIVE_INT64_g");
  return made;
}

}  // namespace

const Hdf5Library& hdf5_library() {
  static const Hdf5Library kLibrary = load();
  return kLibrary;
}

}  // namespace assay
