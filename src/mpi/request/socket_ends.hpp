// Who has the other end of a socket.
#pragma once

namespace tmpi::mpi {

/// The other end of the connected socket `fd` is a descriptor of this process. False, too, if the kernel does not tell.
bool other_end_is_here(int fd) noexcept;

}  // namespace tmpi::mpi
