// Providers: which of what libfabric offers on this machine the transport uses.
#pragma once

#include <memory>
#include <string>

#include "net/ofi/api.hpp"
#include "net/ofi/settings.hpp"

namespace tmpi::net::ofi {

struct InfoDeleter {
  const Api* api = nullptr;
  void operator()(fi_info* info) const noexcept { api->freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, InfoDeleter>;

/// Reliable datagram endpoints with messages in order and reads of remote memory, by the provider of the settings or the
/// best one. Failure: there is none; says what there is.
Result<Info> choose_info(const Api& api, const Settings& settings, bool same_machine);

}  // namespace tmpi::net::ofi
