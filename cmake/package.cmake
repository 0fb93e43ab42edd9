# cpack: packages of the three components for Debian, one .tar.gz of all; tools/package builds them.

set(CPACK_PACKAGE_NAME candle-graph)
set(CPACK_PACKAGE_VENDOR "candle-graph")
set(CPACK_PACKAGE_CONTACT "candle-graph <candle-graph@example.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "evidence about runs and sources of Candle models")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE-MIT")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL programs libraries development)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME candle-graph)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME libcandlegraph0)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcandlegraph-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What pkg-config asks for, and the archive.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libcandlegraph0 (= ${PROJECT_VERSION}), libssl-dev, libcsv-dev")
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION
  "Says what a recorded run of a Candle model did, how far its numbers may be trusted,
 and what the source of a Candle crate asks for, without running it.")
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION
  "The shared libraries: libcandlegraph reads runs and crates, libcandlegraph-record
 records.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Headers, archives, pkg-config and CMake files, manual pages, and the recorder as two
 files for programs that embed it.")

# Each package carries the licences of all that is in it.
set(page_tools "")
if(CG_VIEWER)
  set(page_tools "${CG_PAGE_TOOLS}")
endif()
execute_process(
  COMMAND ${Python3_EXECUTABLE} tools/copyright "${CG_THIRD_PARTY}/vendor" ${page_tools}
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_FILE "${CMAKE_BINARY_DIR}/copyright"
  COMMAND_ERROR_IS_FATAL ANY)
foreach(pair programs:candle-graph libraries:libcandlegraph0 development:libcandlegraph-dev)
  string(REGEX MATCH "^[^:]+" component ${pair})
  string(REGEX MATCH "[^:]+$" package ${pair})
  install(FILES "${CMAKE_BINARY_DIR}/copyright"
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
endforeach()
include(CPack)
