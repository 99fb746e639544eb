foreach(file allgather allreduce_cells allreduce_segments alltoall alltoall_swap barrier bcast exscan fold gather lane meeting
             reduce_cells reduce_scatter reduce_segments relay scan scatter table)
  list(APPEND TMPI_MPI_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
