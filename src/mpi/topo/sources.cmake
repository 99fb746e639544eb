foreach(file cart dims dist_graph graph topology)
  list(APPEND TMPI_MPI_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
