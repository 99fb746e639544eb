#include "mpi/p2p/observer.hpp"

namespace tmpi::mpi {

namespace detail {
const MessageObserver* g_message_observer = nullptr;
}

void observe_messages(const MessageObserver& observer) noexcept {
  detail::g_message_observer = &observer;
}

}  // namespace tmpi::mpi
