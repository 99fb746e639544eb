// What the user may say of ofi: --net ofi:efa or ofi:provider=tcp,interface=eth0.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tmpi::net::ofi {

struct Settings {
  std::string provider;   ///< as libfabric calls it: "tcp", "tcp;ofi_rxm"; empty: the best one
  std::string interface;  ///< name, network or address; empty: as tcp chooses
};

inline constexpr const char* kSettingsHelp =
    "    PROVIDER, provider=PROVIDER     what libfabric uses: cxi (Slingshot), efa (AWS), opx, psm2, psm3 "
    "(Omni-Path),\n"
    "                                    verbs, tcp, shm ... (`fi_info -l` lists them). Default: the first "
    "of these\n"
    "                                    that this machine has\n"
    "    interface=NAME|ADDRESS|NETWORK  of providers with IP addresses, and of the tcp connections by which "
    "node\n"
    "                                    processes know each other (as for tcp)\n";

Result<Settings> parse_settings(std::string_view text);

}  // namespace tmpi::net::ofi
