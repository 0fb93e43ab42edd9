# Third-party C sources: fetched by exact version, checked against our sums, never committed.
# One fetch serves all presets. Each is an object library `tp_NAME` (position independent, hidden,
# without our flags) and an interface `tp_NAME_headers` (SYSTEM includes, and what the headers must
# be told). What nobody links is not compiled.

set(CG_THIRD_PARTY "${CMAKE_SOURCE_DIR}/build/third_party" CACHE PATH "pinned third-party sources")
execute_process(
  COMMAND sh "${CMAKE_SOURCE_DIR}/scripts/fetch-third-party.sh" "${CG_THIRD_PARTY}"
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the third-party sources are not there (reason above)")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/third_party/Cargo.toml" "${CMAKE_SOURCE_DIR}/third_party/sums.sha256")

function(cg_third_party name include)
  add_library(tp_${name}_headers INTERFACE)
  target_include_directories(tp_${name}_headers SYSTEM INTERFACE
    "${CG_THIRD_PARTY}/vendor/${include}")
  list(TRANSFORM ARGN PREPEND "${CG_THIRD_PARTY}/vendor/")
  add_library(tp_${name} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(tp_${name} PRIVATE tp_${name}_headers)
  target_compile_options(tp_${name} PRIVATE -w)
  if(CG_SANITIZE MATCHES "undefined")
    # Their arithmetic is their business; memory errors are ours to find.
    target_compile_options(tp_${name} PRIVATE -fno-sanitize=undefined)
  endif()
  if(CG_LIBFUZZER)
    # What a table of states is compared with tells a fuzzer nothing, and took a third of its time.
    target_compile_options(tp_${name} PRIVATE -fno-sanitize-coverage=trace-cmp,stack-depth)
  endif()
  set_target_properties(tp_${name} PROPERTIES C_VISIBILITY_PRESET hidden)
endfunction()

cg_third_party(yyjson yyjson-sys/yyjson/src yyjson-sys/yyjson/src/yyjson.c)
# Only its reader is used, and only strict JSON; an empty yyjson_api keeps it out of our exports.
target_compile_definitions(tp_yyjson_headers INTERFACE
  yyjson_api= YYJSON_DISABLE_WRITER YYJSON_DISABLE_NON_STANDARD)
cg_third_party(tree_sitter tree-sitter/include tree-sitter/src/lib.c)
target_include_directories(tp_tree_sitter SYSTEM PRIVATE "${CG_THIRD_PARTY}/vendor/tree-sitter/src")
target_compile_definitions(tp_tree_sitter PRIVATE
  _DEFAULT_SOURCE _POSIX_C_SOURCE=200809L TREE_SITTER_HIDE_SYMBOLS)
foreach(language rust toml-ng)
  set(dir tree-sitter-${language}/src)
  cg_third_party(${language} ${dir} ${dir}/parser.c ${dir}/scanner.c)
  target_compile_definitions(tp_${language} PRIVATE TREE_SITTER_HIDE_SYMBOLS)
endforeach()
# None of them looks at what an allocator gives: src/base/guard tells how that is survived.
foreach(target tree_sitter rust toml-ng)
  target_compile_definitions(tp_${target} PRIVATE ts_malloc=guard_malloc ts_calloc=guard_calloc
    ts_realloc=guard_realloc ts_free=guard_free)
  target_compile_options(tp_${target} PRIVATE -include "${CMAKE_SOURCE_DIR}/src/base/guard.h")
endforeach()
