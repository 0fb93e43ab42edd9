# fuzz/NAME.c holds one LLVMFuzzerTestOneInput and becomes fuzz_NAME: with libFuzzer in preset fuzz,
# with the replay driver everywhere else. ctest replays fuzz/corpus/NAME/ either way.

if(CG_FUZZ)
  if(CG_LIBFUZZER)
    # They compare numbers of their own tables: to tell a fuzzer of it took half of the time.
    file(GLOB interpreting CONFIGURE_DEPENDS src/model/*.c src/rust/*.c)
    set_property(SOURCE ${interpreting} APPEND PROPERTY
      COMPILE_OPTIONS -fno-sanitize-coverage=trace-cmp,stack-depth)
  endif()
  file(GLOB targets CONFIGURE_DEPENDS fuzz/*.c)
  list(REMOVE_ITEM targets "${CMAKE_SOURCE_DIR}/fuzz/replay.c")
  foreach(source ${targets})
    cmake_path(GET source STEM name)
    add_executable(fuzz_${name} ${source})
    cg_own(fuzz_${name})
    # The entry point is declared by the fuzzer's runtime, not by a header.
    set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS -Wno-missing-prototypes)
    target_link_libraries(fuzz_${name} PRIVATE
      $<TARGET_NAME_IF_EXISTS:candlegraph_record> candlegraph cg_internal_headers)
    set_target_properties(fuzz_${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
    set(run $<TARGET_FILE:fuzz_${name}>)
    if(CG_LIBFUZZER)
      target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
      list(APPEND run -runs=0)
    else()
      target_sources(fuzz_${name} PRIVATE fuzz/replay.c)
    endif()
    set(corpus "${CMAKE_SOURCE_DIR}/fuzz/corpus/${name}")
    if(IS_DIRECTORY "${corpus}")
      list(APPEND run "${corpus}")
    endif()
    if(CG_TESTS)
      cg_test_command(fuzz.${name} "${source}" fuzz ${run})
    endif()
  endforeach()
  add_custom_target(fuzz-replay
    COMMAND ${CMAKE_CTEST_COMMAND} -L fuzz --output-on-failure USES_TERMINAL)
endif()
