// Process sets: the named groups that exist before any communicator does (MPI report, 11.3.2), and where a
// process is in the machine, for MPI_Comm_split_type (7.4.2). All of the calling rank; none suspends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpi/base/info.hpp"
#include "mpi/comm/group_ops.hpp"

namespace tmpi::mpi {

/// mpi://WORLD, mpi://SELF, mpix://node (the ranks of this node process), mpix://worker (those that share the
/// calling rank's worker).
const std::vector<std::string>& process_set_names();

/// The set with this name, in whatever case it is written (names are URIs, whose scheme and authority have
/// none); null if there is none.
GroupPtr process_set(std::string_view name);

/// A number that members of one instance of a resource have in common, and of different ones, on whatever
/// machine, not;
/// MPI_UNDEFINED if the calling rank is not confined to one instance, or there is no such resource. Names are
/// hwloc's, with or without their prefix ("hwloc://NUMANode", "NUMANode"), "mpi_shared_memory", and the
/// process sets of tmpi.
int resource_color(std::string_view name);

/// The same for every kind of hardware resource, from the whole machine to a hardware thread, and the kinds'
/// names ("hwloc://Package").
std::vector<int> resource_levels();
std::string resource_name(int level);

/// MPI_Get_hw_resource_info: the kinds of resources, each with "true" if the caller is confined to one
/// instance. Also outside a rank.
std::vector<Info::Entry> resource_entries();

}  // namespace tmpi::mpi
