// Fabric: the objects of libfabric that a transport needs, opened: one endpoint, its completion queue, its address table.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <memory>
#include <string>
#include <vector>

#include "net/ofi/providers.hpp"

namespace tmpi::net::ofi {

struct Closer {
  template <class Object>
  void operator()(Object* object) const noexcept {
    fi_close(&object->fid);
  }
};
template <class Object>
using Owned = std::unique_ptr<Object, Closer>;

/// Memory that the provider may use.
using Registered = Owned<fid_mr>;

class Fabric {
 public:
  /// Failure: with what libfabric says.
  static Result<std::unique_ptr<Fabric>> open(const Api& api, const Settings& settings, bool same_machine);

  const Api& api() const noexcept { return api_; }
  const fi_info& info() const noexcept { return *info_; }
  std::string provider() const { return info_->fabric_attr->prov_name; }
  /// Provider, interface and address, for -v.
  std::string describe() const;
  /// Nothing is sent, received or read any more.
  void close_endpoint() noexcept { endpoint_.reset(); }
  fid_ep* endpoint() const noexcept { return endpoint_.get(); }
  fid_cq* completions() const noexcept { return completions_.get(); }
  /// Readable when there is a completion; -1: this provider has no such descriptor.
  int wait_fd() const noexcept { return wait_fd_; }
  /// Whoever waits for wait_fd(), if there is one, misses nothing.
  bool may_wait() noexcept;

  /// This endpoint's address, as bytes.
  const std::vector<std::byte>& name() const noexcept { return name_; }
  /// Puts a peer's into the address table. FI_ADDR_NOTAVAIL: it is none.
  fi_addr_t insert(const std::vector<std::byte>& name) noexcept;

  /// What the transport itself sends from and reads into has to be registered.
  bool registers_local() const noexcept { return (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0; }
  /// Remote memory is named by its address there, not by the distance from its begin.
  bool names_by_address() const noexcept { return (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0; }
  /// Null: it cannot be registered (`error` of libfabric).
  Registered register_memory(const void* buffer, std::size_t bytes, std::uint64_t access,
                             int& error) noexcept;

 private:
  Fabric(const Api& api, Info info) : api_(api), info_(std::move(info)) {}
  Result<void> open_all();
  Failure cannot(const char* what, int error) const;

  const Api& api_;
  Info info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> addresses_;
  Owned<fid_cq> completions_;
  Owned<fid_ep> endpoint_;
  int wait_fd_ = -1;
  std::vector<std::byte> name_;
};

}  // namespace tmpi::net::ofi
