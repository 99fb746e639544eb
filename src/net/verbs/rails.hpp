// Rails: several adapters for one node process, a Verbs of its own for each. Messages go by the first rail, in their
// order. What others are to read (expose(), get()) goes by the one that is nearest to the core of whoever exposes it:
// most bytes travel so.
//
//     exposes                          rail 0          rail r          reads
//     window on rail r's queue pair --------------------->|
//     notice number n ------------------------------------>|  n windows are open
//     message with the key (r, n) -------->|                  get(): not before notice n has come
//
// Rails are numbered alike on all nodes: what is read by rail r goes to the peer's rail r. Who has fewer has those that
// are there by rail 0.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/transport.hpp"
#include "net/verbs/api.hpp"
#include "net/verbs/settings.hpp"

namespace tmpi::net::verbs {

/// Between the addresses of a node's rails.
inline constexpr char kBetweenRails = '|';

/// Of a node's address the part that is this rail's; empty: it has no such rail.
std::string rail_of_address(std::string_view address, std::size_t rail);

/// Where the caller runs: the number of the rail that is nearest.
using Nearest = std::function<std::size_t()>;

/// By the processors that the system says are near the adapters; those that are near several, or none, take turns.
Nearest nearest_by_processor(const std::vector<std::string>& adapters);

/// The transport that `--net verbs:settings` asks for: over one adapter or several. Failure: a wrong setting, and as of
/// Device::open().
Result<std::unique_ptr<Transport>> create(const Api& api, std::string_view settings, const Options& options,
                                          Sink& sink);

/// A transport over `rails.size()` >= 2 adapters, one per entry. Failure: as of Verbs::create.
Result<std::unique_ptr<Transport>> create_rails(const Api& api, const std::vector<Settings>& rails,
                                                const Options& options, Sink& sink, Nearest nearest);

}  // namespace tmpi::net::verbs
