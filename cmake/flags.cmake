# Compiler settings. cg_own(target) is for code of ours; third-party code gets none of it.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

if(CG_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Fat objects: an archive that was built this way links without LTO too.
  add_compile_options(-flto=auto -ffat-lto-objects)
  add_link_options(-flto=auto)
endif()

if(CG_SANITIZE)
  add_compile_options(-fsanitize=${CG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CG_SANITIZE})
else()
  add_link_options(-Wl,-z,relro,-z,now)
endif()
if(CG_LIBFUZZER)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "CG_LIBFUZZER needs clang; the other presets build the replay driver")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# style.md's set, the same for gcc and clang.
set(CG_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wvla
  -Wstrict-prototypes -Wmissing-prototypes -Wformat=2)
if(CG_WERROR)
  list(APPEND CG_WARNINGS -Werror)
endif()

# Reading hostile files is this program's work.
set(CG_HARDENING -fstack-protector-strong)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CG_SANITIZE)
  list(APPEND CG_HARDENING -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()

function(cg_own target)
  # No contraction of a*b+c: results are the same on every machine.
  target_compile_options(${target} PRIVATE ${CG_WARNINGS} ${CG_HARDENING} -ffp-contract=off)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
    cg_source_flags("${source}")
  endforeach()
endfunction()

# Two windows to the kernel see GNU names. src/ and cli/ are compiled with base/banned.h put first,
# unless the file says CG_BANNED_EXEMPT (tools/style knows who may).
function(cg_source_flags source)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE name)
  if(name MATCHES "^src/base/os" OR name MATCHES "^src/record/")
    set_property(SOURCE "${source}" PROPERTY COMPILE_DEFINITIONS _GNU_SOURCE)
  endif()
  set(banned "${CMAKE_SOURCE_DIR}/src/base/banned.h")
  if(name MATCHES "^(src|cli)/" AND EXISTS "${banned}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" exempt REGEX "CG_BANNED_EXEMPT")
    if(NOT exempt)
      set_property(SOURCE "${source}" PROPERTY COMPILE_OPTIONS -include "${banned}")
    endif()
  endif()
endfunction()

# A shared object of ours: versioned, and complete in itself.
function(cg_shared target)
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  if(NOT CG_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
