// The algorithms, one file each. All have one signature; which one is used is said by table.cpp alone. All
// may SUSPEND.
#pragma once

#include "mpi/coll/args.hpp"
#include "mpi/comm/comm.hpp"

namespace tmpi::mpi::algorithm {

Err barrier_meeting(Comm& comm, Args& args);          // barrier.cpp
Err bcast_relay(Comm& comm, Args& args);              // bcast.cpp
Err scatter_relay(Comm& comm, Args& args);            // scatter.cpp
Err gather_relay(Comm& comm, Args& args);             // gather.cpp
Err allgather_pull(Comm& comm, Args& args);           // allgather.cpp
Err alltoall_pull(Comm& comm, Args& args);            // alltoall.cpp
Err alltoall_swap(Comm& comm, Args& args);            // alltoall_swap.cpp: MPI_IN_PLACE
Err reduce_cells(Comm& comm, Args& args);             // reduce_cells.cpp
Err reduce_segments(Comm& comm, Args& args);          // reduce_segments.cpp
Err allreduce_cells(Comm& comm, Args& args);          // allreduce_cells.cpp
Err allreduce_segments(Comm& comm, Args& args);       // allreduce_segments.cpp
Err reduce_scatter_segments(Comm& comm, Args& args);  // reduce_scatter.cpp
Err scan_segments(Comm& comm, Args& args);            // scan.cpp
Err exscan_segments(Comm& comm, Args& args);          // exscan.cpp

}  // namespace tmpi::mpi::algorithm
