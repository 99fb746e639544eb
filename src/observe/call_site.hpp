// CallSite: a place in the program from which MPI is called, as reports name it.
#pragma once

#include <cstddef>
#include <string>

namespace tmpi::observe {

struct CallSite {
  std::string object;      ///< path of the program or library, empty if unknown
  std::size_t offset = 0;  ///< return address in it
  std::string caller;      ///< function that makes the call, empty if unknown
  std::string file;        ///< empty if compiled without -g
  int line = 0;

  /// "heat2d.c:131", or the best that is known: "exchange (heat2d)", "heat2d+0x12f3".
  std::string label() const;
};

}  // namespace tmpi::observe
