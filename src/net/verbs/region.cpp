#include "net/verbs/region.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/numa.hpp"

namespace tmpi::net::verbs {
namespace {

constexpr std::size_t kHugePage = 2 << 20;

}  // namespace

Result<Region> Region::create(const Device& device, std::size_t bytes, const std::string& what) {
  Region region;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Failure{
        fmt::format("--net verbs: no memory for {} KiB of {} ({})", bytes >> 10, what, std::strerror(errno))};
  region.device_ = &device;
  region.data_ = static_cast<std::byte*>(memory);
  region.bytes_ = bytes;
  madvise(memory, bytes, MADV_DONTFORK);
  if (bytes >= kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
  numa::prefer(memory, bytes, device.memory_node);
  region.registered_ = device.api.reg_mr(device.domain, memory, bytes, IBV_ACCESS_LOCAL_WRITE);
  if (region.registered_ == nullptr)
    return cannot(device, fmt::format("register {} KiB of {}", bytes >> 10, what), errno);
  return region;
}

Region::~Region() {
  if (registered_ != nullptr) device_->api.dereg_mr(registered_);
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace tmpi::net::verbs
