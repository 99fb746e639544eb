// The one engine of this process, between remote.cpp, which makes it, and messages.cpp, which uses it.
#pragma once

#include "mpi/remote/engine.hpp"

namespace tmpi::mpi::remote {

/// Null while the job has one node process. Written before any rank runs and after all have finished.
Engine* engine() noexcept;

/// begin() with another way to make a transport, for tests.
Result<void> begin_with(const net::Options& options, const Settings& settings, Engine::MakeTransport make);

}  // namespace tmpi::mpi::remote
