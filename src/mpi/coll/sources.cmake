foreach(file allgather allgather_cells allreduce_cells allreduce_segments alltoall alltoall_swap barrier bcast coll_shared exscan fold gather lane meeting
             preferences reduce_cells reduce_scatter reduce_scatter_cells reduce_segments relay scan scan_cells scatter table
             messages/accumulator messages/allgather_bruck messages/allgather_doubling messages/allgather_ring
             messages/allreduce_doubling messages/allreduce_rabenseifner messages/allreduce_ring messages/alltoall_bruck
             messages/alltoall_linear messages/alltoall_pairwise messages/barrier_dissemination messages/bcast_binomial
             messages/bcast_scatter_allgather messages/gather_binomial messages/gather_linear messages/messages
             messages/neighbor_direct messages/reduce_binomial messages/reduce_linear messages/reduce_scatter_binomial
             messages/reduce_scatter_pairwise messages/scan_doubling messages/scan_linear messages/scatter_binomial
             messages/scatter_linear
             hierarchy/allgather hierarchy/allreduce hierarchy/allreduce_columns hierarchy/alltoall hierarchy/barrier hierarchy/bcast
             hierarchy/gather hierarchy/hierarchy hierarchy/reduce hierarchy/reduce_scatter hierarchy/scan hierarchy/scatter
             inter/exchange inter/inter inter/reduce inter/rooted)
  list(APPEND TMPI_MPI_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
foreach(file nonblocking track)
  list(APPEND TMPI_MPI_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
