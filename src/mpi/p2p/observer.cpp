#include "mpi/p2p/observer.hpp"

#include <array>

#include "base/platform.hpp"

namespace tmpi::mpi {

namespace detail {
alignas(kCacheLine) std::atomic<int> g_message_observers{0};  // read with every message
}

namespace {

// release, acquire: what an observer needs has been set up.
std::array<std::atomic<const MessageObserver*>, 4> the_observers{};

template <class Function, class... Arguments>
void tell(Function MessageObserver::*which, Arguments&... arguments) noexcept {
  for (const auto& place : the_observers) {
    const MessageObserver* const observer = place.load(std::memory_order_acquire);
    if (observer != nullptr && observer->*which != nullptr) (observer->*which)(arguments...);
  }
}

}  // namespace

void observe_messages(const MessageObserver& observer) noexcept {
  for (auto& place : the_observers) {
    const MessageObserver* none = nullptr;
    if (!place.compare_exchange_strong(none, &observer, std::memory_order_acq_rel)) continue;
    detail::g_message_observers.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

void forget_messages(const MessageObserver& observer) noexcept {
  for (auto& place : the_observers) {
    const MessageObserver* known = &observer;
    if (!place.compare_exchange_strong(known, nullptr, std::memory_order_acq_rel)) continue;
    detail::g_message_observers.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
}

void detail::tell_sent(Rank& from, int to, const MatchKey& key, MPI_Count bytes) noexcept {
  tell(&MessageObserver::sent, from, to, key, bytes);
}
void detail::tell_received(Rank& to, const MatchKey& key, MPI_Count bytes) noexcept {
  tell(&MessageObserver::received, to, key, bytes);
}
void detail::tell_left(Rank& from, Departure way, bool elsewhere, MPI_Count bytes) noexcept {
  tell(&MessageObserver::left, from, way, elsewhere, bytes);
}

}  // namespace tmpi::mpi
