// A transport that makes difficulties on purpose, around a real one: it often has no resources, sends what it
// has taken some polls later, reading the payload only then, and does nothing in many polls. In order, as
// promised.
#pragma once

#include "net/transport.hpp"

namespace tmpi::mpi::testing {

/// Around what options.spec names. The seed is the node's number.
Result<std::unique_ptr<net::Transport>> make_flaky(const net::Options& options, net::Sink& sink);

}  // namespace tmpi::mpi::testing
