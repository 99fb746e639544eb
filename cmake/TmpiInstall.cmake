# What the rooms do not install themselves: names other build systems look for, pkg-config, CMake package, documents.
include(CMakePackageConfigHelpers)

# CMake's FindMPI, configure scripts and habits look for mpicc and mpiexec.
option(TMPI_INSTALL_MPI_NAMES "Install mpicc, mpicxx, mpic++, mpifort, mpif90, mpif77, mpicc_abi, mpicxx_abi, mpifort_abi, mpiexec and mpirun as links to tmpi's programs" ON)
set(mpi_names "")
if(TMPI_INSTALL_MPI_NAMES)
  set(mpi_names "mpicc:tmpicc" "mpicxx:tmpicxx" "mpic++:tmpicxx" "tmpic++:tmpicxx" "mpifort:tmpifort" "mpif90:tmpifort"
                "mpif77:tmpifort" "mpicc_abi:tmpicc" "mpicxx_abi:tmpicxx" "mpifort_abi:tmpifort" "mpiexec:tmpirun" "mpirun:tmpirun")
  foreach(pair ${mpi_names})
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 link)
    list(GET pair 1 program)
    install(CODE "
      set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
      file(MAKE_DIRECTORY \"\${bin}\")
      file(CREATE_LINK ${program} \"\${bin}/${link}\" SYMBOLIC)
      message(STATUS \"Installing: \${bin}/${link} -> ${program}\")")
  endforeach()
endif()

# Both files find the prefix from their own place, so that the installed tree can be moved.
set(TMPI_INSTALL_PKGCONFIGDIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig CACHE STRING "Where pkg-config's files go, beneath the prefix")
set(TMPI_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/tmpi CACHE STRING "Where the package of CMake goes, beneath the prefix")
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${TMPI_INSTALL_PKGCONFIGDIR} /prefix)
foreach(name tmpi tmpi-fortran)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/generated/${name}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/generated/tmpi.pc ${CMAKE_BINARY_DIR}/generated/tmpi-fortran.pc DESTINATION ${TMPI_INSTALL_PKGCONFIGDIR})

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/tmpiConfig.cmake.in ${CMAKE_BINARY_DIR}/generated/tmpiConfig.cmake
                              INSTALL_DESTINATION ${TMPI_INSTALL_CMAKEDIR}
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/tmpiConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/tmpiConfig.cmake ${CMAKE_BINARY_DIR}/generated/tmpiConfigVersion.cmake
        DESTINATION ${TMPI_INSTALL_CMAKEDIR})

# As in the source tree, so that links from one document to another lead somewhere.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# One file for environment-modules and Lmod.
configure_file(${CMAKE_SOURCE_DIR}/cmake/modulefile.in ${CMAKE_BINARY_DIR}/generated/modulefile @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/tmpi RENAME ${PROJECT_VERSION})

# `cpack` in the build tree, after `ninja runtime`: a tarball that runs from any folder of a machine that has the same libraries.
set(CPACK_GENERATOR TXZ)
set(CPACK_THREADS 0)
set(CPACK_PACKAGE_VENDOR tmpi)
set(CPACK_PACKAGE_FILE_NAME tmpi-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
