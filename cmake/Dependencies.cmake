# External libraries, all from the distribution's packages (tools/setup.sh installs them).
# ASSAY_EXTERNAL_<folder> is what that folder of src/, and all after it, may use; every folder has
# those of base.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(TIFF REQUIRED)
find_package(PNG REQUIRED)
find_package(mimalloc REQUIRED)
# libzip's and RE2's own CMake files name tools or targets that the packages leave out.
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(openjp2 REQUIRED IMPORTED_TARGET libopenjp2)
pkg_check_modules(webp REQUIRED IMPORTED_TARGET libwebp)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(deflate REQUIRED IMPORTED_TARGET libdeflate)
# The name of the serial library differs from one distribution to another.
pkg_search_module(hdf5 REQUIRED hdf5-serial hdf5)
# It is loaded when a file needs it (src/formats/hdf5_library.h), by the name that linking would note.
find_library(hdf5_file NAMES hdf5_serial hdf5 HINTS ${hdf5_LIBRARY_DIRS} REQUIRED)
execute_process(COMMAND "${CMAKE_OBJDUMP}" -p "${hdf5_file}"
  OUTPUT_VARIABLE hdf5_header COMMAND_ERROR_IS_FATAL ANY)
if(NOT hdf5_header MATCHES "SONAME +([^ \n]+)")
  message(FATAL_ERROR "${hdf5_file} has no SONAME")
endif()
add_library(hdf5_on_demand INTERFACE)
target_include_directories(hdf5_on_demand SYSTEM INTERFACE ${hdf5_INCLUDE_DIRS})
target_link_libraries(hdf5_on_demand INTERFACE ${CMAKE_DL_LIBS})
set_source_files_properties(src/formats/hdf5_library.cpp PROPERTIES
  COMPILE_DEFINITIONS "ASSAY_HDF5=\"${CMAKE_MATCH_1}\"")
pkg_check_modules(mpfr IMPORTED_TARGET mpfr)

set(ASSAY_EXTERNAL_base fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
set(ASSAY_EXTERNAL_tensor PkgConfig::libzip ZLIB::ZLIB)
set(ASSAY_EXTERNAL_patterns Eigen3::Eigen)
set(ASSAY_EXTERNAL_ops PkgConfig::re2 JPEG::JPEG PkgConfig::openjp2 TIFF::TIFF PkgConfig::webp PNG::PNG)
set(ASSAY_EXTERNAL_formats onnx_proto tensorflow_proto PkgConfig::simdjson PkgConfig::deflate hdf5_on_demand)
set(ASSAY_EXTERNAL_backends worker_protocol PkgConfig::tomlplusplus)
set(ASSAY_EXTERNAL_cli CLI11::CLI11)

# Small graphs spend a third of their time on memory. Linked first, it takes the place of the C
# library's own; sanitizers bring theirs.
if(NOT ASSAY_SANITIZE)
  set(ASSAY_ALLOCATOR mimalloc)
endif()
