#include "net/verbs/pools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tmpi::net::verbs {

Result<void> ReceivePool::create(const Device& device, std::uint32_t most, std::uint32_t bytes,
                                 std::uint32_t together) {
  device_ = &device;
  together_ = std::min(together, kMostTogether);
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
  for (std::uint32_t i = 0; i < buffers; ++i) {
    free_[free_count_++] = first + i;
    if (free_count_ == kMostTogether || i + 1 == buffers)
      if (!post_free()) return cannot(*device_, "post receive buffers", errno);
  }
  return {};
}

bool ReceivePool::post_free() noexcept {
  std::array<ibv_sge, kMostTogether> where;
  std::array<ibv_recv_wr, kMostTogether> requests;
  const std::uint32_t count = std::exchange(free_count_, 0);
  if (count == 0) return true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Place& place = places_[free_[i]];
    where[i] = {reinterpret_cast<std::uintptr_t>(place.data), bytes_, place.key};
    requests[i] = {.wr_id = free_[i],
                   .next = i + 1 < count ? &requests[i + 1] : nullptr,
                   .sg_list = &where[i],
                   .num_sge = 1};
  }
  ibv_recv_wr* refused = nullptr;
  const int error = ibv_post_srq_recv(queue_, requests.data(), &refused);
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
