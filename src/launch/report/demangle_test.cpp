#include "launch/report/demangle.hpp"

#include <doctest/doctest.h>

namespace tmpi::launch {
namespace {

TEST_CASE("C++ names in reports become readable") {
  CHECK(demangle_words("#0 _ZN4heat4stepEi+0x12 (heat)") == "#0 heat::step(int)+0x12 (heat)");
  CHECK(demangle_words("#1 solve.localalias+0x4") == "#1 solve+0x4");
  CHECK(demangle_words("main+0x1 _Znotmangled") == "main+0x1 _Znotmangled");
}

}  // namespace
}  // namespace tmpi::launch
