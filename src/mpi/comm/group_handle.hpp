// What an MPI_Group points at: a handle of one rank onto a shared, immutable Group. MPI_GROUP_EMPTY needs
// none.
#pragma once

#include "mpi/base/error.hpp"
#include "mpi/comm/group_ops.hpp"

namespace tmpi::mpi {

/// A new handle; MPI_GROUP_EMPTY for the empty group (MPI report, 7.3.2: operations may return it).
/// `session`: what the group comes from (session.hpp in init), for the communicators that are made of it; null: the
/// world model.
MPI_Group make_handle(GroupPtr group, const void* session = nullptr);

/// The session that a handle's group comes from; null: none. Of a valid handle.
const void* session_of(MPI_Group handle) noexcept;

/// The group behind a handle; MPI_ERR_GROUP if it is none. The result lives as long as the handle.
Err group_from(MPI_Group handle, const GroupPtr*& group);

/// MPI_Group_free: the handle is gone, the group lives on in communicators that use it.
Err free_handle(MPI_Group& handle);

}  // namespace tmpi::mpi
