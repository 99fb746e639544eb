#include "net/verbs/frame_pool.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace tmpi::net::verbs {

Result<void> FramePool::create(const Device& device, const FrameSizes& sizes) {
  device_ = &device;
  payload = sizes.payload;
  credits = sizes.credits;
  depth = sizes.depth;
  unposted = sizes.together - 1;
  const auto frame = static_cast<std::uint32_t>(sizeof(FrameHeader) + kMostHeader + payload);
  const std::uint32_t buffers = sizes.peers * (credits + kSpareBuffers) + unposted;
  const auto make_queue = [&](std::uint32_t entries) {
    return device.api.create_cq(device.context, static_cast<int>(entries), nullptr, device.channel, 0);
  };
  received = make_queue(buffers);
  if (received == nullptr)
    return cannot(device, fmt::format("make a completion queue of {}", buffers), errno);
  sent = make_queue(sizes.peers * depth);
  if (sent == nullptr)
    return cannot(device, fmt::format("make a completion queue of {}", sizes.peers * depth), errno);
  if (auto made = receives.create(device, buffers, frame, sizes.together); !made) return made;
  return sends.create(device, sizes.send_buffers, frame);
}

Result<void> FramePool::join() {
  // Those of queue pairs that have gone are still there.
  const std::uint32_t wanted = (users + 1) * (credits + kSpareBuffers) + unposted;
  if (wanted > receives.size())
    if (auto grown = receives.grow(wanted - receives.size()); !grown) return grown;
  ++users;
  return {};
}

FramePool::~FramePool() {
  if (received != nullptr) device_->api.destroy_cq(received);
  if (sent != nullptr) device_->api.destroy_cq(sent);
}

}  // namespace tmpi::net::verbs
