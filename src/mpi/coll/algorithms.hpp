// The algorithms, one file each. All have one signature; which one is used is said by table.cpp alone. All
// may SUSPEND.
//
// Those in shared memory can also do without a flow of control that waits. NAME_begins() says whether the
// call would get by now: then, with Args::guest, NAME() either ends at once, or leaves the guest behind and
// end_NAME() is called when it is over, by a flow of control of another member on the same worker. Neither
// suspends, nor words an error: Args::error is left.
#pragma once

#include "mpi/coll/args.hpp"
#include "mpi/comm/comm.hpp"

namespace tmpi::mpi::algorithm {

// In the shared memory of one node: meeting.hpp, relay.hpp.
Err barrier_meeting(Comm& comm, Args& args);          // barrier.cpp
Err bcast_relay(Comm& comm, Args& args);              // bcast.cpp
Err scatter_relay(Comm& comm, Args& args);            // scatter.cpp
Err gather_relay(Comm& comm, Args& args);             // gather.cpp
Err allgather_cells(Comm& comm, Args& args);          // allgather_cells.cpp
Err allgather_pull(Comm& comm, Args& args);           // allgather.cpp
Err alltoall_pull(Comm& comm, Args& args);            // alltoall.cpp
Err alltoall_swap(Comm& comm, Args& args);            // alltoall_swap.cpp: MPI_IN_PLACE
Err reduce_cells(Comm& comm, Args& args);             // reduce_cells.cpp
Err reduce_segments(Comm& comm, Args& args);          // reduce_segments.cpp
Err allreduce_cells(Comm& comm, Args& args);          // allreduce_cells.cpp
Err allreduce_segments(Comm& comm, Args& args);       // allreduce_segments.cpp
Err reduce_scatter_cells(Comm& comm, Args& args);     // reduce_scatter_cells.cpp
Err reduce_scatter_segments(Comm& comm, Args& args);  // reduce_scatter.cpp
Err scan_cells(Comm& comm, Args& args);               // scan_cells.cpp
Err exscan_cells(Comm& comm, Args& args);             // scan_cells.cpp
Err scan_segments(Comm& comm, Args& args);            // scan.cpp
Err exscan_segments(Comm& comm, Args& args);          // exscan.cpp

bool meeting_begins(Comm& comm, const Args& args);  // meeting.cpp: of all that meet
bool bcast_relay_begins(Comm& comm, const Args& args);
bool scatter_relay_begins(Comm& comm, const Args& args);
bool gather_relay_begins(Comm& comm, const Args& args);
bool reduce_cells_begins(Comm& comm, const Args& args);
void end_bcast_relay(Comm& comm, Args& args);
void end_scatter_relay(Comm& comm, Args& args);
void end_allgather_cells(Comm& comm, Args& args);
void end_allgather_pull(Comm& comm, Args& args);
void end_alltoall_pull(Comm& comm, Args& args);
void end_allreduce_cells(Comm& comm, Args& args);
void end_reduce_scatter_cells(Comm& comm, Args& args);
void end_scan_cells(Comm& comm, Args& args);
void end_exscan_cells(Comm& comm, Args& args);
void end_nothing(Comm& comm, Args& args);  // meeting.cpp: leaders have done it all

// Of both, for members on several nodes: hierarchy/NAME.cpp.
Err barrier_hierarchy(Comm& comm, Args& args);
Err bcast_hierarchy(Comm& comm, Args& args);
Err gather_hierarchy(Comm& comm, Args& args);
Err scatter_hierarchy(Comm& comm, Args& args);
Err allgather_hierarchy(Comm& comm, Args& args);
Err alltoall_hierarchy(Comm& comm, Args& args);
Err reduce_hierarchy(Comm& comm, Args& args);
Err allreduce_hierarchy(Comm& comm, Args& args);
Err allreduce_columns(Comm& comm, Args& args);
Err reduce_scatter_hierarchy(Comm& comm, Args& args);
Err scan_hierarchy(Comm& comm, Args& args);
Err exscan_hierarchy(Comm& comm, Args& args);  // scan.cpp

// Of messages: messages/NAME.cpp.
Err barrier_dissemination(Comm& comm, Args& args);
Err bcast_binomial(Comm& comm, Args& args);
Err bcast_scatter_allgather(Comm& comm, Args& args);
Err gather_binomial(Comm& comm, Args& args);
Err gather_linear(Comm& comm, Args& args);
Err scatter_binomial(Comm& comm, Args& args);
Err scatter_linear(Comm& comm, Args& args);
Err allgather_doubling(Comm& comm, Args& args);
Err allgather_bruck(Comm& comm, Args& args);
Err allgather_ring(Comm& comm, Args& args);
Err alltoall_bruck(Comm& comm, Args& args);
Err alltoall_linear(Comm& comm, Args& args);
Err alltoall_pairwise(Comm& comm, Args& args);
Err reduce_binomial(Comm& comm, Args& args);
Err reduce_linear(Comm& comm, Args& args);
Err allreduce_doubling(Comm& comm, Args& args);
Err allreduce_rabenseifner(Comm& comm, Args& args);
Err allreduce_ring(Comm& comm, Args& args);
Err reduce_scatter_binomial(Comm& comm, Args& args);
Err reduce_scatter_pairwise(Comm& comm, Args& args);
Err scan_doubling(Comm& comm, Args& args);
Err scan_linear(Comm& comm, Args& args);
Err exscan_doubling(Comm& comm, Args& args);  // scan_doubling.cpp
Err exscan_linear(Comm& comm, Args& args);    // scan_linear.cpp
Err neighbor_direct(Comm& comm, Args& args);

}  // namespace tmpi::mpi::algorithm
