// What --trace FILE.otf2 says of itself where OTF2's headers were missing when tmpi was built.
#include "observe/trace_otf2.hpp"

namespace tmpi::observe {

Result<void> can_write_otf2(const std::string&) {
  return Failure{
      "this tmpi was built without OTF2 (its headers were missing: Debian's libopen-trace-format2-dev); name "
      "a file "
      "without .otf2, which becomes a trace for Perfetto, or build tmpi anew with them"};
}

Result<void> write_trace_otf2(const std::string& path, const JobTrace&) {
  return can_write_otf2(path);
}

}  // namespace tmpi::observe
