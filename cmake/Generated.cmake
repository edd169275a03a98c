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

# "generated/onnx.pb.h", package onnx.
configure_file("${onnx_folder}/onnx-ml.proto" "${generated}/onnx.proto" COPYONLY)
add_custom_command(
  OUTPUT "${generated}/onnx.pb.cc" "${generated}/onnx.pb.h"
  COMMAND protobuf::protoc --proto_path=${generated} --cpp_out=${generated} onnx.proto
  DEPENDS "${generated}/onnx.proto"
  COMMENT "Compiling onnx.proto"
  VERBATIM)
add_library(onnx_proto STATIC "${generated}/onnx.pb.cc" "${generated}/onnx.pb.h")
target_include_directories(onnx_proto SYSTEM PUBLIC "${CMAKE_BINARY_DIR}" "${generated}")
target_link_libraries(onnx_proto PUBLIC protobuf::libprotobuf)
target_compile_options(onnx_proto PRIVATE -w)

# "generated/protocol.pb.h": what the engine and a worker say to each other.
add_custom_command(
  OUTPUT "${generated}/protocol.pb.cc" "${generated}/protocol.pb.h"
  COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/src/backends
    --cpp_out=${generated} protocol.proto
  DEPENDS "${PROJECT_SOURCE_DIR}/src/backends/protocol.proto"
  COMMENT "Compiling protocol.proto"
  VERBATIM)
add_library(worker_protocol STATIC "${generated}/protocol.pb.cc" "${generated}/protocol.pb.h")
target_include_directories(worker_protocol SYSTEM PUBLIC "${CMAKE_BINARY_DIR}" "${generated}")
target_link_libraries(worker_protocol PUBLIC protobuf::libprotobuf)
target_compile_options(worker_protocol PRIVATE -w)

# "generated/tensorflow.pb.h": the public wire format of TensorFlow graphs.
add_custom_command(
  OUTPUT "${generated}/tensorflow.pb.cc" "${generated}/tensorflow.pb.h"
  COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/src/formats
    --cpp_out=${generated} tensorflow.proto
  DEPENDS "${PROJECT_SOURCE_DIR}/src/formats/tensorflow.proto"
  COMMENT "Compiling tensorflow.proto"
  VERBATIM)
add_library(tensorflow_proto STATIC "${generated}/tensorflow.pb.cc" "${generated}/tensorflow.pb.h")
target_include_directories(tensorflow_proto SYSTEM PUBLIC "${CMAKE_BINARY_DIR}" "${generated}")
target_link_libraries(tensorflow_proto PUBLIC protobuf::libprotobuf)
target_compile_options(tensorflow_proto PRIVATE -w)

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
