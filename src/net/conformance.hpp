// The conformance suite: what every transport must do, whatever it is made of. A transport's own test calls
// check_conformance() once; the nodes are threads of the test's process, each with its own transport, and
// forked processes where one has to die.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "net/transport.hpp"

namespace tmpi::net::conformance {

#if defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kLargest =
    1 << 20;  // each byte that is written and checked costs a hundred times as much
#elif defined(__SANITIZE_ADDRESS__) && !defined(TMPI_SANITIZE_MORE)
inline constexpr std::size_t kLargest = 2 << 20;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t kLargest = 8 << 20;
#else
inline constexpr std::size_t kLargest = 64 << 20;
#endif

struct Subject {
  std::string spec;                ///< --net
  double patience = 100;           ///< seconds until something that ought to happen counts as missing
  std::size_t largest = kLargest;  ///< bytes of the largest message
  bool same_machine = true;
  double wake_ups = 50;   ///< per second, of a sleeper while nothing happens
  bool processes = true;  ///< nodes may be processes, too: not if what connects them is a part of this one
  /// What makes a node's transport; if there is nothing, `spec` says.
  std::function<Result<std::unique_ptr<Transport>>(const Options& options, Sink& sink)> make;
  /// Called by a forked node before anything else, in its process.
  std::function<void(int node)> enter;
};

/// Runs every check as a doctest subcase of the calling test case. None of them depends on how busy the
/// machine is.
void check_conformance(const Subject& subject);

/// A claim about time, for the suite "timing": that survivors are told of a death within a second.
void check_death_is_noticed_soon(const Subject& subject);

}  // namespace tmpi::net::conformance
