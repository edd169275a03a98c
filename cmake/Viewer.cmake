# The page of a report: viewer/ is bundled by npm into generated/viewer_page.inc, a string of C++.
find_program(NPM_PROGRAM npm)
find_program(NODE_PROGRAM node)
if(NOT NPM_PROGRAM OR NOT NODE_PROGRAM)
  message(FATAL_ERROR "No npm or node to build the report's page with: run tools/setup.sh")
endif()

set(viewer "${PROJECT_SOURCE_DIR}/viewer")
# What npm itself writes when it has installed; it stays until the lock file changes.
set(viewer_packages "${viewer}/node_modules/.package-lock.json")
add_custom_command(
  OUTPUT "${viewer_packages}"
  COMMAND "${NPM_PROGRAM}" ci --silent --no-audit --no-fund --ignore-scripts
  COMMAND "${CMAKE_COMMAND}" -E touch "${viewer_packages}"
  DEPENDS "${viewer}/package.json" "${viewer}/package-lock.json"
  WORKING_DIRECTORY "${viewer}"
  COMMENT "Installing the viewer's packages"
  VERBATIM)

file(GLOB viewer_sources CONFIGURE_DEPENDS "${viewer}/src/*.ts" "${viewer}/src/*.css" "${viewer}/src/*.html")
set(viewer_page "${CMAKE_BINARY_DIR}/generated/viewer_page.inc")
add_custom_command(
  OUTPUT "${viewer_page}"
  COMMAND "${NODE_PROGRAM}" "${viewer}/build.mjs" "${viewer_page}"
  DEPENDS "${viewer_packages}" "${viewer}/build.mjs" ${viewer_sources}
  COMMENT "Bundling the report's page"
  VERBATIM)
set_source_files_properties("${PROJECT_SOURCE_DIR}/src/report/html.cpp" PROPERTIES
  OBJECT_DEPENDS "${viewer_page}")
