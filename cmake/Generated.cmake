# What is made at build time from the pinned onnx wheel: the protobuf classes and the schemas.
set(ASSAY_PYTHON "" CACHE FILEPATH "A Python that has the pinned onnx (default: build/python)")
set(python_candidates "${ASSAY_PYTHON}" "${PROJECT_SOURCE_DIR}/build/python/bin/python")
set(ASSAY_PYTHON_FOUND)
foreach(candidate IN LISTS python_candidates)
  if(candidate AND EXISTS "${candidate}" AND NOT ASSAY_PYTHON_FOUND)
    set(ASSAY_PYTHON_FOUND "${candidate}")
  endif()
endforeach()
if(NOT ASSAY_PYTHON_FOUND)
  message(FATAL_ERROR "No Python with the onnx package: run tools/setup.sh, or set ASSAY_PYTHON")
endif()
execute_process(
  COMMAND "${ASSAY_PYTHON_FOUND}" -c
    "import importlib.util as u; print(u.find_spec('onnx').submodule_search_locations[0], end='')"
  OUTPUT_VARIABLE onnx_folder COMMAND_ERROR_IS_FATAL ANY)

set(generated "${CMAKE_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${generated}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/version.h.in" "${generated}/version.h" @ONLY)

# A library of the classes of FOLDER/NAME.proto, included as "generated/NAME.pb.h".
function(compile_proto library folder name)
  add_custom_command(
    OUTPUT "${generated}/${name}.pb.cc" "${generated}/${name}.pb.h"
    COMMAND protobuf::protoc --proto_path=${folder} --cpp_out=${generated} ${name}.proto
    DEPENDS "${folder}/${name}.proto"
    COMMENT "Compiling ${name}.proto"
    VERBATIM)
  add_library(${library} STATIC "${generated}/${name}.pb.cc" "${generated}/${name}.pb.h")
  target_include_directories(${library} SYSTEM PUBLIC "${CMAKE_BINARY_DIR}" "${generated}")
  target_link_libraries(${library} PUBLIC protobuf::libprotobuf)
  target_compile_options(${library} PRIVATE -w)
endfunction()

# "generated/onnx.pb.h", package onnx.
configure_file("${onnx_folder}/onnx-ml.proto" "${generated}/onnx.proto" COPYONLY)
compile_proto(onnx_proto "${generated}" onnx)

# "generated/protocol.pb.h": what the engine and a worker say to each other.
compile_proto(worker_protocol "${PROJECT_SOURCE_DIR}/src/backends" protocol)

# "generated/tensorflow.pb.h": the public wire format of TensorFlow graphs.
compile_proto(tensorflow_proto "${PROJECT_SOURCE_DIR}/src/formats" tensorflow)

if(EXISTS "${PROJECT_SOURCE_DIR}/tools/make_schemas.py")
  set(schemas "${generated}/onnx_schemas.inc")
  add_custom_command(
    OUTPUT "${schemas}"
    COMMAND "${ASSAY_PYTHON_FOUND}" "${PROJECT_SOURCE_DIR}/tools/make_schemas.py" "${schemas}"
    DEPENDS "${PROJECT_SOURCE_DIR}/tools/make_schemas.py" "${onnx_folder}/version.py"
    COMMENT "Writing the table of schemas"
    VERBATIM)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/src/ops/schema.cpp" PROPERTIES
    OBJECT_DEPENDS "${schemas}")
endif()
