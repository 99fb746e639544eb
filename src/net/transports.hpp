// The transports (--net) by name: one table for parsing, help and messages; registry.cpp makes them. Needs
// nothing of the transports, so that tmpirun can read it too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/choices.hpp"
#include "base/result.hpp"

namespace tmpi::net {

enum class TransportKind : std::uint8_t { kAuto, kTcp, kVerbs, kOfi, kSim };

inline constexpr Choice<TransportKind> kTransports[] = {
    {"auto", TransportKind::kAuto, "verbs where every host has an adapter with an active port, else tcp", ""},
    {"tcp", TransportKind::kTcp, "the machines' own TCP", "[:SETTINGS]"},
    {"verbs", TransportKind::kVerbs, "InfiniBand and RoCE adapters", "[:SETTINGS]"},
    {"ofi", TransportKind::kOfi, "what libfabric knows: Slingshot, AWS EFA, Omni-Path and others",
     "[:SETTINGS]"},
    {"sim", TransportKind::kSim, "a modelled network between node processes of one machine", "[:SETTINGS]"},
};

struct TransportChoice {
  TransportKind kind = TransportKind::kTcp;
  std::string_view settings;  ///< unchecked
};

/// `spec` is "NAME" or "NAME:SETTINGS". Failure: which names there are.
inline Result<TransportChoice> parse_transport(std::string_view spec) {
  const auto [row, settings] = choose(kTransports, spec);
  if (row != nullptr) return TransportChoice{row->value, settings};
  std::string names;
  for (const auto& each : kTransports) names.append(names.empty() ? "" : ", ").append(each.name);
  return Failure{"there is no transport \"" + std::string(spec.substr(0, spec.find(':'))) +
                 "\"; there are: " + names + " (`tmpirun --net help` says more)"};
}

}  // namespace tmpi::net
