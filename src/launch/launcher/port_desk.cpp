#include "launch/launcher/port_desk.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "launch/ports/port_wire.hpp"
#include "net/secret.hpp"

namespace tmpi::launch {
namespace {

// Only tells jobs apart: without random numbers the process's number and the clock's do.
std::uint64_t number_of_job() {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  if (net::draw_random(bytes)) return std::bit_cast<std::uint64_t>(bytes);
  return static_cast<std::uint64_t>(getpid()) << 32 ^
         static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

}  // namespace

bool PortDesk::on_call(const Node& node, const Frame& frame) {
  const Result<PortRequest> request = unpack_port_request(frame.payload);
  const int rank = frame.header.rank;
  if (!request || rank < 0 || static_cast<std::size_t>(rank) >= plan_.node_of.size() ||
      nodes_.node_of(rank) != node.number())
    return false;
  if (!registry_) registry_.emplace(number_of_job());
  for (const PortReply& reply : registry_->call({rank, request->request}, request->call)) {
    Node& other = nodes_.of_rank(reply.to.rank);
    if (other.running() && !other.done) other.send(FrameType::kPortReply, 0, pack(reply));
  }
  return true;
}

}  // namespace tmpi::launch
