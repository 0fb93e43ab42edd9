# cmake --install: programs, libraries, headers, a pkg-config file for each library.

install(TARGETS ${cg_installed})
install(DIRECTORY include/candlegraph DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION ${CMAKE_INSTALL_DOCDIR})

function(cg_pkg_config name description private_requires private_libs)
  set(PC_NAME ${name})
  # Relative, so that the installed tree may be moved.
  file(RELATIVE_PATH PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  set(PC_DESCRIPTION ${description})
  set(PC_REQUIRES_PRIVATE ${private_requires})
  set(PC_LIBS_PRIVATE ${private_libs})
  configure_file(cmake/library.pc.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_BINARY_DIR}/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(private_libs "-pthread -lm")
if(CG_USES_CSV)
  string(APPEND private_libs " -lcsv")
endif()
cg_pkg_config(candlegraph "evidence about runs of candle models" "libcrypto" "${private_libs}")
if(TARGET candlegraph_record)
  cg_pkg_config(candlegraph-record "recorder for runs of candle models" "" "-pthread -lm")
endif()
