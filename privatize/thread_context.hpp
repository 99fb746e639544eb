// What the loader knows about an OS thread: which rank it runs, and whether it is a worker or a helper that a
// rank has created.
#pragma once

#include "base/of_thread.hpp"
#include "privatize/tls.hpp"

namespace tmpi::privatize {

struct KeyValues;  // pthread_keys.cpp

struct ThreadContext {
  int rank = -1;
  bool helper = false;
  TlsCopies* copies = nullptr;  ///< helpers only, owned
  KeyValues* keys = nullptr;    ///< helpers only, owned
};

namespace detail {
/// Initial-exec: also read by assembly (tls_descriptor.S) and in signal handlers; constinit, so that an access is a load
/// and no call.
extern constinit thread_local ThreadContext t_context __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// The calling OS thread's, whatever thread pointer is in force.
[[gnu::always_inline]] inline ThreadContext& thread_context() noexcept {
  return of_thread(detail::t_context);
}

}  // namespace tmpi::privatize
