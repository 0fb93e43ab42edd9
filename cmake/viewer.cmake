# The pages of a run and of a model: web/ goes into the library, printed by tools/embed. Off:
# bundles carry no page, and `view` says so.

option(CG_VIEWER "build the offline HTML pages" ON)
if(CG_VIEWER)
  find_program(CG_PYTHON NAMES python3 REQUIRED)
  foreach(page IN ITEMS page model)
    set(page_parts "${CMAKE_BINARY_DIR}/gen/gen/${page}_parts.h")
    add_custom_command(OUTPUT "${page_parts}"
      COMMAND ${CG_PYTHON} "${CMAKE_SOURCE_DIR}/tools/embed" "${CMAKE_SOURCE_DIR}/web" ${page}
              "${page_parts}"
      DEPENDS tools/embed web/${page}.html web/${page}.js web/common.js web/page.css VERBATIM)
    set_property(SOURCE src/view/page.c APPEND PROPERTY OBJECT_DEPENDS "${page_parts}")
    target_sources(cg_objects PRIVATE "${page_parts}")
  endforeach()
  target_compile_definitions(cg_objects PRIVATE CG_VIEWER)
  set_property(SOURCE src/view/page.c PROPERTY INCLUDE_DIRECTORIES "${CMAKE_BINARY_DIR}/gen")
endif()
