// Offloading: with --sleep yield a system call that would block the rank's worker runs on a thread of a
// pool, and the rank is suspended until it has returned. docs/design/scheduling.md.
#pragma once

namespace tmpi::privatize {

/// Whether what blocks the calling flow is to be left to another thread: it is a rank's own, in user code, on
/// a worker with others, and the user wants it.
bool may_offload() noexcept;

/// The same whatever the user wants: where what blocks the flow may wait for another rank of its worker.
bool may_pass_to_pool() noexcept;

namespace detail {
/// What a signal for the rank does to the call.
enum class OnSignal { kEnds, kRestarts, kWaits };
long offload_call(const char* name, OnSignal on_signal, long (*run)(const void*),
                  const void* argument) noexcept;

template <class Call>
long offload_by(const char* name, OnSignal on_signal, const Call& call) noexcept {
  return offload_call(
      name, on_signal,
      [](const void* argument) { return static_cast<long>((*static_cast<const Call*>(argument))()); }, &call);
}
}  // namespace detail

/// Runs `call`, which makes one system call and returns its result (-1: errno says why), on a thread of the
/// pool; on this one if there is none to be had. A signal for the rank ends it with EINTR, or, if it `restarts` and
/// all handlers have said SA_RESTART, it is made again. `name` is for state dumps. Only where may_pass_to_pool().
/// SUSPENDS.
template <class Call>
long offload(const char* name, bool restarts, const Call& call) noexcept {
  return detail::offload_by(name, restarts ? detail::OnSignal::kRestarts : detail::OnSignal::kEnds, call);
}

/// The same for a call that must not be ended in the middle, nor made twice: signals wait until it has returned. SUSPENDS.
template <class Call>
long offload_whole(const char* name, const Call& call) noexcept {
  return detail::offload_by(name, detail::OnSignal::kWaits, call);
}

}  // namespace tmpi::privatize
