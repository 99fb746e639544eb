// Region: memory of the transport's own that the adapter may use: mapped, preferably on the adapter's NUMA node, and
// registered for as long as it lives. Not inherited by children of fork().
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "net/verbs/device.hpp"

namespace tmpi::net::verbs {

class Region {
 public:
  Region() = default;
  Region(Region&& other) noexcept { swap(other); }
  Region& operator=(Region&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Region();

  /// `what` is for the sentence: "receive buffers". Failure: no memory, or it cannot be registered.
  static Result<Region> create(const Device& device, std::size_t bytes, const std::string& what);

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  std::uint32_t local_key() const noexcept { return registered_->lkey; }

 private:
  void swap(Region& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(registered_, other.registered_);
  }

  const Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  ibv_mr* registered_ = nullptr;
};

}  // namespace tmpi::net::verbs
