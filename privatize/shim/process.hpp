// Which process and which thread of the rank runs this code.
#pragma once

namespace tmpi::shim {

/// True in a child that the rank made with fork: there the node process does not exist.
bool in_forked_child() noexcept;

/// True on the rank's own fiber, false on its helper threads.
bool on_rank_thread() noexcept;

/// Identity of the calling thread of this rank. Survives a migration of the fiber, which pthread_self() does
/// not.
const void* this_thread() noexcept;

/// Remembers the calling process and thread as the rank's. For tmpi_shim_start.
void remember_process() noexcept;

}  // namespace tmpi::shim
