# cmake --install: programs with their manual pages and completions (component `programs`), shared
# libraries (`libraries`), and what developers need (`development`): headers, archives, pkg-config
# and CMake files, manual pages of functions, the recorder as two files. cmake/package.cmake makes
# packages of these.

set(CG_INSTALL_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(CMakePackageConfigHelpers)

# cg_install_library(NAME TARGET STATIC_TARGET ABOUT DEPENDENCIES): find_package(NAME) gives
# candlegraph::NAME and candlegraph::NAME_static, `candlegraph-` left out.
function(cg_install_library name shared static about dependencies)
  string(REGEX REPLACE "^candlegraph-" "" export_name ${name})
  set_target_properties(${shared} PROPERTIES EXPORT_NAME ${export_name})
  set_target_properties(${static} PROPERTIES EXPORT_NAME ${export_name}_static)
  install(TARGETS ${shared} ${static} EXPORT ${name}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries
      NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${name} FILE ${name}-targets.cmake NAMESPACE candlegraph::
    DESTINATION ${CG_INSTALL_CMAKE}/${name} COMPONENT development)
  set(CONFIG_NAME ${name})
  set(CONFIG_ABOUT ${about})
  set(CONFIG_DEPENDENCIES ${dependencies})
  configure_package_config_file(cmake/candlegraph-config.cmake.in ${name}-config.cmake
    INSTALL_DESTINATION ${CG_INSTALL_CMAKE}/${name})
  # Before version 1 a minor version may change the interface.
  write_basic_package_version_file(${name}-config-version.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES "${CMAKE_BINARY_DIR}/${name}-config.cmake"
    "${CMAKE_BINARY_DIR}/${name}-config-version.cmake"
    DESTINATION ${CG_INSTALL_CMAKE}/${name} COMPONENT development)
endfunction()

set(threads "find_dependency(Threads)")
cg_install_library(candlegraph candlegraph_shared candlegraph
  "candlegraph::candlegraph, candlegraph::candlegraph_static"
  "${threads}\nfind_dependency(OpenSSL COMPONENTS Crypto)")
if(TARGET candlegraph_record)
  cg_install_library(candlegraph-record candlegraph_record_shared candlegraph_record
    "candlegraph::record, candlegraph::record_static" "${threads}")
endif()

install(DIRECTORY include/candlegraph DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN "*.h")
set(folder "${CMAKE_BINARY_DIR}/recorder")
file(GLOB sources CONFIGURE_DEPENDS src/*/*.[ch] src/schema/*.def include/candlegraph/*.h)
add_custom_command(OUTPUT "${folder}/candlegraph_record.c" "${folder}/candlegraph_record.h"
  COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tools/amalgamate" "${folder}"
  DEPENDS tools/amalgamate src/ORDER src/record/USES ${sources} VERBATIM)
add_custom_target(recorder ALL DEPENDS "${folder}/candlegraph_record.c")
install(FILES "${folder}/candlegraph_record.c" "${folder}/candlegraph_record.h"
  DESTINATION ${CMAKE_INSTALL_DATADIR}/candlegraph/recorder COMPONENT development)

function(cg_pkg_config name description private_requires private_libs)
  set(PC_NAME ${name})
  # Relative, so that the installed tree may be moved.
  file(RELATIVE_PATH PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  set(PC_DESCRIPTION ${description})
  set(PC_REQUIRES_PRIVATE ${private_requires})
  set(PC_LIBS_PRIVATE ${private_libs})
  configure_file(cmake/library.pc.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_BINARY_DIR}/${name}.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

set(private_libs "-pthread -lm")
if(CG_USES_CSV)
  string(APPEND private_libs " -lcsv")
endif()
cg_pkg_config(candlegraph "evidence about runs of candle models" "libcrypto" "${private_libs}")
if(TARGET candlegraph_record)
  cg_pkg_config(candlegraph-record "recorder for runs of candle models" "" "-pthread -lm")
endif()

# Sections 3 and 5 are printed from the headers and from docs/schemas.
set(folder "${CMAKE_BINARY_DIR}/man")
file(GLOB sources CONFIGURE_DEPENDS include/candlegraph/*.h docs/schemas/*.md)
add_custom_command(OUTPUT "${folder}/made"
  COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tools/gen-man" "${folder}"
  COMMAND ${CMAKE_COMMAND} -E touch "${folder}/made"
  DEPENDS tools/gen-man ${sources} VERBATIM)
add_custom_target(man ALL DEPENDS "${folder}/made")
install(DIRECTORY "${folder}/man3/" DESTINATION ${CMAKE_INSTALL_MANDIR}/man3
  COMPONENT development)

if(TARGET candle-graph)
  install(TARGETS candle-graph cargo-candle-graph COMPONENT programs)
  install(DIRECTORY "${folder}/man5/" DESTINATION ${CMAKE_INSTALL_MANDIR}/man5
    COMPONENT programs)
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
    COMPONENT programs FILES_MATCHING PATTERN "*.1")
  # Printed by the program, so not when it is built for another machine.
  if(NOT CMAKE_CROSSCOMPILING)
    set(folder "${CMAKE_BINARY_DIR}/completions")
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(OUTPUT "${folder}/candle-graph" "${folder}/_candle-graph"
        "${folder}/candle-graph.fish"
      COMMAND candle-graph completions bash > "${folder}/candle-graph"
      COMMAND candle-graph completions zsh > "${folder}/_candle-graph"
      COMMAND candle-graph completions fish > "${folder}/candle-graph.fish"
      DEPENDS candle-graph VERBATIM)
    add_custom_target(completions ALL DEPENDS "${folder}/candle-graph")
    install(FILES "${folder}/candle-graph"
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
    install(FILES "${folder}/_candle-graph"
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT programs)
    # Debian's zsh looks here below /usr.
    install(FILES "${folder}/_candle-graph"
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT programs)
    install(FILES "${folder}/candle-graph.fish"
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT programs)
  endif()
endif()
include(package)
