# The page: web/ is bundled by esbuild into one script and goes into the library, printed by
# tools/embed. Off: nothing here needs node, bundles carry no page, and `view` says so.

option(CG_VIEWER "build the offline HTML page (needs node 18 or newer)" ON)
set(CG_PAGE_TOOLS "${CMAKE_SOURCE_DIR}/build/page-tools" CACHE PATH "what the page is built with")
if(CG_VIEWER)
  find_program(CG_PYTHON NAMES python3 REQUIRED)
  execute_process(
    COMMAND sh "${CMAKE_SOURCE_DIR}/scripts/fetch-page-tools.sh" "${CG_PAGE_TOOLS}"
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "what the page is built with is not there (reason above)")
  endif()
  find_program(CG_NODE NAMES node REQUIRED)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    "${CMAKE_SOURCE_DIR}/web/package.json" "${CMAKE_SOURCE_DIR}/web/package-lock.json")
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS web/src/*.ts)
  set(page_parts "${CMAKE_BINARY_DIR}/gen/gen/page_parts.h")
  set(page_built "${CMAKE_BINARY_DIR}/page")
  add_custom_command(OUTPUT "${page_parts}"
    COMMAND ${CG_NODE} "${CMAKE_SOURCE_DIR}/web/build.mjs" "${CG_PAGE_TOOLS}" "${page_built}"
    COMMAND ${CG_PYTHON} "${CMAKE_SOURCE_DIR}/tools/embed" "${CMAKE_SOURCE_DIR}/web/page.html"
            "${page_built}/page.js" "${page_built}/page.css" "${page_parts}"
    DEPENDS tools/embed web/build.mjs web/page.html web/page.css web/package-lock.json
            ${page_sources} VERBATIM)
  set_property(SOURCE src/view/page.c APPEND PROPERTY OBJECT_DEPENDS "${page_parts}")
  target_sources(cg_objects PRIVATE "${page_parts}")
  target_compile_definitions(cg_objects PRIVATE CG_VIEWER)
  set_property(SOURCE src/view/page.c PROPERTY INCLUDE_DIRECTORIES "${CMAKE_BINARY_DIR}/gen")
endif()
