#include "mpi/p2p/remote_calls.hpp"

namespace tmpi::mpi {

const RemoteCalls* detail::g_remote_calls = nullptr;

void register_remote(const RemoteCalls& calls) noexcept {
  detail::g_remote_calls = &calls;
}

}  // namespace tmpi::mpi
