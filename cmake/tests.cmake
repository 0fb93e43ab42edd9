# ctest's list is made from files; nobody edits a list to add a test (CONTRIBUTING.md tells how).
#
#   tests/unit/ROOM/MODULE.c    one cmocka program each, linked to the static library
#   tests/KIND/NAME.c           the same for the kinds fault, hostile, property, wire and tools
#   tests/KIND/**/NAME.py       a Python program whose head has a line `# ctest: ARGUMENTS`
#   tests/KIND/CMakeLists.txt   for anything else; calls cg_test_command and cg_test_program
#   tests/cli/CASE/             run by tools/cli-cases as one test
#   tests/support/*.c           helpers, linked to every C test, included as "support/x.h"

find_program(CG_PYTHON NAMES python3 REQUIRED)
enable_testing()
# Long ones last: ctest -L fuzz, ctest -LE slow and so on pick by folder name and by these labels.
set(CG_TEST_ENVIRONMENT
  "CG_SOURCE=${CMAKE_SOURCE_DIR}" "CG_CLI=${CMAKE_BINARY_DIR}/bin/candle-graph"
  "CG_FIXTURES=${cg_fixtures}" "UBSAN_OPTIONS=print_stacktrace=1")

# Settings that stand in the head of a test's file: `ctest-labels: slow`, `ctest-timeout: 300`.
# A file that speaks of CG_FIXTURES or of SKIPPED may skip itself by exit status 77.
function(cg_test_properties name file kind)
  set(labels ${kind})
  set(timeout 120)
  file(STRINGS "${file}" settings LIMIT_INPUT 2000 REGEX "ctest-(labels|timeout):")
  foreach(line IN LISTS settings)
    if(line MATCHES "ctest-labels: *([a-z ]+)")
      string(STRIP "${CMAKE_MATCH_1}" more)
      string(REPLACE " " ";" more "${more}")
      list(APPEND labels ${more})
    elseif(line MATCHES "ctest-timeout: *([0-9]+)")
      set(timeout ${CMAKE_MATCH_1})
    endif()
  endforeach()
  if(CG_SANITIZE MATCHES "thread")
    math(EXPR timeout "5 * ${timeout}")
  endif()
  set_tests_properties(${name} PROPERTIES
    LABELS "${labels}" TIMEOUT ${timeout} ENVIRONMENT "${CG_TEST_ENVIRONMENT}")
  file(STRINGS "${file}" skips REGEX "CG_FIXTURES|SKIPPED" LIMIT_COUNT 1)
  if(skips)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endfunction()

# cg_test_command(NAME FILE KIND COMMAND...): a test that is a command; FILE carries its settings.
function(cg_test_command name file kind)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  cg_test_properties(${name} "${file}" ${kind})
endfunction()

# cg_test_program(NAME KIND SOURCES...): a cmocka program with the headers of src/ in reach.
function(cg_test_program name kind)
  list(GET ARGN 0 first)
  string(REPLACE "." "-" target "t-${name}")
  add_executable(${target} ${ARGN})
  cg_own(${target})
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE
    $<TARGET_NAME_IF_EXISTS:cg_test_support> $<TARGET_NAME_IF_EXISTS:cg_cli>
    $<TARGET_NAME_IF_EXISTS:candlegraph_record> candlegraph cg_internal_headers PkgConfig::CMOCKA)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  cg_test_command(${name} "${first}" ${kind} ${target})
endfunction()

if(CG_TESTS)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

  file(GLOB support CONFIGURE_DEPENDS tests/support/*.c)
  if(support)
    add_library(cg_test_support STATIC ${support})
    cg_own(cg_test_support)
    target_include_directories(cg_test_support PRIVATE tests)
    target_link_libraries(cg_test_support PUBLIC candlegraph cg_internal_headers PkgConfig::CMOCKA)
  endif()

  file(GLOB programs CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}/tests"
    tests/unit/*/*.c tests/fault/*.c tests/hostile/*.c tests/property/*.c tests/wire/*.c
    tests/tools/*.c)
  foreach(file ${programs})
    string(REGEX REPLACE "\\.c$" "" name "${file}")
    string(REPLACE "/" "." name "${name}")
    string(REGEX REPLACE "/.*" "" kind "${file}")
    if(NOT EXISTS "${CMAKE_SOURCE_DIR}/tests/${kind}/CMakeLists.txt")
      cg_test_program(${name} ${kind} "${CMAKE_SOURCE_DIR}/tests/${file}")
    endif()
  endforeach()

  file(GLOB_RECURSE scripts CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}/tests" tests/*.py)
  list(FILTER scripts EXCLUDE REGEX "^(cli|data)/")
  foreach(file ${scripts})
    set(path "${CMAKE_SOURCE_DIR}/tests/${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(STRINGS "${path}" head LIMIT_INPUT 2000 REGEX "^# ctest:" LIMIT_COUNT 1)
    if(head)
      string(REGEX REPLACE "^# ctest: *" "" arguments "${head}")
      string(REPLACE "@CLI@" "${CMAKE_BINARY_DIR}/bin/candle-graph" arguments "${arguments}")
      string(REPLACE "@LIB@" "${CMAKE_BINARY_DIR}/lib" arguments "${arguments}")
      separate_arguments(arguments UNIX_COMMAND "${arguments}")
      string(REGEX REPLACE "\\.py$" "" name "${file}")
      string(REPLACE "/" "." name "${name}")
      string(REGEX REPLACE "/.*" "" kind "${file}")
      cg_test_command(${name} "${path}" ${kind} ${CG_PYTHON} "${path}" ${arguments})
    endif()
  endforeach()

  file(GLOB extra CONFIGURE_DEPENDS tests/*/CMakeLists.txt)
  foreach(file ${extra})
    cmake_path(GET file PARENT_PATH dir)
    add_subdirectory("${dir}")
  endforeach()

  if(TARGET candle-graph)
    cg_test_command(cli "${CMAKE_SOURCE_DIR}/tools/cli-cases" cli
      ${CG_PYTHON} "${CMAKE_SOURCE_DIR}/tools/cli-cases" "${CMAKE_BINARY_DIR}/bin")
    set_tests_properties(cli PROPERTIES PROCESSORS 2 TIMEOUT 600)
  endif()
endif()

foreach(kind fault hostile property wire)
  add_custom_target(${kind}
    COMMAND ${CMAKE_CTEST_COMMAND} -L ${kind} --output-on-failure USES_TERMINAL)
endforeach()
