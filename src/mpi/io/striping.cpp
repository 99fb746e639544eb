#include "mpi/io/striping.hpp"

#include <fcntl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace tmpi::mpi {
namespace {

constexpr long kLustre = 0x0bd00bd0;
constexpr const char* kAttribute = "lustre.lov";

// The attribute's value begins so (version 1 of it, which can be written; version 3 has the name of a pool behind it).
struct Layout {
  std::uint32_t magic;
  std::uint32_t pattern;
  std::uint64_t object[2];
  std::uint32_t unit;
  std::uint16_t factor;
  std::uint16_t first;  // when it is written; when it is read, how often the layout has changed
};
static_assert(sizeof(Layout) == 32);
constexpr std::uint32_t kVersion1 = 0x0bd10bd0, kVersion3 = 0x0bd30bd0;
constexpr std::uint32_t kRoundRobin = 1;
constexpr std::uint16_t kAny = 0xffff;
constexpr std::size_t kPoolName = 16;

// Behind that, for each device: an object's number (16 bytes), its generation, the device's number.
constexpr std::size_t kObject = 24, kDevice = 20;
constexpr std::size_t kMostValue = std::size_t{64}
                                   << 10;  // of any attribute (XATTR_SIZE_MAX): there is no part of one

constexpr MPI_Count kUnits = MPI_Count{64} << 10;  // of which a unit is a multiple
constexpr MPI_Count kMostUnit = (MPI_Count{1} << 32) - kUnits;
constexpr MPI_Count kMostFactor = 2000;

}  // namespace

bool can_stripe(long file_system) noexcept {
  return file_system == kLustre;
}

// "Without layout", in all versions of Lustre: a bit of its own, which the kernel does not know, and two that say nothing
// of an ordinary file.
const int kOpenWithoutLayout = 0100000000 | O_NOCTTY | O_ASYNC;

LayoutCalls g_layout_calls{.set = ::fsetxattr, .get = ::fgetxattr};

int set_striping(int fd, const Striping& wanted) noexcept {
  Layout layout{};
  layout.magic = kVersion1;
  layout.pattern = kRoundRobin;
  const MPI_Count unit = std::min(wanted.unit, kMostUnit);
  layout.unit = static_cast<std::uint32_t>((unit + kUnits - 1) / kUnits * kUnits);
  layout.factor = static_cast<std::uint16_t>(std::min(wanted.factor, kMostFactor));
  layout.first = wanted.first >= 0 && wanted.first < kAny ? static_cast<std::uint16_t>(wanted.first) : kAny;
  return g_layout_calls.set(fd, kAttribute, &layout, sizeof layout, 0) == 0 ? 0 : errno;
}

Striping striping_of(int fd) noexcept {
  const std::unique_ptr<std::byte[]> value(new (std::nothrow) std::byte[kMostValue]);
  if (value == nullptr) return {};
  const ssize_t size = g_layout_calls.get(fd, kAttribute, value.get(), kMostValue);
  Layout layout;
  if (size < static_cast<ssize_t>(sizeof layout)) return {};
  std::memcpy(&layout, value.get(), sizeof layout);
  if (layout.magic != kVersion1 && layout.magic != kVersion3)
    return {};  // several layouts, one behind the other
  Striping striping{.unit = layout.unit, .factor = layout.factor};
  const std::size_t objects = sizeof layout + (layout.magic == kVersion3 ? kPoolName : 0);
  std::uint32_t device;
  if (objects + kObject <= static_cast<std::size_t>(size)) {
    std::memcpy(&device, value.get() + objects + kDevice, sizeof device);
    striping.first = device;
  }
  return striping;
}

}  // namespace tmpi::mpi
