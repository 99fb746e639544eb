# Manual pages and completions of shells, made from what the programs say of themselves (tools/program_options.py): share/ of the build tree is
# that of an installed prefix. Other names of the programs: TmpiInstall.cmake.
if(TMPI_SANITIZE)
  return()
endif()
set(share ${CMAKE_BINARY_DIR}/share)
set(generators generate_manuals.py generate_completions.py program_options.py manuals/tmpi.7.in)
list(TRANSFORM generators PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
set(described tmpirun tmpicc tmpicxx tmpifort tmpi-advise tmpi-report tmpi-top tmpi-info)
add_custom_command(OUTPUT ${share}/made
                   COMMAND ${CMAKE_COMMAND} -E rm -rf ${share} # other names of programs may have been others
                   COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/generate_manuals.py ${PROJECT_VERSION} ${CMAKE_BINARY_DIR}/bin ${share}/man ${mpi_names}
                   COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/generate_completions.py ${CMAKE_BINARY_DIR}/bin ${share} ${mpi_names}
                   COMMAND ${CMAKE_COMMAND} -E touch ${share}/made
                   DEPENDS ${generators} ${described} ${CMAKE_SOURCE_DIR}/privatize/gdb/tmpi-gdb COMMENT "manual pages and completions" VERBATIM)
add_custom_target(tmpi_shell ALL DEPENDS ${share}/made)

install(DIRECTORY ${share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${share}/bash-completion ${share}/zsh ${share}/fish DESTINATION ${CMAKE_INSTALL_DATADIR})
