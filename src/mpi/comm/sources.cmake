foreach(file comm create gathering group group_handle group_ops hints idup inter making process_sets session world)
  list(APPEND TMPI_MPI_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
