# A profiling library, linked with the program as objects, as a static archive and as a shared library.
tmpi_program(pmpi_objects ${directory} SOURCES pmpi_program.c pmpi_count.c)

if(TMPI_PROGRAMS)
  tmpi_borrowed(pmpi_libraries ${directory} pmpi_static pmpi_shared libpmpi_count.so)
else()
  set(source ${CMAKE_CURRENT_SOURCE_DIR})
  add_custom_command(
    OUTPUT ${directory}/pmpi_static ${directory}/pmpi_shared ${directory}/libpmpi_count.so
    COMMAND ${TMPICC} -O2 -g -c ${source}/pmpi_count.c -o ${directory}/pmpi_count.o
    COMMAND ${CMAKE_AR} rcs ${directory}/libpmpi_count.a ${directory}/pmpi_count.o
    COMMAND ${TMPICC} -O2 -g ${source}/pmpi_program.c ${directory}/libpmpi_count.a -o ${directory}/pmpi_static
    COMMAND ${TMPICC} -O2 -g -shared ${source}/pmpi_count.c -o ${directory}/libpmpi_count.so
    COMMAND ${TMPICC} -O2 -g ${source}/pmpi_program.c ${directory}/libpmpi_count.so -Wl,-rpath,${directory} -o ${directory}/pmpi_shared
    DEPENDS pmpi_program.c pmpi_count.c check.h ${CMAKE_SOURCE_DIR}/include/mpi.h
    COMMENT "profiling library, static and shared"
    VERBATIM)
  add_custom_target(program_pmpi_libraries ALL DEPENDS ${directory}/pmpi_static ${directory}/pmpi_shared)
  add_dependencies(program_pmpi_libraries ${TMPI_PROGRAM_NEEDS})
  set_property(GLOBAL APPEND PROPERTY TMPI_PROGRAM_TARGETS program_pmpi_libraries)
endif()
foreach(form objects static shared)
  tmpi_mpi_run(pmpi_${form} 5 200 "mpi" w2 --workers 2)
  tmpi_mpi_run(pmpi_${form} 5 200 "mpi;long;moves" w3-rotate --workers 3 --balance rotate)
endforeach()
