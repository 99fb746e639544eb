// Whole programs under the loader: every rank checks from the inside that nothing of another rank shows.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/privatize/harness.hpp"
#include "ult/fiber.hpp"

using namespace tmpi::test;

namespace {

Outcome run_once(const RunOptions& options) {
  Outcome outcome = run(options);
  CAPTURE(options.program);
  CAPTURE(options.shim);
  CHECK(outcome.error == "");
  std::string failures;
  for (std::size_t i = 0; i < outcome.failures.size() && i < 10; ++i) failures += outcome.failures[i] + "\n";
  CHECK(failures == "");
  return outcome;
}

/// With the shim, as in a job, and without, so that the loader's own part is seen alone.
Outcome run_clean(RunOptions options) {
#ifdef TMPI_TEST_SHIM
  const Outcome bare = run_once(options);
  options.shim = TMPI_TEST_SHIM;
  const Outcome full = run_once(options);
  CHECK(bare.codes == full.codes);
  return full;
#else
  return run_once(options);
#endif
}

/// All variants of a program that could be built here: NAME and NAME-*.
std::vector<std::string> variants(const std::string& name) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(program(""))) {
    const std::string file = entry.path().filename();
    if (file == name || file.rfind(name + "-", 0) == 0) found.push_back(entry.path());
  }
  return found;
}

char outside;

/// Executable mappings of files whose name ends so.
std::vector<std::pair<std::uintptr_t, std::uintptr_t>> mappings_of(const std::string& ending) {
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.size() < ending.size() || line.compare(line.size() - ending.size(), ending.size(), ending) != 0)
      continue;
    if (line.find(" r-xp ") == std::string::npos) continue;
    char* rest = nullptr;
    const std::uintptr_t begin = std::strtoull(line.c_str(), &rest, 16);
    found.emplace_back(begin, std::strtoull(rest + 1, nullptr, 16));
  }
  return found;
}

bool all_zero(const Outcome& outcome) {
  for (const int code : outcome.codes) {
    if (code != 0) return false;
  }
  return !outcome.codes.empty();
}

}  // namespace

TEST_CASE("C data: 100 ranks, each with its own, whatever compiler and linker") {
  const auto programs = variants("globals");
  CHECK(programs.size() >= 9);
  for (const std::string& path : programs) {
    const Outcome outcome = run_clean({.program = path, .ranks = 100, .arguments = {"argument"}});
    REQUIRE(outcome.codes.size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(outcome.codes[static_cast<std::size_t>(i)] == i);
    CHECK(outcome.counts.at("atexit") == 100);
    CHECK(outcome.counts.at("destructor") == 100);
  }
}

TEST_CASE("C++: exceptions that block in catch, guards, run-time types, thread_local objects") {
  for (const std::string& path : variants("language")) {
    const Outcome outcome = run_clean({.program = path, .ranks = 50});
    CHECK(all_zero(outcome));
    CHECK(outcome.counts.at("constructed") == 100);
    CHECK(outcome.counts.at("destroyed") == 100);
    CHECK(outcome.counts.at("library exception") == 50);
    CHECK(outcome.counts.count("unreachable") == 0);
  }
}

TEST_CASE("the program's own shared libraries are a rank's too, and share inline variables with it") {
  for (const std::string& path : variants("libraries")) {
    const Outcome outcome = run_clean({.program = path, .ranks = 50});
    CHECK(all_zero(outcome));
    CHECK(outcome.counts.at("left destroyed") == 50);
    CHECK(outcome.counts.at("right destroyed") == 50);
  }
}

TEST_CASE("helper threads know their rank and have thread-locals and keys of their own") {
  for (const std::string& path : variants("threads"))
    CHECK(all_zero(run_clean({.program = path, .ranks = 100})));
}

#ifdef TMPI_TEST_SHIM
TEST_CASE("std::thread and fork") {
  CHECK(all_zero(run_once({.program = program("processes"), .ranks = 20, .shim = TMPI_TEST_SHIM})));
}
#endif

TEST_CASE("OpenMP: a team of threads per rank") {
  CHECK(all_zero(run_clean({.program = program("openmp"), .ranks = 10, .leaves_threads = true})));
}

TEST_CASE("indirect functions") {
  CHECK(all_zero(run_clean({.program = program("indirect"), .ranks = 10})));
}

TEST_CASE("dlopen, dlsym, dladdr in a rank") {
  const Outcome outcome =
      run_clean({.program = program("dynamic"),
                 .ranks = 20,
                 .arguments = {program("plugin.so"), program("plugin2.so"), program("plugin3.so")}});
  CHECK(all_zero(outcome));
  CHECK(outcome.counts.at("plugin destroyed") == 20);
}

TEST_CASE("executable stacks") {
  CHECK(all_zero(run_clean({.program = program("nested"), .ranks = 10})));
}

TEST_CASE("an ordinary PIE") {
  for (const std::string& path : variants("plain-pie")) {
    const Outcome outcome = run_clean({.program = path, .ranks = 40, .arguments = {"argument"}});
    REQUIRE(outcome.codes.size() == 40);
    for (int i = 0; i < 40; ++i) CHECK(outcome.codes[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("programs of the newer form have it: packed relocations, and a libc is needed that knows them") {
  for (const char* const name : {"globals-relr", "language-newer", "newer/libleft.so", "plain-pie-relr"}) {
    std::ifstream file(program(name), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    CHECK_MESSAGE(bytes.find("GLIBC_ABI_DT_RELR") != std::string::npos, name);
  }
}

#if !defined(TMPI_ASAN) && !defined(TMPI_TSAN)
TEST_CASE("an ordinary PIE with thread-locals: a thread pointer for each rank") {
  for (const char* name : {"plain-tls", "plain-language", "plain-language-clang"})
    CHECK(all_zero(run_clean({.program = program(name), .ranks = 40})));
  const Outcome outcome =
      run_clean({.program = program("plain-globals"), .ranks = 40, .arguments = {"argument"}});
  REQUIRE(outcome.codes.size() == 40);
  for (int i = 0; i < 40; ++i) CHECK(outcome.codes[static_cast<std::size_t>(i)] == i);
}
#endif

TEST_CASE("an address in an image is described by rank, file and function") {
  using tmpi::privatize::describe_address;
  CHECK(describe_address(&outside).rank == -1);
  auto group = tmpi::privatize::Group::load({.program = program("debugged"), .images = 3});
  REQUIRE(group);
  for (int i = 0; i < 3; ++i) REQUIRE((*group)->map_image(i, 40 + i));
  // Where the images lie is nobody's business but the loader's, so ask for every page around one of this
  // process's mappings.
  int found = 0;
  for (const auto& [begin, end] : mappings_of("programs/debugged")) {
    for (std::uintptr_t at = begin; at < end; ++at) {
      const auto where = describe_address(reinterpret_cast<const void*>(at));
      if (where.rank < 40 || where.object != program("debugged")) FAIL("not found: " << at);
      if (where.symbol != nullptr && std::string(where.symbol) == "all_ready" && where.symbol_offset == 0)
        ++found;
    }
  }
  CHECK(found == 3);
}

TEST_CASE("ten thousand ranks") {
  const Outcome outcome = run_clean({.program = program("trivial"), .ranks = 10000, .stack_size = 64 << 10});
  CHECK(all_zero(outcome));
  MESSAGE("10,000 images mapped in ", outcome.map_seconds * 1e3, " ms");
}
