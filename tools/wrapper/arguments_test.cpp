#include "arguments.hpp"

#include <doctest/doctest.h>

#include "language.hpp"
#include "words.hpp"

using namespace tmpi::wrapper;

namespace {

Action action(const char* line) {
  auto result = examine(split_words(line));
  REQUIRE_MESSAGE(result, line);
  return result->action;
}

bool sources(const char* line) {
  auto result = examine(split_words(line));
  REQUIRE_MESSAGE(result, line);
  return result->has_sources;
}

std::string refusal(const char* line) {
  auto result = examine(split_words(line));
  REQUIRE_MESSAGE(!result, line);
  return result.message();
}

}  // namespace

TEST_CASE("without an input nothing is built") {
  for (const char* line :
       {"", "-v", "--version", "-dumpmachine", "-print-file-name=libc.so", "-print-prog-name=ld", "-V",
        "-qversion", "-###", "-O2 -L/usr/lib -o a.out", "-Wl,--version", "--help=optimizers"}) {
    CAPTURE(line);
    CHECK(action(line) == Action::kAsk);
  }
}

TEST_CASE("what stops before the linker") {
  for (const char* line :
       {"-c a.c", "a.c -c -o a.o", "-S a.c", "-E a.c", "-E -dM -x c /dev/null", "-M a.c", "-MM a.c",
        "-fsyntax-only a.c", "-x c++ -c -", "-E -", "-c -static a.c", "-c -no-pie a.c", "-c -shared a.c",
        "all.h", "-x c++-header all.hpp -o all.gch", "-x c-header all.inc"}) {
    CAPTURE(line);
    CHECK(action(line) == Action::kCompile);
  }
}

TEST_CASE("programs") {
  for (const char* line :
       {"a.c", "a.o", "a.o -o c", "a.c -MD -MF -c.d", "-x c++ -", "-lfoo", "-l foo", "liba.a", "-v a.c",
        "a.c -###", "-pie a.c", "-rdynamic a.o", "-o -c a.c", "-static-libgcc a.o", "-I -c a.c", "a.h b.c",
        "-Xlinker -s a.o", "-D -shared a.c", "--param inline-unit-growth=3 a.c"}) {
    CAPTURE(line);
    CHECK(action(line) == Action::kLinkProgram);
  }
}

TEST_CASE("other links") {
  CHECK(action("-shared a.o -o liba.so") == Action::kLinkShared);
  CHECK(action("a.o -Wl,-soname,x,-shared") == Action::kLinkShared);
  CHECK(action("-shared -nostdlib crti.o a.o") == Action::kLinkShared);
  CHECK(action("-r a.o b.o -o c.o") == Action::kLinkPartial);
  CHECK(action("-Wl,-r -nostdlib a.o") == Action::kLinkPartial);
  CHECK(action("a.o -Xlinker -r") == Action::kLinkPartial);
  CHECK(action("-nostartfiles a.o my_start.o") == Action::kLinkBare);
}

TEST_CASE("what is compiled and what goes to the linker as it is") {
  for (const char* line :
       {"a.o", "a.o b.a c.so d.so.1.2 -lm", "dir.c/a.o", "liba.lo", "-x none a.o", "dir/file", "-lfoo"}) {
    CAPTURE(line);
    CHECK(!sources(line));
  }
  for (const char* line : {"a.o b.c", "a.cpp", "a.S", "a.f90", "-x c -", "-x c a.o", "-xc++ file", "-"}) {
    CAPTURE(line);
    CHECK(sources(line));
  }
}

TEST_CASE("what cannot become a tmpi program is refused with a sentence that says what to do") {
  for (const char* line : {"-static a.c", "a.o -static-pie", "-no-pie a.c", "-Wl,-no-pie a.c", "-m32 a.c",
                           "-fsplit-stack a.c"}) {
    CAPTURE(line);
    CHECK(refusal(line).find("Leave the option out") != std::string::npos);
  }
  CHECK(refusal("-static a.c").starts_with("-static links a static program"));
}

TEST_CASE("options by which a program starts with denormals as zero") {
  const auto flushes = [](const char* line) { return examine(split_words(line))->flushes_denormals; };
  for (const char* line : {"-ffast-math a.c", "-Ofast a.o", "-O2 -funsafe-math-optimizations a.c -o a"})
    CHECK_MESSAGE(flushes(line), line);
  for (const char* line : {"-O3 a.c", "-ffast-math -fno-fast-math a.c", "-Ofast -mno-daz-ftz a.c"})
    CHECK_FALSE_MESSAGE(flushes(line), line);
}

TEST_CASE("the name chooses the language") {
  CHECK(language_of("/opt/tmpi/bin/tmpicc")->compiler == "gcc");
  CHECK(language_of("tmpicxx")->compiler == "g++");
  CHECK(language_of("mpic++") == language_of("tmpicxx"));
  CHECK(language_of("/usr/bin/mpiCC.tmpi") == language_of("tmpicxx"));
  CHECK(language_of("mpicc_abi") == language_of("tmpicc"));
  CHECK(language_of("mpicxx_abi") == language_of("tmpicxx"));
  CHECK(language_of("mpifort_abi") == language_of("tmpifort"));
  CHECK(language_of("gcc") == nullptr);
}
