# Language level, warnings, floating-point rules, ccache, lld and the sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# ASSAY_CHECK does not look at NDEBUG, so our own assertions stay on; NDEBUG silences those of Eigen
# and protobuf, which cost time in the inner loops.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")

set(ASSAY_SANITIZE "" CACHE STRING "Sanitizers for all of our code, e.g. address,undefined")
option(ASSAY_FUZZ "Build the libFuzzer targets of tests/fuzz (clang only)" OFF)

# Paths inside of the project are relative for the cache, so that all checkouts of it share what is
# compiled.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
    CCACHE_NOHASHDIR=true "${CCACHE_PROGRAM}")
endif()

# Debian's lld-16 installs no plain ld.lld, the only name that gcc looks for; a link to it in a
# folder of our own, given by -B, works for both compilers.
find_program(LLD_PROGRAM NAMES ld.lld ld.lld-16 ld.lld-17 ld.lld-18)
if(LLD_PROGRAM)
  set(linker_folder "${CMAKE_BINARY_DIR}/linker")
  file(MAKE_DIRECTORY "${linker_folder}")
  file(CREATE_LINK "${LLD_PROGRAM}" "${linker_folder}/ld.lld" SYMBOLIC)
  add_link_options(-fuse-ld=lld "-B${linker_folder}")
endif()

# A body means what it says: no contraction to fused multiply-add, no reordering. The matrix
# product kernels alone (*_avx2.cpp, *_avx512.cpp) may fuse; their bounds allow every order.
# Nobody asks for the processor's flags of exceptions or for errno, which changes no result and lets
# loops with a choice or a root become vectors.
add_compile_options(-ffp-contract=off -fwrapv -fno-trapping-math -fno-math-errno)
# Bodies are plain loops over buffers that might overlap: worth a check at run time and vectors. What
# a body asks of its attributes is asked once, before the loop.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE STREQUAL Release)
  add_compile_options(-ftree-vectorize -fvect-cost-model=dynamic -funswitch-loops)
endif()

if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ASSAY_SANITIZE})
endif()
if(ASSAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "ASSAY_FUZZ needs clang (use the preset 'fuzz')")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# What every target of ours has: its include roots, strict warnings, and the flags of its kernels.
function(assay_configure target)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${CMAKE_BINARY_DIR}")
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "_avx2\\.cpp$")
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_OPTIONS "-march=x86-64-v3;-ffp-contract=fast")
    elseif(source MATCHES "_avx512\\.cpp$")
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_OPTIONS "-march=x86-64-v4;-ffp-contract=fast")
    endif()
  endforeach()
endfunction()
