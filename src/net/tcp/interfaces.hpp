// Which of this machine's addresses tcp listens on.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/tcp/endpoint.hpp"

namespace tmpi::net::tcp {

/// An address of an interface of this machine.
struct LocalAddress {
  std::string interface;
  Endpoint endpoint;          ///< port 0
  unsigned network_bits = 0;  ///< length of the network's prefix
  bool up = true;
};

/// All of them; IPv4 before IPv6.
std::vector<LocalAddress> local_addresses();

/// The ones to use. `wanted`: Settings::interface. Without a wish: loopback if all nodes are on this machine,
/// else whatever other hosts can reach, that is no loopback, no link-local address, no interface that is
/// down, and no network inside this machine (docker0, virbr0, veth..., known by their names). The failure
/// says which interfaces there are and why none will do.
Result<std::vector<LocalAddress>> choose_addresses(const std::vector<LocalAddress>& all,
                                                   const std::string& wanted, bool same_machine);

/// Puts first what is in a network that this machine is in as well; else the order stays.
void sort_by_nearness(std::vector<Endpoint>& endpoints, const std::vector<LocalAddress>& own);

}  // namespace tmpi::net::tcp
