foreach(file cart dims topology)
  list(APPEND TMPI_MPI_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
