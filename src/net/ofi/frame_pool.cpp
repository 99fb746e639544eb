#include "net/ofi/frame_pool.hpp"

#include <fmt/format.h>

#include <new>

namespace tmpi::net::ofi {

Result<std::byte*> FramePool::add_slab(std::size_t frames, std::uint64_t access) {
  Slab slab;
  const std::size_t bytes = frames * kFrameBytes;
  slab.memory.reset(new (std::nothrow) std::byte[bytes]);
  int error = FI_ENOMEM;
  if (slab.memory != nullptr && fabric_->registers_local())
    slab.registered = fabric_->register_memory(slab.memory.get(), bytes, access, error);
  if (slab.memory == nullptr || (fabric_->registers_local() && slab.registered == nullptr))
    return Failure{
        fmt::format("--net ofi: {} KiB of buffers cannot be had or registered with provider {} ({})",
                    bytes >> 10, fabric_->provider(), fabric_->api().strerror(error))};
  slabs_.push_back(std::move(slab));
  return slabs_.back().memory.get();
}

Result<void> FramePool::open(Fabric& fabric) {
  fabric_ = &fabric;
  const Result<std::byte*> memory = add_slab(kSendFrames, FI_SEND);
  if (!memory) return memory.failure();
  free_.reserve(kSendFrames);
  void* const descriptor = slabs_.back().registered ? fi_mr_desc(slabs_.back().registered.get()) : nullptr;
  for (std::size_t i = kSendFrames; i-- > 0;)
    free_.push_back(&frames_.emplace_back(Work::Kind::kSend, *memory + i * kFrameBytes, descriptor));
  return {};
}

Result<void> FramePool::add_receives(std::size_t count) {
  const Result<std::byte*> memory = add_slab(count, FI_RECV);
  if (!memory) return memory.failure();
  void* const descriptor = slabs_.back().registered ? fi_mr_desc(slabs_.back().registered.get()) : nullptr;
  for (std::size_t i = 0; i < count; ++i)
    repost(&frames_.emplace_back(Work::Kind::kReceive, *memory + i * kFrameBytes, descriptor));
  return {};
}

void FramePool::repost(Frame* frame) noexcept {
  const ssize_t error = fi_recv(fabric_->endpoint(), frame->data, kFrameBytes, frame->descriptor,
                                FI_ADDR_UNSPEC, &frame->context);
  if (error != 0) left_.push_back(frame);
}

void FramePool::post_left() noexcept {
  std::vector<Frame*> left;
  left.swap(left_);
  for (Frame* const frame : left) repost(frame);
}

}  // namespace tmpi::net::ofi
