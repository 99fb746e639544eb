// Api: the functions of libibverbs that the transport calls, as a table: the library is loaded when somebody asks
// for it, so that no program needs it, and tests put a device of their own behind the table. Posting and polling
// (ibv_post_send, ibv_poll_cq, ...) are inline in <infiniband/verbs.h> and go through the device's own table.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "base/result.hpp"

namespace tmpi::net::verbs {

struct Api {
  decltype(&ibv_get_device_list) get_device_list;
  decltype(&ibv_free_device_list) free_device_list;
  decltype(&ibv_open_device) open_device;
  decltype(&ibv_close_device) close_device;
  decltype(&ibv_query_device) query_device;
  int (*query_port_compat)(ibv_context*, std::uint8_t, _compat_ibv_port_attr*);
  decltype(&_ibv_query_gid_table) query_gid_table;
  decltype(&ibv_alloc_pd) alloc_pd;
  decltype(&ibv_dealloc_pd) dealloc_pd;
  ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int);
  decltype(&ibv_dereg_mr) dereg_mr;
  decltype(&ibv_create_comp_channel) create_comp_channel;
  decltype(&ibv_destroy_comp_channel) destroy_comp_channel;
  decltype(&ibv_create_cq) create_cq;
  decltype(&ibv_destroy_cq) destroy_cq;
  decltype(&ibv_get_cq_event) get_cq_event;
  decltype(&ibv_ack_cq_events) ack_cq_events;
  decltype(&ibv_create_srq) create_srq;
  decltype(&ibv_destroy_srq) destroy_srq;
  decltype(&ibv_create_qp) create_qp;
  decltype(&ibv_modify_qp) modify_qp;
  decltype(&ibv_destroy_qp) destroy_qp;
  decltype(&ibv_get_async_event) get_async_event;
  decltype(&ibv_ack_async_event) ack_async_event;
  decltype(&ibv_fork_init) fork_init;

  /// ibv_query_port() of the header refers to the library by name.
  int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr& attributes) const noexcept;
};

/// libibverbs.so.1, loaded with the first call. Failure: it is not installed, or too old. Any thread.
Result<const Api*> system_api();

}  // namespace tmpi::net::verbs
