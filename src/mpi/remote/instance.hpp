// What remote.cpp, which makes the engine of this process, and messages.cpp, which uses it, have in common.
#pragma once

#include <memory>

#include "mpi/p2p/remote_calls.hpp"
#include "mpi/remote/engine.hpp"

namespace tmpi::mpi::remote {

namespace detail {
extern std::unique_ptr<Engine> g_engine;
}

/// Null while the job has one node process. Written before any rank runs and after all have finished.
inline Engine* engine() noexcept {
  return detail::g_engine.get();
}

/// What is registered with p2p/ while there are several node processes (messages.cpp).
const RemoteCalls& remote_table() noexcept;

/// begin() with another way to make a transport, for tests.
Result<void> begin_with(const net::Options& options, const Settings& settings, Engine::MakeTransport make);

}  // namespace tmpi::mpi::remote
