#include "command.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "words.hpp"

using namespace tmpi::wrapper;

namespace {

const Installation kInstallation{
    .include = "/p/include", .library = "/p/lib", .start = "/p/lib/tmpi/start.o"};

std::string command(const char* line, const char* wrapper = "tmpicc", const char* compiler = "cc") {
  const Words words = split_words(line);
  return shell_line(full_command({*language_of(wrapper), {compiler}}, kInstallation, *examine(words), words));
}

}  // namespace

TEST_CASE("options stand where they must") {
  CHECK(command("-v") == "cc -v");
  CHECK(command("-fPIE -c a.c") ==
        "cc -I/p/include -fstack-clash-protection --param=stack-clash-protection-guard-size=16 "
        "--param=stack-clash-protection-probe-interval=16 -mtls-dialect=gnu2 -fPIE -c a.c -fPIC "
        "-fno-semantic-interposition");
  CHECK(command("a.o -pie -o a") ==
        "cc -shared /p/lib/tmpi/start.o -Wl,-e,_start -Wl,-z,defs a.o -o a -Wl,-Bsymbolic -Wl,-z,now "
        "-Wl,-z,norelro -L/p/lib -ltmpi -Wl,-rpath,/p/lib");
  CHECK(command("-shared a.o -o liba.so") == "cc -shared a.o -o liba.so -L/p/lib -ltmpi -Wl,-rpath,/p/lib");
  CHECK(command("-r a.o -o b.o") == "cc -r a.o -o b.o");
  CHECK(command("-c a.s") == "cc -I/p/include -c a.s");
  CHECK(command("-c -- -odd.c") ==
        "cc -I/p/include -fstack-clash-protection --param=stack-clash-protection-guard-size=16 "
        "--param=stack-clash-protection-probe-interval=16 -mtls-dialect=gnu2 -c -fPIC "
        "-fno-semantic-interposition -- -odd.c");
}

TEST_CASE("the user's libraries come before libtmpi") {
  const std::string text = command("a.c libphysics.a -lm -o a");
  CHECK(text.find("libphysics.a") < text.find("-ltmpi"));
  CHECK(text.find("start.o") < text.find("a.c"));
}

TEST_CASE("a link by hand gets the form of a program, from a file of specs where the compiler reads one") {
  const auto options = [](const Words& compiler) {
    return shell_line(link_options({*language_of("tmpicc"), compiler}, kInstallation));
  };
  const std::string specs =
      "-B/p/lib/tmpi -specs=/p/lib/tmpi/program.specs -L/p/lib -ltmpi -Wl,-rpath,/p/lib";
  for (const char* compiler :
       {"gcc", "g++", "/usr/bin/x86_64-linux-gnu-gcc-12", "ccache gcc -m64", "cc", "c++", "gcc-12", "g++-12"})
    CHECK_MESSAGE(options(split_words(compiler)) == specs, compiler);
  for (const char* compiler : {"clang", "clang++-15", "tcc", "icx"})
    CHECK_MESSAGE(options(split_words(compiler)).starts_with("-shared /p/lib/tmpi/start.o "), compiler);
}

TEST_CASE("thread-locals are reached through descriptors in programs, not in libraries") {
  const auto descriptors = [](const char* line) {
    return command(line).find("-mtls-dialect=gnu2") != std::string::npos;
  };
  for (const char* line : {"-c a.c", "a.c -o a", "-fPIC -fPIE -c a.c", "a.c b.o -lm"})
    CHECK_MESSAGE(descriptors(line), line);
  for (const char* line : {"-fPIC -c a.c", "-c a.c -fpic", "-shared a.c -o liba.so", "a.o -o a"})
    CHECK_FALSE_MESSAGE(descriptors(line), line);
  CHECK(thread_local_options({"clang"}, {.compiles = true}).empty());
}

TEST_CASE("clang is told to link a sanitizer's library; where it has none that is said") {
  CHECK(command("-fsanitize=address,undefined a.o -o a", "tmpicc", "clang-14").find(" -shared-libsan ") !=
        std::string::npos);
  CHECK(command("-fsanitize=address a.o -o a").find("-shared-libsan") == std::string::npos);
  CHECK(command("-fsanitize=address -c a.c", "tmpicc", "clang").find("-shared-libsan") == std::string::npos);
  const auto check = [](const char* line, const char* compiler) {
    return check_sanitizers({*language_of("tmpicc"), {compiler}}, *examine(split_words(line)));
  };
  CHECK_FALSE(check("-fsanitize=leak a.c", "clang"));
  for (const char* line : {"-fsanitize=address,leak a.c", "-fsanitize=leak -c a.c", "a.c"})
    CHECK_MESSAGE(check(line, "clang"), line);
  CHECK(check("-fsanitize=leak a.c", "gcc"));
}

TEST_CASE("frames are probed where that costs nothing") {
  const Words gcc = careful_options({*language_of("tmpicc"), {"gcc"}});
  CHECK(std::ranges::find(gcc, "-fstack-clash-protection") != gcc.end());
  CHECK(careful_options({*language_of("tmpicc"), {"clang"}}).empty());
}

TEST_CASE("Fortran has modules and a library of its own") {
  CHECK(command("-c a.f90", "mpif90", "flang") == "flang -I/p/include -I/p/lib/tmpi/modules -c a.f90 -fPIC");
  CHECK(command("-shared a.o -o liba.so", "tmpifort", "gfortran") ==
        "gfortran -shared a.o -o liba.so -L/p/lib -ltmpifort -ltmpi -Wl,-rpath,/p/lib");
  CHECK(command("-c a.f", "tmpifort", "gfortran-12").find("-fallow-argument-mismatch") != std::string::npos);
  CHECK_FALSE(examine({"a.f90", "-static-libgfortran"}));
}
