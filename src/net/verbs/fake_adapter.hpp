// FakeAdapter: an adapter inside the process, for tests: what libibverbs would do, done at once by whoever posts. It
// is strict where adapters are: keys and ranges are checked, a frame that finds no buffer in the shared receive queue
// is counted, queues that overflow are failures, a queue pair in error flushes. Any number of transports may open it.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "net/verbs/api.hpp"
#include "net/verbs/hub.hpp"

namespace tmpi::net::verbs::fake {

struct Channel : ibv_comp_channel {
  std::deque<ibv_cq*> events;
};

struct Queue : ibv_cq {
  std::deque<ibv_wc> entries;
  std::size_t most = 0;
  bool notify = false;
};

struct Receive {
  std::uint64_t id;
  ibv_sge where;
};

struct Shared : ibv_srq {
  std::deque<Receive> buffers;
  std::size_t most = 0;
};

struct Pair : ibv_qp {
  bool stuck = false;            // nothing ends any more, well or badly
  std::uint64_t stopped_at = 0;  // nanoseconds; in state ERR
  std::uint32_t peer = 0, first = 0, expected = 0;
};

struct Memory : ibv_mr {
  int access = 0;
};

struct Window {
  ibv_mw mw;
  std::uint32_t key = 0;  // 0: not bound
  std::uint64_t address = 0, bytes = 0;
  unsigned access = 0;
  std::uint32_t pair = 0;
};

// All there is. `lock` guards everything.
struct World {
  std::mutex lock;
  std::map<std::uint32_t, Pair*> pairs;
  std::map<std::uint32_t, Memory*> memory;
  std::vector<Window*> windows;
  std::vector<ibv_context*> open;
  std::deque<ibv_async_event> events;
  std::uint32_t next_pair = 17, next_key = 100;
  std::size_t registered_bytes = 0;

  // What tests set, and look at.
  const std::byte* unreadable = nullptr;   ///< no page that may be registered
  std::size_t most_registered = SIZE_MAX;  ///< bytes; more: ENOMEM, as from a low `ulimit -l`
  ibv_port_state port_state = IBV_PORT_ACTIVE;
  ibv_wc_status break_next = IBV_WC_SUCCESS;  ///< the next request ends so
  bool swallow_next =
      false;  ///< the next request, and what is posted to the same queue pair later, never ends
  int adapters = 1;
  int infiniband = -1;  ///< the number of the one that is not on Ethernet
  bool has_windows = true;
  bool software = false;                       ///< says that it is software RoCE
  std::uint64_t resets = 0, hasty_resets = 0;  ///< of pairs that had not been in state ERR for a millisecond
  std::uint64_t frames_without_buffer = 0, overflows = 0, reads = 0, binds = 0, receive_posts = 0, polls = 0;
};

inline World& world() {
  static World the_world;
  return the_world;
}

inline void push(ibv_cq* cq, const ibv_wc& entry) {
  auto& queue = *static_cast<Queue*>(cq);
  if (queue.entries.size() >= queue.most) ++world().overflows;
  queue.entries.push_back(entry);
  if (!queue.notify) return;
  queue.notify = false;
  auto* const channel = static_cast<Channel*>(cq->channel);
  channel->events.push_back(cq);
  eventfd_write(channel->fd, 1);
}

// [address, address + bytes) is inside memory that the key names, with this access.
inline bool covers(std::uint32_t key, std::uint64_t address, std::uint64_t bytes, int access) {
  const auto found = world().memory.find(key);
  if (found == world().memory.end()) return false;
  const Memory& memory = *found->second;
  const auto base = reinterpret_cast<std::uintptr_t>(memory.addr);
  return (memory.access & access) == access && address >= base && address - base <= memory.length &&
         bytes <= memory.length - (address - base);
}

inline bool may_reach(const Pair& target, std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                      int access) {
  if (covers(key, address, bytes, access)) return true;
  for (const Window* window : world().windows) {
    if (window->key == key && window->pair == target.qp_num &&
        (window->access & static_cast<unsigned>(access)) != 0 && address >= window->address &&
        address - window->address <= window->bytes && bytes <= window->bytes - (address - window->address))
      return true;
  }
  return false;
}

inline ibv_wc_status carry_out(Pair& pair, const ibv_send_wr& request, Pair* target) {
  World& all = world();
  std::uint64_t bytes = 0;
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& piece = request.sg_list[i];
    bytes += piece.length;
    const int access = request.opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_LOCAL_WRITE : 0;
    if ((request.send_flags & IBV_SEND_INLINE) == 0 && !covers(piece.lkey, piece.addr, piece.length, access))
      return IBV_WC_LOC_PROT_ERR;
  }
  if (request.opcode == IBV_WR_BIND_MW) {
    ++all.binds;
    auto& window = *reinterpret_cast<Window*>(request.bind_mw.mw);
    const ibv_mw_bind_info& info = request.bind_mw.bind_info;
    if (window.key != 0 || !covers(info.mr->lkey, info.addr, info.length, IBV_ACCESS_MW_BIND))
      return IBV_WC_MW_BIND_ERR;
    window.key = request.bind_mw.rkey;
    window.address = info.addr;
    window.bytes = info.length;
    window.access = info.mw_access_flags;
    window.pair = pair.qp_num;
    return IBV_WC_SUCCESS;
  }
  if (request.opcode == IBV_WR_LOCAL_INV) {
    for (Window* window : all.windows) {
      if (window->key != request.invalidate_rkey) continue;
      window->mw.rkey = window->key;
      window->key = 0;
      return IBV_WC_SUCCESS;
    }
    return IBV_WC_MW_BIND_ERR;
  }
  if (target == nullptr || target->state == IBV_QPS_ERR || target->state == IBV_QPS_RESET ||
      target->state == IBV_QPS_INIT || target->peer != pair.qp_num || target->expected != pair.first)
    return IBV_WC_RETRY_EXC_ERR;
  if (request.opcode == IBV_WR_RDMA_READ || request.opcode == IBV_WR_RDMA_WRITE) {
    const bool read = request.opcode == IBV_WR_RDMA_READ;
    all.reads += read ? 1 : 0;
    const std::uint64_t remote = request.wr.rdma.remote_addr;
    if (!may_reach(*target, request.wr.rdma.rkey, remote, bytes,
                   read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE))
      return IBV_WC_REM_ACCESS_ERR;
    auto* const there = reinterpret_cast<char*>(remote);
    auto* const here = reinterpret_cast<char*>(request.sg_list[0].addr);
    std::memcpy(read ? here : there, read ? there : here, bytes);
    return IBV_WC_SUCCESS;
  }
  auto& shared = *static_cast<Shared*>(target->srq);
  if (shared.buffers.empty()) {
    ++all.frames_without_buffer;
    return IBV_WC_RNR_RETRY_EXC_ERR;
  }
  const Receive buffer = shared.buffers.front();
  shared.buffers.pop_front();
  if (bytes > buffer.where.length ||
      !covers(buffer.where.lkey, buffer.where.addr, bytes, IBV_ACCESS_LOCAL_WRITE))
    return IBV_WC_REM_INV_REQ_ERR;
  auto* to = reinterpret_cast<char*>(buffer.where.addr);
  for (int i = 0; i < request.num_sge; ++i) {
    std::memcpy(to, reinterpret_cast<const void*>(request.sg_list[i].addr), request.sg_list[i].length);
    to += request.sg_list[i].length;
  }
  ibv_wc arrived{};
  arrived.wr_id = buffer.id;
  arrived.byte_len = static_cast<std::uint32_t>(bytes);
  arrived.qp_num = target->qp_num;
  push(target->recv_cq, arrived);
  return IBV_WC_SUCCESS;
}

inline int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr**) {
  World& all = world();
  const std::lock_guard guard(all.lock);
  auto& pair = static_cast<Pair&>(*qp);
  ibv_wc done{};
  done.wr_id = request->wr_id;
  done.qp_num = qp->qp_num;
  if (qp->state == IBV_QPS_ERR) {
    done.status = IBV_WC_WR_FLUSH_ERR;
  } else if (qp->state != IBV_QPS_RTS) {
    return EINVAL;
  } else if (pair.stuck = std::exchange(all.swallow_next, false) || pair.stuck; pair.stuck) {
    return 0;
  } else {
    const auto found = all.pairs.find(pair.peer);
    done.status = std::exchange(all.break_next, IBV_WC_SUCCESS);
    if (done.status == IBV_WC_SUCCESS)
      done.status = carry_out(pair, *request, found == all.pairs.end() ? nullptr : found->second);
    if (done.status != IBV_WC_SUCCESS) qp->state = IBV_QPS_ERR;
  }
  push(qp->send_cq, done);
  return 0;
}

inline int poll_queue(ibv_cq* cq, int most, ibv_wc* entries) {
  const std::lock_guard guard(world().lock);
  auto& queue = *static_cast<Queue*>(cq);
  ++world().polls;
  int count = 0;
  for (; count < most && !queue.entries.empty(); ++count) {
    entries[count] = queue.entries.front();
    queue.entries.pop_front();
  }
  return count;
}

inline int request_notice(ibv_cq* cq, int) {
  const std::lock_guard guard(world().lock);
  static_cast<Queue*>(cq)->notify = true;
  return 0;
}

inline int post_receive(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr**) {
  const std::lock_guard guard(world().lock);
  auto& shared = *static_cast<Shared*>(srq);
  ++world().receive_posts;
  for (; request != nullptr; request = request->next) {
    if (shared.buffers.size() >= shared.most) return ENOMEM;
    shared.buffers.push_back({request->wr_id, request->sg_list[0]});
  }
  return 0;
}

inline ibv_mw* alloc_window(ibv_pd* pd, ibv_mw_type type) {
  const std::lock_guard guard(world().lock);
  if (!world().has_windows) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto* const window = new Window{};
  window->mw.context = pd->context;
  window->mw.pd = pd;
  window->mw.type = type;
  window->mw.rkey = world().next_key += 256;
  world().windows.push_back(window);
  return &window->mw;
}

inline int dealloc_window(ibv_mw* mw) {
  const std::lock_guard guard(world().lock);
  auto* const window = reinterpret_cast<Window*>(mw);
  std::erase(world().windows, window);
  delete window;
  return 0;
}

inline ibv_device* devices(int index) {
  static ibv_device all[4];
  std::snprintf(all[index].name, sizeof all[index].name, "fake%d", index);
  return &all[index];
}

inline ibv_device** get_devices(int* count) {
  auto** const list = new ibv_device* [5] {};
  *count = world().adapters;
  for (int i = 0; i < *count; ++i) list[i] = devices(i);
  return list;
}

inline ibv_context* open_adapter(ibv_device* device) {
  auto* const context = new ibv_context{};
  context->device = device;
  context->ops.post_send = post_send;
  context->ops.poll_cq = poll_queue;
  context->ops.req_notify_cq = request_notice;
  context->ops.post_srq_recv = post_receive;
  context->ops.alloc_mw = alloc_window;
  context->ops.dealloc_mw = dealloc_window;
  context->async_fd = eventfd(0, EFD_NONBLOCK);
  const std::lock_guard guard(world().lock);
  world().open.push_back(context);
  return context;
}

inline int close_adapter(ibv_context* context) {
  const std::lock_guard guard(world().lock);
  std::erase(world().open, context);
  close(context->async_fd);
  delete context;
  return 0;
}

inline int query_adapter(ibv_context*, ibv_device_attr* attributes) {
  *attributes = {};
  attributes->phys_port_cnt = 1;
  attributes->vendor_id = world().software ? 0xffffff : 0x02c9;
  attributes->max_cqe = 1 << 20;
  attributes->max_srq_wr = 1 << 15;
  attributes->max_qp_wr = 1 << 14;
  attributes->max_qp_rd_atom = attributes->max_qp_init_rd_atom = 16;
  attributes->device_cap_flags = IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  return 0;
}

inline int query_port(ibv_context* context, std::uint8_t, _compat_ibv_port_attr* to) {
  auto* const attributes = reinterpret_cast<ibv_port_attr*>(to);
  attributes->state = world().port_state;
  const bool infiniband = world().infiniband >= 0 && context->device == devices(world().infiniband);
  attributes->link_layer = infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  attributes->active_mtu = IBV_MTU_4096;
  attributes->max_msg_sz = 1u << 31;
  attributes->lid = 7;
  return 0;
}

inline ssize_t query_gids(ibv_context*, ibv_gid_entry* entries, std::size_t, std::uint32_t, std::size_t) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    entries[i] = {};
    entries[i].gid_index = i;
    entries[i].port_num = 1;
    entries[i].gid_type = i == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
    entries[i].gid.raw[0] = 0xfe;
    entries[i].gid.raw[1] = 0x80;
  }
  const std::uint8_t ten[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3};
  std::memcpy(entries[2].gid.raw, ten, sizeof ten);
  return 3;
}

inline ibv_pd* alloc_domain(ibv_context* context) {
  return new ibv_pd{context, 0};
}

inline int dealloc_domain(ibv_pd* domain) {
  delete domain;
  return 0;
}

inline ibv_mr* register_memory(ibv_pd* domain, void* start, std::size_t bytes, int access) {
  World& all = world();
  const std::lock_guard guard(all.lock);
  if (bytes > all.most_registered - std::min(all.most_registered, all.registered_bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (all.unreadable != nullptr && start <= all.unreadable &&
      all.unreadable < static_cast<std::byte*>(start) + bytes) {
    errno = EFAULT;
    return nullptr;
  }
  all.registered_bytes += bytes;
  auto* const memory = new Memory;
  static_cast<ibv_mr&>(*memory) = {domain->context, domain, start, bytes, 0, ++all.next_key, all.next_key};
  memory->rkey = memory->lkey;
  memory->access = access;
  all.memory[memory->lkey] = memory;
  return memory;
}

inline int deregister_memory(ibv_mr* mr) {
  World& all = world();
  const std::lock_guard guard(all.lock);
  all.memory.erase(mr->lkey);
  all.registered_bytes -= mr->length;
  delete static_cast<Memory*>(mr);
  return 0;
}

inline ibv_comp_channel* make_channel(ibv_context* context) {
  auto* const channel = new Channel{};
  channel->context = context;
  channel->fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
  return channel;
}

inline int destroy_channel(ibv_comp_channel* channel) {
  close(channel->fd);
  delete static_cast<Channel*>(channel);
  return 0;
}

inline ibv_cq* make_queue(ibv_context* context, int entries, void*, ibv_comp_channel* channel, int) {
  auto* const queue = new Queue{};
  queue->context = context;
  queue->channel = channel;
  queue->most = static_cast<std::size_t>(entries);
  return queue;
}

inline int destroy_queue(ibv_cq* queue) {
  delete static_cast<Queue*>(queue);
  return 0;
}

inline int get_event(ibv_comp_channel* to, ibv_cq** queue, void** context) {
  const std::lock_guard guard(world().lock);
  auto& channel = static_cast<Channel&>(*to);
  eventfd_t one = 0;
  if (eventfd_read(channel.fd, &one) != 0) return -1;
  *queue = channel.events.front();
  *context = nullptr;
  channel.events.pop_front();
  return 0;
}

inline void ack_events(ibv_cq*, unsigned) {}

inline ibv_srq* make_shared(ibv_pd* domain, ibv_srq_init_attr* init) {
  auto* const shared = new Shared{};
  shared->context = domain->context;
  shared->most = init->attr.max_wr;
  return shared;
}

inline int destroy_shared(ibv_srq* shared) {
  delete static_cast<Shared*>(shared);
  return 0;
}

inline ibv_qp* make_pair(ibv_pd* domain, ibv_qp_init_attr* init) {
  if (init->cap.max_inline_data > 128) {
    errno = EINVAL;
    return nullptr;
  }
  const std::lock_guard guard(world().lock);
  auto* const pair = new Pair{};
  pair->context = domain->context;
  pair->send_cq = init->send_cq;
  pair->recv_cq = init->recv_cq;
  pair->srq = init->srq;
  pair->qp_num = ++world().next_pair;
  world().pairs[pair->qp_num] = pair;
  return pair;
}

inline int modify_pair(ibv_qp* qp, ibv_qp_attr* attributes, int) {
  const std::lock_guard guard(world().lock);
  auto& pair = static_cast<Pair&>(*qp);
  if (attributes->qp_state == IBV_QPS_RESET) {
    ++world().resets;
    if (pair.state != IBV_QPS_ERR || nanoseconds_now() - pair.stopped_at < 1'000'000) ++world().hasty_resets;
  }
  pair.stopped_at = attributes->qp_state == IBV_QPS_ERR ? nanoseconds_now() : 0;
  pair.state = attributes->qp_state;
  if (pair.state == IBV_QPS_RTR) {
    pair.peer = attributes->dest_qp_num;
    pair.expected = attributes->rq_psn;
  }
  if (pair.state == IBV_QPS_RTS) pair.first = attributes->sq_psn;
  return 0;
}

inline int destroy_pair(ibv_qp* qp) {
  const std::lock_guard guard(world().lock);
  world().pairs.erase(qp->qp_num);
  delete static_cast<Pair*>(qp);
  return 0;
}

inline bool concerns_pair(ibv_event_type type) {
  return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR;
}

inline int get_async(ibv_context* context, ibv_async_event* event) {
  const std::lock_guard guard(world().lock);
  eventfd_t one = 0;
  if (eventfd_read(context->async_fd, &one) != 0 || world().events.empty()) return -1;
  *event = world().events.front();
  for (const auto& [number, pair] : world().pairs)
    if (concerns_pair(event->event_type) && pair->context == context) event->element.qp = pair;
  return 0;
}

inline void ack_async(ibv_async_event*) {}

/// The open adapters of this name say so; without a name all.
inline void announce(ibv_event_type type, std::string_view name = {}) {
  const std::lock_guard guard(world().lock);
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = 1;
  world().events = {event};
  for (const ibv_context* context : world().open)
    if (name.empty() || name == context->device->name) eventfd_write(context->async_fd, 1);
}

inline const Api& api() {
  static const Api functions = {
      .get_device_list = get_devices,
      .free_device_list = [](ibv_device** list) { delete[] list; },
      .open_device = open_adapter,
      .close_device = close_adapter,
      .query_device = query_adapter,
      .query_port_compat = query_port,
      .query_gid_table = query_gids,
      .alloc_pd = alloc_domain,
      .dealloc_pd = dealloc_domain,
      .reg_mr = register_memory,
      .dereg_mr = deregister_memory,
      .create_comp_channel = make_channel,
      .destroy_comp_channel = destroy_channel,
      .create_cq = make_queue,
      .destroy_cq = destroy_queue,
      .get_cq_event = get_event,
      .ack_cq_events = ack_events,
      .create_srq = make_shared,
      .destroy_srq = destroy_shared,
      .create_qp = make_pair,
      .modify_qp = modify_pair,
      .destroy_qp = destroy_pair,
      .get_async_event = get_async,
      .ack_async_event = ack_async,
      .fork_init = [] { return 0; },
  };
  return functions;
}

}  // namespace tmpi::net::verbs::fake
