#include "command.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "words.hpp"

using namespace tmpi::wrapper;

namespace {

const Installation kInstallation{
    .include = "/p/include", .library = "/p/lib", .start = "/p/lib/tmpi/start.o"};

std::string command(const char* line) {
  const Words words = split_words(line);
  return shell_line(full_command({"cc"}, kInstallation, *examine(words), words));
}

}  // namespace

TEST_CASE("options stand where they must") {
  CHECK(command("-v") == "cc -v");
  CHECK(command("-fPIE -c a.c") == "cc -I/p/include -fPIE -c a.c -fPIC -fno-semantic-interposition");
  CHECK(command("a.o -pie -o a") ==
        "cc -shared /p/lib/tmpi/start.o -Wl,-e,_start -Wl,-z,defs a.o -o a -Wl,-Bsymbolic -Wl,-z,now "
        "-Wl,-z,norelro -L/p/lib -ltmpi -Wl,-rpath,/p/lib");
  CHECK(command("-shared a.o -o liba.so") == "cc -shared a.o -o liba.so -L/p/lib -ltmpi -Wl,-rpath,/p/lib");
  CHECK(command("-r a.o -o b.o") == "cc -r a.o -o b.o");
  CHECK(command("-c a.s") == "cc -I/p/include -c a.s");
  CHECK(command("-c -- -odd.c") == "cc -I/p/include -c -fPIC -fno-semantic-interposition -- -odd.c");
}

TEST_CASE("the user's libraries come before libtmpi") {
  const std::string text = command("a.c libphysics.a -lm -o a");
  CHECK(text.find("libphysics.a") < text.find("-ltmpi"));
  CHECK(text.find("start.o") < text.find("a.c"));
}
