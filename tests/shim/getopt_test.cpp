// Model-based: glibc's own getopt, which the test program itself is linked with, is the model.
#include <doctest/doctest.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "guest_copy.hpp"

namespace {

const char* const kLetters[] = {
    "abc:d::", "+abc:d::", "-abc:d::", ":abc:", "+:ab:c::", "-:abc:", "W;abc:", "abc:W;", ""};
const char* const kWords[] = {
    "-a",      "-b",      "-ab",    "-cX",     "-c",      "-bc",     "-abcX", "-d",       "-dY",    "--",
    "-",       "file",    "other",  "--alpha", "--al",    "--alp=3", "-\xe9", "--alpine", "--beta", "--be=1",
    "--beta=", "--gamma", "-alpha", "-W",      "-Walpha", "alpha",   "--a",   "--be",     "-al",    "--d",
    "--delta", "-x",      "-:",     "--=5",    "-beta=7", "--beam",  "-;"};

int flag_value;
const struct option kLong[] = {
    {"alpha", no_argument, nullptr, 'A'},      {"alpine", required_argument, nullptr, 'P'},
    {"beta", optional_argument, nullptr, 'B'}, {"gamma", no_argument, &flag_value, 7},
    {"delta", no_argument, nullptr, 'D'},      {"delete", no_argument, nullptr, 'D'},
    {"deltoid", no_argument, nullptr, 'E'},    {nullptr, 0, nullptr, 0}};

/// One implementation with its variables.
struct Family {
  decltype(&::getopt) getopt;
  decltype(&::getopt_long) getopt_long;
  decltype(&::getopt_long_only) getopt_long_only;
  int* optind;
  int* opterr;
  int* optopt;
  char** optarg;
};

Family libc() {
  return {&::getopt, &::getopt_long, &::getopt_long_only, &::optind, &::opterr, &::optopt, &::optarg};
}

Family shim(const GuestCopy& guest) {
  return {GUEST(guest, getopt),      GUEST(guest, getopt_long), GUEST(guest, getopt_long_only),
          guest.get<int>("optind"),  guest.get<int>("opterr"),  guest.get<int>("optopt"),
          guest.get<char*>("optarg")};
}

struct Case {
  std::vector<std::string> words;
  const char* letters;
  int function;  // 0 getopt, 1 getopt_long, 2 getopt_long_only
  bool errors;
  bool reset;
};

std::string text_of(const char* text) {
  return text != nullptr ? text : "(null)";
}

/// Everything that can be observed, call by call.
std::string trace(const Family& family, const Case& c) {
  std::vector<std::string> storage = c.words;
  std::vector<char*> argv;
  argv.reserve(storage.size() + 1);
  for (std::string& word : storage) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(c.words.size());
  std::string log;
  *family.optind = c.reset ? 0 : 1;
  *family.opterr = c.errors ? 1 : 0;
  *family.optopt = '?';
  flag_value = 0;
  for (int call = 0; call < 40; ++call) {
    int index = -1;
    int result = 0;
    if (c.function == 0) result = family.getopt(argc, argv.data(), c.letters);
    if (c.function == 1) result = family.getopt_long(argc, argv.data(), c.letters, kLong, &index);
    if (c.function == 2) result = family.getopt_long_only(argc, argv.data(), c.letters, kLong, &index);
    log += "result " + std::to_string(result) + " optind " + std::to_string(*family.optind) + " optopt " +
           std::to_string(*family.optopt) + " optarg " + text_of(*family.optarg) + " index " +
           std::to_string(index) + " flag " + std::to_string(flag_value) + " argv";
    for (int i = 0; i < argc; ++i) log += std::string(" ") + argv[i];
    log += "\n";
    if (result == -1) break;
  }
  return log;
}

std::string with_libc_errors(const Case& c, std::string* log) {
  char* text = nullptr;
  size_t size = 0;
  FILE* memory = open_memstream(&text, &size);
  FILE* saved = std::exchange(stderr, memory);
  *log = trace(libc(), c);
  stderr = saved;
  fclose(memory);
  std::string result(text, size);
  free(text);
  return result;
}

}  // namespace

TEST_CASE("getopt, getopt_long and getopt_long_only do what glibc's do, messages included") {
  const GuestCopy guest;
  const Family ours = shim(guest);
  std::mt19937 random(12345);
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 60000; ++round) {
    Case c;
    c.words.push_back("program");
    for (int i = pick(8); i > 0; --i) c.words.push_back(kWords[pick(std::size(kWords))]);
    c.letters = kLetters[pick(std::size(kLetters))];
    c.function = pick(3);
    c.errors = pick(4) != 0;
    c.reset = true;
    std::string expected;
    const std::string errors = with_libc_errors(c, &expected);
    const std::string got = trace(ours, c);
    const std::string our_errors = guest.err();
    if (got != expected || our_errors != errors) {
      std::string line;
      for (const std::string& word : c.words) line += word + " ";
      INFO("arguments " << line << " letters " << c.letters << " function " << c.function);
      REQUIRE(got == expected);
      REQUIRE(our_errors == errors);
    }
  }
}

TEST_CASE(
    "POSIXLY_CORRECT in the rank's environment stops at the first operand; __posix_getopt always does") {
  const GuestCopy guest;
  Case c{{"program", "file", "-a"}, "a", 0, true, true};
  CHECK(trace(shim(guest), c).find("result 97") != std::string::npos);
  GUEST(guest, setenv)("POSIXLY_CORRECT", "1", 1);
  CHECK(trace(shim(guest), c).find("result 97") == std::string::npos);
  GUEST(guest, unsetenv)("POSIXLY_CORRECT");
  char a0[] = "program", a1[] = "file", a2[] = "-a";
  char* argv[] = {a0, a1, a2, nullptr};
  *guest.get<int>("optind") = 0;
  CHECK(guest.get<int(int, char* const*, const char*)>("__posix_getopt")(3, argv, "a") == -1);
}

TEST_CASE("two ranks in the middle of their options do not meet") {
  const GuestCopy first, second;
  char a0[] = "program", a1[] = "-abc", b1[] = "-xyz";
  char* a[] = {a0, a1, nullptr};
  char* b[] = {a0, b1, nullptr};
  for (int i = 0; i < 3; ++i) {
    CHECK(GUEST(first, getopt)(2, a, "abc") == 'a' + i);
    CHECK(GUEST(second, getopt)(2, b, "xyz") == 'x' + i);
  }
  CHECK(GUEST(first, getopt)(2, a, "abc") == -1);
  CHECK(*second.get<int>("optind") == 2);
  CHECK(::optind != -1);
}
