#include "net/ofi/providers.hpp"

#include <fmt/format.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "net/tcp/interfaces.hpp"

namespace tmpi::net::ofi {
namespace {

// The best first. What is not among them is used only if it is named.
constexpr std::string_view kBestFirst[] = {"cxi", "efa", "opx", "psm3", "psm2", "verbs", "tcp"};

// Do not pass the conformance suite: sockets of libfabric 1.17, and shm of 2.1, which crashes.
bool is_broken(const Api& api, std::string_view provider) {
  return provider == "sockets" || (provider == "shm" && FI_MAJOR(api.version()) >= 2);
}

std::string_view provider_of(const fi_info& info) {
  return info.fabric_attr->prov_name != nullptr ? info.fabric_attr->prov_name : "";
}

// "tcp" of "tcp;ofi_rxm": what is below libfabric's own layers.
std::string_view core_of(std::string_view provider) {
  return provider.substr(0, provider.find(';'));
}

Info ask(const Api& api, const std::string& provider, int& error) {
  Info hints(api.dupinfo(nullptr), {&api});
  hints->caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_REMOTE_READ;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;  // one thread at a time
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  if (!provider.empty()) hints->fabric_attr->prov_name = strdup(provider.c_str());
  fi_info* found = nullptr;
  error = -api.getinfo(api.asked_version(), nullptr, nullptr, 0, hints.get(), &found);
  return Info(error == 0 ? found : nullptr, {&api});
}

// The names of all that this libfabric has, whether or not there is hardware for it.
std::vector<std::string> all_providers(const Api& api) {
  std::vector<std::string> names;
  fi_info* list = nullptr;
  if (api.getinfo(api.asked_version(), nullptr, nullptr, FI_PROV_ATTR_ONLY, nullptr, &list) != 0)
    return names;
  const Info owner(list, {&api});
  for (const fi_info* info = list; info != nullptr; info = info->next) {
    const std::string name(provider_of(*info));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Failure no_provider(const Api& api, const std::string& wanted, int error) {
  const std::vector<std::string> names = all_providers(api);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  const bool known = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == wanted || core_of(name) == core_of(wanted);
  });
  if (wanted.empty())
    return Failure{fmt::format(
        "--net ofi: libfabric {} finds no network on this machine that tmpi can use ({}); use --net tcp",
        api.version_text(), api.strerror(error))};
  if (!known)
    return Failure{fmt::format("--net ofi:{}: this libfabric ({}) has no provider \"{}\"; it has: {}", wanted,
                               api.version_text(), wanted, list)};
  return Failure{
      fmt::format("--net ofi:{}: libfabric's provider {} finds nothing on this machine that tmpi can use "
                  "({}): no adapter, no "
                  "driver, or no right to open it, or it has no reliable datagrams in order with reads of "
                  "remote memory (`fi_info "
                  "-p {}` may say more); --net tcp works everywhere",
                  wanted, wanted, api.strerror(error), core_of(wanted))};
}

bool has_ip(const fi_info& info) {
  return (info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
          info.addr_format == FI_SOCKADDR_IN6) &&
         info.src_addr != nullptr;
}

std::string host_of(const fi_info& info) {
  return tcp::endpoint_of(static_cast<const sockaddr*>(info.src_addr)).host_text();
}

// The name under which a provider is asked for: "tcp" takes "tcp;ofi_rxm".
bool is_called(const fi_info& info, const std::string& wanted) {
  return provider_of(info) == wanted ||
         (wanted.find(';') == std::string::npos && core_of(provider_of(info)) == wanted);
}

// Null: none of the provider that has an address which will do.
const fi_info* best_of(const fi_info* list, const std::string& provider,
                       const std::vector<tcp::LocalAddress>& addresses, bool any_address) {
  const fi_info* first = nullptr;
  for (const fi_info* info = list; info != nullptr; info = info->next)
    if (is_called(*info, provider) && !has_ip(*info)) return info;
  for (const tcp::LocalAddress& address : addresses)
    for (const fi_info* info = list; info != nullptr; info = info->next)
      if (is_called(*info, provider) && host_of(*info) == address.endpoint.host_text()) return info;
  for (const fi_info* info = list; info != nullptr && first == nullptr; info = info->next)
    if (is_called(*info, provider) && any_address) first = info;
  return first;
}

}  // namespace

Result<Info> choose_info(const Api& api, const Settings& settings, bool same_machine) {
  if (is_broken(api, settings.provider))
    return Failure{
        fmt::format("--net ofi:{}: this provider of libfabric {} does not pass the tests that others pass; "
                    "use --net ofi:tcp",
                    settings.provider, api.version_text())};
  int error = 0;
  const Info list = ask(api, settings.provider, error);
  if (!list) return no_provider(api, settings.provider, error);
  const auto addresses = tcp::choose_addresses(tcp::local_addresses(), settings.interface, same_machine);
  if (!addresses) return addresses.failure();
  const fi_info* chosen = nullptr;
  if (!settings.provider.empty()) {
    // An adapter's address is in another network than loopback.
    const bool any = settings.interface.empty() && core_of(settings.provider) == "verbs";
    chosen = best_of(list.get(), settings.provider, *addresses, any);
  } else {
    for (const std::string_view name : kBestFirst) {
      chosen = best_of(list.get(), std::string(name), *addresses, name == "verbs");
      if (chosen != nullptr) break;
    }
  }
  if (chosen == nullptr) return no_provider(api, settings.provider, FI_EADDRNOTAVAIL);
  Info info(api.dupinfo(chosen), {&api});
  return info;
}

}  // namespace tmpi::net::ofi
