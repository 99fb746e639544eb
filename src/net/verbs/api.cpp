#include "net/verbs/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstring>

namespace tmpi::net::verbs {
namespace {

constexpr char kLibrary[] = "libibverbs.so.1";

struct Loaded {
  Api api{};
  std::string why;  // it cannot be used
};

// Since Linux 5.12 a child of fork() gets copies of registered pages. Before, either the child or the adapter would go on
// with pages that are not the parent's, unless libibverbs hides registered pages from children.
bool copies_on_fork() {
  utsname system{};
  int major = 0, minor = 0;
  return uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 5 || (major == 5 && minor >= 12));
}

Loaded load() {
  Loaded loaded;
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.why = fmt::format(
        "--net verbs needs {}, which cannot be loaded ({}): install Debian's libibverbs1 and "
        "ibverbs-providers, "
        "or use --net tcp",
        kLibrary, dlerror());
    return loaded;
  }
  const auto take = [&](auto& function, const char* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr && loaded.why.empty())
      loaded.why = fmt::format("--net verbs: {} is too old: it has no {}; use --net tcp", kLibrary, name);
    std::memcpy(&function, &found, sizeof found);
  };
  Api& api = loaded.api;
  take(api.get_device_list, "ibv_get_device_list");
  take(api.free_device_list, "ibv_free_device_list");
  take(api.open_device, "ibv_open_device");
  take(api.close_device, "ibv_close_device");
  take(api.query_device, "ibv_query_device");
  take(api.query_port_compat, "ibv_query_port");
  take(api.query_gid_table, "_ibv_query_gid_table");
  take(api.alloc_pd, "ibv_alloc_pd");
  take(api.dealloc_pd, "ibv_dealloc_pd");
  take(api.reg_mr, "ibv_reg_mr");
  take(api.dereg_mr, "ibv_dereg_mr");
  take(api.create_comp_channel, "ibv_create_comp_channel");
  take(api.destroy_comp_channel, "ibv_destroy_comp_channel");
  take(api.create_cq, "ibv_create_cq");
  take(api.destroy_cq, "ibv_destroy_cq");
  take(api.get_cq_event, "ibv_get_cq_event");
  take(api.ack_cq_events, "ibv_ack_cq_events");
  take(api.create_srq, "ibv_create_srq");
  take(api.destroy_srq, "ibv_destroy_srq");
  take(api.create_qp, "ibv_create_qp");
  take(api.modify_qp, "ibv_modify_qp");
  take(api.destroy_qp, "ibv_destroy_qp");
  take(api.get_async_event, "ibv_get_async_event");
  take(api.ack_async_event, "ibv_ack_async_event");
  take(api.fork_init, "ibv_fork_init");
  if (loaded.why.empty() && !copies_on_fork()) api.fork_init();
  return loaded;
}

}  // namespace

int Api::query_port(ibv_context* context, std::uint8_t port, ibv_port_attr& attributes) const noexcept {
  std::memset(&attributes, 0, sizeof attributes);
  verbs_context* const extended = verbs_get_ctx_op(context, query_port);
  if (extended != nullptr) return extended->query_port(context, port, &attributes, sizeof attributes);
  return query_port_compat(context, port, reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
}

Result<const Api*> system_api() {
  static const Loaded loaded = load();
  if (!loaded.why.empty()) return Failure{loaded.why};
  return &loaded.api;
}

}  // namespace tmpi::net::verbs
