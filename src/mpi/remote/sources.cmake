foreach(file announcements arrivals courier engine memory messages receives remote sends)
  list(APPEND TMPI_MPI_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
