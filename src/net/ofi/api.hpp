// Api: the functions of libfabric that the transport calls by name, as a table: the library is loaded when somebody asks
// for it, so that no program needs it. Everything else (fi_send, fi_cq_read, ...) is inline in libfabric's headers and goes
// through tables of the objects that these functions make.
#pragma once

#include <rdma/fabric.h>

#include <string>

#include "base/result.hpp"

namespace tmpi::net::ofi {

struct Api {
  decltype(&fi_getinfo) getinfo;
  decltype(&fi_freeinfo) freeinfo;
  decltype(&fi_dupinfo) dupinfo;
  decltype(&fi_fabric) fabric;
  decltype(&fi_strerror) strerror;
  decltype(&fi_version) version;

  /// What programs ask libfabric for: no newer than the headers, and than the library.
  std::uint32_t asked_version() const noexcept;
  /// "1.17".
  std::string version_text() const;
};

/// libfabric.so.1, loaded with the first call. Failure: it is not installed, or too old. Any thread.
Result<const Api*> system_api();

}  // namespace tmpi::net::ofi
