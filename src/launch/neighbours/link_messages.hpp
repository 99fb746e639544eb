// What two tmpiruns tell each other whose jobs are being connected, and what they tell their node processes of that.
// docs/design/dynamic-processes.md, "Between jobs".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/ports/port_wire.hpp"
#include "net/secret.hpp"

namespace tmpi::launch {

struct LinkHello {
  std::uint32_t wire_version = 0;
  std::string version;    ///< of tmpi
  std::string network;    ///< the network that its node processes see, as Hello::network
  std::uint64_t job = 0;  ///< the number of its ports
  std::string name;       ///< "./server (tmpirun's process 1234)"
  int nodes = 0;
};

/// Where a job's node processes are reached, by number.
struct WayAddresses {
  int index = 0;  ///< of the other job, in this one's count; not used between tmpiruns
  std::vector<std::string> addresses;
  std::vector<std::string> hosts;
};

/// To a node process.
struct WayOrder {
  int index = 0;
  std::uint64_t other_job = 0;  ///< the number of its ports
  std::string other_name;
  int other_nodes = 0;
  int first = 0;        ///< of this job's node processes among those of both
  int other_first = 0;  ///< of the other's
  net::JobKey key;      ///< of connections between the two
};

struct WayAnswer {
  int index = 0;
  std::string address;  ///< kWayPrepared
  std::string problem;  ///< a sentence, empty: none
};

struct WayEnding {
  int index = 0;
  std::string why;  ///< it has not ended by itself: a sentence; empty: it has
};

struct LinkCall {
  int rank = 0;  ///< in its job,
  int node = 0;  ///< and its node process there
  PortRequest request;
};

/// Whether the rank that has called still waits for the rank with which it has been paired.
struct LinkVerdict {
  int rank = 0;
  std::int64_t request = 0;
};

std::string pack(const LinkHello& hello);
std::string pack(const net::JobKey& key);
std::string pack(const WayAddresses& addresses);
std::string pack(const WayOrder& order);
std::string pack(const WayAnswer& answer);
std::string pack(const WayEnding& ending);
std::string pack(const LinkCall& call);
std::string pack(const LinkVerdict& verdict);
/// Failure: cut short, too long, or nonsense.
Result<LinkHello> unpack_link_hello(std::string_view payload);
Result<net::JobKey> unpack_link_key(std::string_view payload);
Result<WayAddresses> unpack_way_addresses(std::string_view payload);
Result<WayOrder> unpack_way_order(std::string_view payload);
Result<WayAnswer> unpack_way_answer(std::string_view payload);
Result<WayEnding> unpack_way_ending(std::string_view payload);
Result<LinkCall> unpack_link_call(std::string_view payload);
Result<LinkVerdict> unpack_link_verdict(std::string_view payload);

}  // namespace tmpi::launch
