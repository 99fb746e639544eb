// What crosses the control channel when ranks use ports: kPortCall and kPortReply.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "launch/ports/port_registry.hpp"

namespace tmpi::launch {

/// node process -> tmpirun; the frame says which rank.
struct PortRequest {
  std::int64_t request = 0;  ///< the node process's number for it
  mpi::PortCall call;
};

std::string pack(const PortRequest& request);
std::string pack(const PortReply& reply);
/// Failure: cut short, too long, or nonsense.
Result<PortRequest> unpack_port_request(std::string_view payload);
Result<PortReply> unpack_port_reply(std::string_view payload);

}  // namespace tmpi::launch
