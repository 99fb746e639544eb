#include "net/verbs/device.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <vector>

#include "base/numa.hpp"
#include "net/verbs/adapters.hpp"

namespace tmpi::net::verbs {
namespace {

constexpr char kOr[] = "or use --net tcp";
constexpr std::uint32_t kVendorOfSoftware = 0xffffff;  // what software RoCE says of itself

const char* state_text(ibv_port_state state) {
  constexpr const char* kTexts[] = {"without a state", "down",   "initializing",
                                    "armed",           "active", "active, deferred"};
  const auto index = static_cast<std::size_t>(state);
  return index < std::size(kTexts) ? kTexts[index] : "in an unknown state";
}

bool is_mapped_ipv4(const ibv_gid& gid) {
  constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, kPrefix, sizeof kPrefix) == 0;
}

bool is_link_local(const ibv_gid& gid) {
  return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
}

// How well a RoCE address suits: the larger the better, 0: not at all.
int worth(const ibv_gid_entry& entry) {
  if (entry.gid_type == IBV_GID_TYPE_ROCE_V1) return 1;
  if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) return 0;
  return is_mapped_ipv4(entry.gid) ? 4 : is_link_local(entry.gid) ? 2 : 3;
}

int mtu_bytes(ibv_mtu mtu) {
  return 128 << static_cast<int>(mtu);
}

// Gbit/s, about: the data rate of a lane by its code (the InfiniBand architecture's), times the lanes.
int rate_of(const ibv_port_attr& port) {
  constexpr struct {
    int code, rate;
  } kSpeeds[] = {{1, 2}, {2, 5}, {4, 10}, {8, 10}, {16, 14}, {32, 25}, {64, 50}, {128, 100}},
    kWidths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
  int rate = 0, lanes = 1;
  for (const auto& speed : kSpeeds) rate = speed.code == port.active_speed ? speed.rate : rate;
  for (const auto& width : kWidths) lanes = width.code == port.active_width ? width.rate : lanes;
  return rate * lanes;
}

// A port that could be used.
struct Candidate {
  ibv_device* device;
  std::string name;
  std::uint8_t port;
  // What is better, in this order: a host's second network is often an Ethernet for its administration.
  std::tuple<bool, int, int> worth;  // InfiniBand, rate, processors near it
};

struct DeviceList {
  const Api& api;
  int count = 0;
  ibv_device** devices;
  explicit DeviceList(const Api& functions) : api(functions), devices(functions.get_device_list(&count)) {}
  ~DeviceList() {
    if (devices != nullptr) api.free_device_list(devices);
  }
};

void set_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

std::string gid_text(const ibv_gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  if (is_mapped_ipv4(gid)) {
    inet_ntop(AF_INET, gid.raw + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, gid.raw, text, sizeof text);
  }
  return text;
}

Failure cannot(const Device& device, const std::string& what, int error) {
  if (error == ENOMEM || error == EAGAIN || error == EPERM)
    return Failure{
        fmt::format("--net verbs: {} cannot {} ({}): `ulimit -l` allows to lock {} of memory; raise it "
                    "(\"unlimited\" is usual, in "
                    "/etc/security/limits.conf, and for Slurm's daemons LimitMEMLOCK=infinity), {}",
                    device.where(), what, std::strerror(error), lockable_text(), kOr)};
  return Failure{
      fmt::format("--net verbs: {} cannot {} ({}); choose another adapter with --net verbs:NAME, {}",
                  device.where(), what, std::strerror(error), kOr)};
}

Result<std::unique_ptr<Device>> Device::open(const Api& api, const Settings& settings, Turn turn) {
  std::unique_ptr<Device> device(new Device(api));
  if (const auto chosen = device->choose(settings, turn); !chosen) return chosen.failure();
  if (const auto found = device->choose_gid(settings); !found) return found.failure();
  if (const auto ready = device->prepare(); !ready) return ready.failure();
  return device;
}

// The best active port of those that the user allows; on one machine, where the node processes of a job know nothing
// of each other's processors, each takes the next of equally good ones.
Result<void> Device::choose(const Settings& settings, Turn turn) {
  const DeviceList list(api);
  std::vector<Candidate> candidates;
  std::string others;  // what cannot be used, and why
  bool known = settings.device.empty();
  for (int i = 0; i < list.count; ++i) {
    const std::string adapter = list.devices[i]->name;
    if (!settings.device.empty() && settings.device != adapter) {
      others += fmt::format("{}{}", others.empty() ? "" : ", ", adapter);
      continue;
    }
    known = true;
    ibv_context* const opened = api.open_device(list.devices[i]);
    if (opened == nullptr) {
      others += fmt::format("{}{} cannot be opened ({})", others.empty() ? "" : ", ", adapter,
                            std::strerror(errno));
      continue;
    }
    ibv_device_attr attr{};
    const int ports = api.query_device(opened, &attr) == 0 ? attr.phys_port_cnt : 0;
    for (int number = 1; number <= ports; ++number) {
      if (settings.port != 0 && settings.port != number) continue;
      ibv_port_attr found{};
      if (api.query_port(opened, static_cast<std::uint8_t>(number), found) != 0) continue;
      if (found.state == IBV_PORT_ACTIVE) {
        candidates.push_back(
            {list.devices[i],
             adapter,
             static_cast<std::uint8_t>(number),
             {found.link_layer != IBV_LINK_LAYER_ETHERNET, rate_of(found), near_processors(adapter)}});
      } else {
        others += fmt::format("{}{} port {} is {}", others.empty() ? "" : ", ", adapter, number,
                              state_text(found.state));
      }
    }
    if (settings.port > ports)
      others += fmt::format("{}{} has {} port{}", others.empty() ? "" : ", ", adapter, ports,
                            ports == 1 ? "" : "s");
    api.close_device(opened);
  }
  if (list.count == 0)
    return Failure{fmt::format(
        "--net verbs: this host has no RDMA adapter (`ibv_devices` lists none): load its driver, {}", kOr)};
  if (!known)
    return Failure{
        fmt::format("--net verbs: there is no adapter \"{}\"; there are: {}", settings.device, others)};
  if (candidates.empty())
    return Failure{fmt::format(
        "--net verbs: no port of an RDMA adapter is active: {}; check cable, switch and subnet manager, {}",
        others, kOr)};
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
  const auto equal = std::count_if(candidates.begin(), candidates.end(),
                                   [&](const Candidate& each) { return each.worth == candidates[0].worth; });
  const Candidate& chosen = candidates[static_cast<std::size_t>(turn.same_machine ? turn.node % equal : 0)];
  name = chosen.name;
  port = chosen.port;
  context = api.open_device(chosen.device);
  if (context == nullptr || api.query_device(context, &attributes) != 0 ||
      api.query_port(context, port, port_attributes) != 0)
    return Failure{fmt::format("--net verbs: {} cannot be opened ({})", where(), std::strerror(errno))};
  numa_node = numa_node_of(name);
  memory_node = numa_node < 0 ? -1 : numa::nearest_with_memory(numa_node);
  software = attributes.vendor_id == kVendorOfSoftware;
  ethernet = port_attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
  return {};
}

Result<void> Device::choose_gid(const Settings& settings) {
  std::vector<ibv_gid_entry> table(1024);
  const ssize_t count = api.query_gid_table(context, table.data(), table.size(), 0, sizeof(ibv_gid_entry));
  table.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const ibv_gid_entry* best = nullptr;
  for (const ibv_gid_entry& entry : table) {
    if (entry.port_num != port) continue;
    if (settings.gid >= 0 ? entry.gid_index == static_cast<std::uint32_t>(settings.gid)
        : ethernet        ? worth(entry) > (best != nullptr ? worth(*best) : 0)
                          : best == nullptr)
      best = &entry;
  }
  if (best == nullptr && settings.gid >= 0)
    return Failure{fmt::format("--net verbs: {} has no GID with index {} (`ibv_devinfo -v -d {}` lists them)",
                               where(), settings.gid, name)};
  if (best == nullptr && ethernet)
    return Failure{fmt::format(
        "--net verbs: {} has no RoCE address: give its network interface an IP address, {}", where(), kOr)};
  if (best == nullptr) return {};  // InfiniBand inside one subnet needs none
  gid = best->gid;
  gid_index = static_cast<int>(best->gid_index);
  roce_v1 = best->gid_type == IBV_GID_TYPE_ROCE_V1;
  return {};
}

Result<void> Device::prepare() {
  domain = api.alloc_pd(context);
  if (domain == nullptr) return cannot(*this, "make a protection domain", errno);
  channel = api.create_comp_channel(context);
  if (channel == nullptr) return cannot(*this, "make a completion channel", errno);
  set_nonblocking(channel->fd);
  set_nonblocking(context->async_fd);
  probe_inline();
  windows = (attributes.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0;
  if (windows) {
    ibv_mw* const probe = ibv_alloc_mw(domain, IBV_MW_TYPE_2);
    windows = probe != nullptr;
    if (probe != nullptr) ibv_dealloc_mw(probe);
  }
  return {};
}

// What a work request can carry itself is known by trying.
void Device::probe_inline() noexcept {
  ibv_cq* const queue = api.create_cq(context, 16, nullptr, nullptr, 0);
  if (queue == nullptr) return;
  for (std::uint32_t wanted = 256; wanted >= 32; wanted /= 2) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = queue;
    init.cap = {
        .max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 2, .max_recv_sge = 1, .max_inline_data = wanted};
    init.qp_type = IBV_QPT_RC;
    if (ibv_qp* const pair = api.create_qp(domain, &init)) {
      most_inline = init.cap.max_inline_data;
      api.destroy_qp(pair);
      break;
    }
  }
  api.destroy_cq(queue);
}

Device::~Device() {
  if (channel != nullptr) api.destroy_comp_channel(channel);
  if (domain != nullptr) api.dealloc_pd(domain);
  if (context != nullptr) api.close_device(context);
}

std::string Device::where() const {
  return fmt::format("{} port {}", name, port);
}

std::string Device::describe() const {
  const std::string address =
      ethernet ? fmt::format("{}, GID {} {}", roce_v1 ? "RoCE v1" : "RoCE v2", gid_index, gid_text(gid))
               : fmt::format("InfiniBand, LID {}, GID {}", port_attributes.lid, gid_text(gid));
  const std::string node = numa_node < 0              ? std::string("unknown")
                           : memory_node == numa_node ? fmt::format("{}", numa_node)
                           : memory_node < 0
                               ? fmt::format("{} (libnuma.so.1 is not there: memory anywhere)", numa_node)
                               : fmt::format("{} (memory on {})", numa_node, memory_node);
  return fmt::format("{} ({}), NUMA node {}, MTU {}, inline {} bytes{}", where(), address, node,
                     mtu_bytes(port_attributes.active_mtu), most_inline,
                     windows ? "" : ", no memory windows: what others read is registered for each message");
}

ibv_ah_attr Device::way_to(std::uint16_t lid, const std::uint8_t (&to)[16]) const noexcept {
  ibv_ah_attr way{};
  way.port_num = port;
  way.dlid = lid;
  // Inside an InfiniBand subnet the LID is enough.
  way.is_global =
      ethernet || (port_attributes.flags & IBV_QPF_GRH_REQUIRED) != 0 || std::memcmp(gid.raw, to, 8) != 0;
  if (way.is_global != 0) {
    std::memcpy(way.grh.dgid.raw, to, sizeof to);
    way.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
    way.grh.hop_limit = 64;
  }
  return way;
}

ibv_qp* Device::make_queue_pair(ibv_cq* sends, ibv_cq* receives, ibv_srq* queue,
                                std::uint32_t depth) const noexcept {
  ibv_qp_init_attr init{};
  init.send_cq = sends;
  init.recv_cq = receives;
  init.srq = queue;
  init.cap = {.max_send_wr = depth,
              .max_recv_wr = 0,
              .max_send_sge = 2,
              .max_recv_sge = 0,
              .max_inline_data = most_inline};
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = 1;
  ibv_qp* const pair = api.create_qp(domain, &init);
  if (pair == nullptr) return nullptr;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = port;
  // Nobody writes here but by frames. What a peer may read says the window, or registration, that it is given.
  attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
  if (const int error =
          api.modify_qp(pair, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) {
    api.destroy_qp(pair);
    errno = error;
    return nullptr;
  }
  return pair;
}

}  // namespace tmpi::net::verbs
