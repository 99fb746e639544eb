// Device: one port of an adapter, opened: where the others find it, what it can do, and what all queue pairs of this
// node share. Chooses adapter, port and address.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "net/verbs/api.hpp"
#include "net/verbs/settings.hpp"

namespace tmpi::net::verbs {

/// Where node processes of one machine that may choose between equally near adapters begin.
struct Turn {
  bool same_machine = true;
  int node = 0;
};

class Device {
 public:
  /// Failure sentences: no adapter, no active port, no such port or GID; they say what there is and what to do.
  static Result<std::unique_ptr<Device>> open(const Api& api, const Settings& settings, Turn turn);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Api& api;
  ibv_context* context = nullptr;
  ibv_pd* domain = nullptr;
  ibv_comp_channel* channel = nullptr;  ///< its descriptor does not block, nor does context->async_fd
  std::string name;
  std::uint8_t port = 1;
  ibv_device_attr attributes{};
  ibv_port_attr port_attributes{};
  ibv_gid gid{};
  int gid_index = 0;
  bool ethernet = false;
  bool roce_v1 = false;
  int numa_node = -1;
  int memory_node = -1;           // numa_node, or the nearest that has memory for this process
  std::uint32_t most_inline = 0;  ///< bytes that a work request can carry itself
  bool windows = false;           ///< memory windows of type 2 work
  bool software = false;          ///< Linux's software RoCE: Link::stop()

  /// "mlx5_0 port 1".
  std::string where() const;
  /// For -v.
  std::string describe() const;
  /// Attributes by which a queue pair reaches `lid` and `gid`.
  ibv_ah_attr way_to(std::uint16_t lid, const std::uint8_t (&gid)[16]) const noexcept;
  /// A queue pair of this device, in state INIT. Null, and errno: there is none.
  ibv_qp* make_queue_pair(ibv_cq* sends, ibv_cq* receives, ibv_srq* queue,
                          std::uint32_t depth) const noexcept;

 private:
  explicit Device(const Api& functions) : api(functions) {}
  Result<void> choose(const Settings& settings, Turn turn);
  Result<void> choose_gid(const Settings& settings);
  Result<void> prepare();
  void probe_inline() noexcept;
};

/// The address as users know it: "10.0.0.1" if it is one of IPv4, else of IPv6.
std::string gid_text(const ibv_gid& gid);

/// Failure of an allocation at the device, with the limit on locked memory named if that may be the reason.
Failure cannot(const Device& device, const std::string& what, int error);

}  // namespace tmpi::net::verbs
