# bench/NAME.c becomes bench_NAME; target `bench` is bench/table. Never part of ctest.

if(CG_BENCH)
  file(GLOB benches CONFIGURE_DEPENDS bench/*.c)
  foreach(source ${benches})
    cmake_path(GET source STEM name)
    add_executable(bench_${name} ${source})
    cg_own(bench_${name})
    target_include_directories(bench_${name} PRIVATE bench)
    target_link_libraries(bench_${name} PRIVATE
      $<TARGET_NAME_IF_EXISTS:candlegraph_record> candlegraph cg_internal_headers)
    set_target_properties(bench_${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  endforeach()
  add_custom_target(bench COMMAND "${CMAKE_SOURCE_DIR}/bench/table" --build "${CMAKE_BINARY_DIR}"
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" USES_TERMINAL)
endif()
