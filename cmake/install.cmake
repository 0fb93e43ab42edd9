# cmake --install: programs, libraries, headers, a pkg-config file for each library; with the
# programs their manual pages and completions.

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

if(TARGET candle-graph)
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
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
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES "${folder}/_candle-graph"
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES "${folder}/candle-graph.fish"
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
