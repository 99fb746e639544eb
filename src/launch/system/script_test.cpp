#include "launch/system/script.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace tmpi::launch {
namespace {

using Words = std::vector<std::string>;

Words line_of(const std::string& text) {
  char name[] = "/tmp/tmpi-script-XXXXXX";
  close(mkstemp(name));
  std::ofstream(name) << text;
  Words words = interpreter_line(name);
  unlink(name);
  return words;
}

TEST_CASE("the first line of a script") {
  CHECK(line_of("#!/bin/sh\nexit\n") == Words{"/bin/sh"});
  CHECK(line_of("#! /usr/bin/env  python3 -u \r\n") == Words{"/usr/bin/env", "python3 -u"});
  CHECK(line_of("#!/no/newline") == Words{"/no/newline"});
  CHECK(line_of("#!\n").empty());
  CHECK(line_of("").empty());
  CHECK(line_of("\177ELF").empty());
  CHECK(interpreter_line("/no/such/file").empty());
}

TEST_CASE("what env runs") {
  CHECK(without_env({"/usr/bin/env", "python3"}) == Words{"python3"});
  CHECK(without_env({"env", "-S python3 -u 'a b'"}) == Words{"python3", "-u", "a b"});
  CHECK(without_env({"/usr/bin/python3", "-I"}) == Words{"/usr/bin/python3", "-I"});
  CHECK(without_env({"/usr/bin/env"}).empty());
  CHECK(without_env({"/usr/bin/env", "-S A=1 python3"}).empty());
  CHECK(without_env({"/usr/bin/env", "-i"}).empty());
  CHECK(without_env({"/usr/bin/env", "python3 -u"}).empty());  // it looks for a program of that name
}

TEST_CASE("names of Pythons") {
  for (const char* name :
       {"python", "python3", "/usr/bin/python3.11", "python3.13t", "python3.12-dbg", "python3.7m"})
    CHECK_MESSAGE(is_python_name(name), name);
  for (const char* name : {"pythonic", "ipython3", "python3-config", "/python3/app", "app.py", ""})
    CHECK_MESSAGE(!is_python_name(name), name);
}

}  // namespace
}  // namespace tmpi::launch
