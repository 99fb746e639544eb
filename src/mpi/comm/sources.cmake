foreach(file agreement comm context create gathering group group_handle group_ops hints idup inter making node_map packing process_sets session world)
  list(APPEND TMPI_MPI_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
