// The HDF5 library, loaded when the first file needs it.
//
// Debian's build of it brings thirty libraries along (for files on servers), which would take a
// third of the time in which any command starts.
#pragma once

#include <hdf5.h>

namespace assay {

// Its functions, which have its own names without the H5 that is before them.
struct Hdf5Library {
  decltype(&H5Aclose) Aclose;
  decltype(&H5Aexists) Aexists;
  decltype(&H5Aget_space) Aget_space;
  decltype(&H5Aget_type) Aget_type;
  decltype(&H5Aopen) Aopen;
  decltype(&H5Aread) Aread;
  decltype(&H5Dget_create_plist) Dget_create_plist;
  decltype(&H5Dget_space) Dget_space;
  decltype(&H5Dget_storage_size) Dget_storage_size;
  decltype(&H5Dget_type) Dget_type;
  decltype(&H5Dread) Dread;
  decltype(&H5Dvlen_reclaim) Dvlen_reclaim;
  decltype(&H5Eset_auto2) Eset_auto2;
  decltype(&H5Fclose) Fclose;
  decltype(&H5Fopen) Fopen;
  decltype(&H5Iget_type) Iget_type;
  decltype(&H5Lget_info) Lget_info;
  decltype(&H5Literate) Literate;
  decltype(&H5Oclose) Oclose;
  decltype(&H5Oopen) Oopen;
  decltype(&H5PLset_loading_state) PLset_loading_state;
  decltype(&H5Pclose) Pclose;
  decltype(&H5Pcreate) Pcreate;
  decltype(&H5Pget_external_count) Pget_external_count;
  decltype(&H5Pget_layout) Pget_layout;
  decltype(&H5Pset_fapl_core) Pset_fapl_core;
  decltype(&H5Pset_file_image) Pset_file_image;
  decltype(&H5Sclose) Sclose;
  decltype(&H5Sget_simple_extent_dims) Sget_simple_extent_dims;
  decltype(&H5Sget_simple_extent_ndims) Sget_simple_extent_ndims;
  decltype(&H5Tclose) Tclose;
  decltype(&H5Tcopy) Tcopy;
  decltype(&H5Tget_class) Tget_class;
  decltype(&H5Tget_cset) Tget_cset;
  decltype(&H5Tget_ebias) Tget_ebias;
  decltype(&H5Tget_order) Tget_order;
  decltype(&H5Tget_sign) Tget_sign;
  decltype(&H5Tget_size) Tget_size;
  decltype(&H5Tis_variable_str) Tis_variable_str;
  decltype(&H5Tset_cset) Tset_cset;
  decltype(&H5Tset_size) Tset_size;
  static constexpr unsigned kReadOnly = 0;  // H5F_ACC_RDONLY, a macro that calls the library
  // Identifiers that it makes when it is opened.
  hid_t file_access, text, f32, f64, i8, u8, i32, u32, i64;
};

// Throws FormatError of kind "environment" if the library is not there, or is another one.
const Hdf5Library& hdf5_library();

}  // namespace assay
