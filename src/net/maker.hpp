// Maker: what registry.cpp knows of a transport beside its row in transports.hpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/named_limits.hpp"
#include "net/transport.hpp"

namespace tmpi::net {

struct Maker {
  const char* settings;  ///< for --net help: one line per setting, indented by four blanks
  /// `settings`: what follows the name and a colon, checked already.
  Result<std::unique_ptr<Transport>> (*make)(std::string_view settings, const Options& options, Sink& sink);
  Result<void> (*check)(std::string_view settings);
  std::string (*why_not_here)() =
      nullptr;  ///< why `--net auto` does not take it on this machine; empty: it may
  void (*before_threads)() =
      nullptr;  ///< what it wants done while the process has one thread; may fail silently
  Limits (*limits)(bool same_machine) = nullptr;  ///< of all that it makes; null: they differ
  std::span<const NamedLimit> named_limits = {};  ///< that tools may ask for
};

extern const Maker kTcp;    // tcp/tcp.cpp
extern const Maker kVerbs;  // verbs/verbs.cpp
extern const Maker kOfi;    // ofi/ofi.cpp; without libfabric's headers ofi_missing.cpp
extern const Maker kSim;    // sim/sim.cpp

}  // namespace tmpi::net
