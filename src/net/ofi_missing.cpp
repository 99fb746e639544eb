// What --net ofi says of itself where libfabric's headers were missing when tmpi was built.
#include "net/maker.hpp"

namespace tmpi::net {
namespace {

Failure left_out() {
  return Failure{
      "--net ofi: this tmpi was built without libfabric (its headers were missing: Debian's libfabric-dev); "
      "use "
      "--net tcp, or build tmpi anew with them"};
}

}  // namespace

const Maker kOfi = {
    "    (left out: this tmpi was built without libfabric's headers)\n",
    [](std::string_view, const Options&, Sink&) -> Result<std::unique_ptr<Transport>> { return left_out(); },
    [](std::string_view) -> Result<void> { return left_out(); }};

}  // namespace tmpi::net
