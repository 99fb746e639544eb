#include "net/verbs/pools.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace tmpi::net::verbs {

Result<void> ReceivePool::create(const Device& device, std::uint32_t most, std::uint32_t bytes) {
  device_ = &device;
  most_ = most;
  bytes_ = bytes;
  ibv_srq_init_attr init{};
  init.attr.max_wr = most;
  init.attr.max_sge = 1;
  queue_ = device.api.create_srq(device.domain, &init);
  if (queue_ == nullptr)
    return cannot(device, fmt::format("make a shared receive queue of {} buffers", most), errno);
  places_.reserve(most);
  return {};
}

Result<void> ReceivePool::grow(std::uint32_t buffers) {
  if (buffers > most_ - size()) return Failure{"--net verbs: more peers than nodes have connected"};
  auto region = Region::create(*device_, std::size_t{buffers} * bytes_, "receive buffers");
  if (!region) return region.failure();
  const std::uint32_t first = size();
  for (std::uint32_t i = 0; i < buffers; ++i)
    places_.push_back({region->data() + std::size_t{i} * bytes_, region->local_key()});
  regions_.push_back(std::move(*region));
  for (std::uint32_t i = 0; i < buffers; ++i)
    if (!give_back(first + i)) return cannot(*device_, "post receive buffers", errno);
  return {};
}

bool ReceivePool::give_back(std::uint32_t buffer) noexcept {
  const Place& place = places_[buffer];
  ibv_sge where{reinterpret_cast<std::uintptr_t>(place.data), bytes_, place.key};
  ibv_recv_wr request{};
  request.wr_id = buffer;
  request.sg_list = &where;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  const int error = ibv_post_srq_recv(queue_, &request, &refused);
  if (error != 0) errno = error;
  return error == 0;
}

ReceivePool::~ReceivePool() {
  if (queue_ != nullptr) device_->api.destroy_srq(queue_);
}

Result<void> SendPool::create(const Device& device, std::uint32_t count, std::uint32_t bytes) {
  auto region = Region::create(device, std::size_t{count} * bytes, "send buffers");
  if (!region) return region.failure();
  region_ = std::move(*region);
  bytes_ = bytes;
  free_.reserve(count);
  for (std::uint32_t buffer = count; buffer-- > 0;) free_.push_back(buffer);
  return {};
}

}  // namespace tmpi::net::verbs
