#include "net/tcp/interfaces.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>

namespace tmpi::net::tcp {
namespace {

constexpr std::size_t kMostAddresses = 8;

// Networks that containers and virtual machines of one host have among themselves: every host has the same
// addresses there, and none reaches another's.
constexpr const char* kInnerNetworks[] = {"docker", "br-",    "virbr", "veth", "vnet",    "lxc",
                                          "lxdbr",  "podman", "cni",   "cali", "flannel", "ifb"};

bool is_inner(const std::string& interface) {
  return std::any_of(std::begin(kInnerNetworks), std::end(kInnerNetworks),
                     [&](const char* prefix) { return interface.starts_with(prefix); });
}

unsigned prefix_bits(const sockaddr* mask) noexcept {
  if (mask == nullptr) return 0;
  const bool six = mask->sa_family == AF_INET6;
  const auto* bytes =
      six ? reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr.s6_addr
          : reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in*>(mask)->sin_addr);
  unsigned bits = 0;
  for (int i = 0; i < (six ? 16 : 4); ++i) bits += static_cast<unsigned>(__builtin_popcount(bytes[i]));
  return bits;
}

bool matches(const LocalAddress& local, const std::string& wanted) {
  if (local.interface == wanted) return true;
  const std::size_t slash = wanted.find('/');
  const auto network = address_from_text(std::string_view(wanted).substr(0, slash));
  if (!network) return false;
  unsigned bits = network->family() == AF_INET6 ? 128 : 32;
  if (slash != std::string::npos)
    std::from_chars(wanted.data() + slash + 1, wanted.data() + wanted.size(), bits);
  return local.endpoint.same_network(*network, bits);
}

// Why an address is not used without being asked for; empty: it is.
std::string objection(const LocalAddress& local, bool same_machine) {
  if (!local.up) return "is down";
  if (same_machine) return local.endpoint.is_loopback() ? "" : "is not loopback";
  if (local.endpoint.is_loopback()) return "is loopback";
  if (local.endpoint.is_link_local()) return "has only a link-local address";
  if (is_inner(local.interface)) return "is a network inside this machine";
  return "";
}

std::string list(const std::vector<LocalAddress>& all, bool with_objections, bool same_machine) {
  std::string text;
  for (const LocalAddress& local : all) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", local.interface, local.endpoint.host_text());
    if (with_objections) text += " " + objection(local, same_machine);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<LocalAddress> local_addresses() {
  std::vector<LocalAddress> all;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return all;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    LocalAddress local;
    local.interface = at->ifa_name;
    local.endpoint = endpoint_of(at->ifa_addr);
    local.network_bits = prefix_bits(at->ifa_netmask);
    local.up = (at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_RUNNING) != 0;
    all.push_back(std::move(local));
  }
  freeifaddrs(first);
  std::stable_sort(all.begin(), all.end(), [](const LocalAddress& a, const LocalAddress& b) {
    return a.endpoint.family() == AF_INET && b.endpoint.family() == AF_INET6;
  });
  return all;
}

Result<std::vector<LocalAddress>> choose_addresses(const std::vector<LocalAddress>& all,
                                                   const std::string& wanted, bool same_machine) {
  std::vector<LocalAddress> chosen;
  for (const LocalAddress& local : all) {
    if (chosen.size() == kMostAddresses) break;
    // A link-local address means nothing without the name of the other host's interface.
    const bool usable = local.up && !(local.endpoint.family() == AF_INET6 && local.endpoint.is_link_local());
    if (wanted.empty() ? objection(local, same_machine).empty() : usable && matches(local, wanted))
      chosen.push_back(local);
  }
  if (!chosen.empty()) return chosen;
  if (!wanted.empty())
    return Failure{
        fmt::format("--net tcp:interface={}: no interface of this machine that is up has this name, "
                    "address or network; there are: {}",
                    wanted, list(all, false, same_machine))};
  return Failure{
      fmt::format("tcp finds no network interface to use: {}; name one with --net "
                  "tcp:interface=NAME",
                  list(all, true, same_machine))};
}

void sort_by_nearness(std::vector<Endpoint>& endpoints, const std::vector<LocalAddress>& own) {
  std::stable_partition(endpoints.begin(), endpoints.end(), [&](const Endpoint& endpoint) {
    return std::any_of(own.begin(), own.end(), [&](const LocalAddress& local) {
      return local.endpoint.same_network(endpoint, local.network_bits);
    });
  });
}

}  // namespace tmpi::net::tcp
