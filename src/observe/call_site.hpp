// CallSite: a place in the program from which MPI is called, as reports name it.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>

namespace tmpi::observe {

struct CallSite {
  std::string object;      ///< path of the program or library, empty if unknown
  std::size_t offset = 0;  ///< return address in it; of several, one
  std::string caller;      ///< function that makes the call, empty if unknown
  std::string file;        ///< empty if compiled without -g
  int line = 0;

  /// "heat2d.c:131", or the best that is known: "exchange (heat2d)", "heat2d+0x12f3".
  std::string label() const;
};

/// What tells the call sites of an object apart: file, line and function where they are known, since compilers
/// make several calls of one (of loops that they unroll or split), else the return address.
using SiteIdentity = std::tuple<std::string, int, std::string, std::size_t>;
SiteIdentity identity(const CallSite& site);

}  // namespace tmpi::observe
