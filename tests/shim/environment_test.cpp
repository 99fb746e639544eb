#include <doctest/doctest.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <random>
#include <string>

#include "guest_copy.hpp"

TEST_CASE("each rank has its environment") {
  const GuestCopy first, second;
  CHECK(std::string(GUEST(first, getenv)("TMPI_TEST_RANK")) == std::to_string(first.rank()));
  CHECK(std::string(GUEST(second, getenv)("TMPI_TEST_RANK")) == std::to_string(second.rank()));
  char** inherited = first.get<char**()>("guest_environ")();
  GUEST(first, setenv)("COLOUR", "red", 1);
  CHECK(GUEST(second, getenv)("COLOUR") == nullptr);
  CHECK(::getenv("COLOUR") == nullptr);
  CHECK(first.get<char**()>("guest_environ")() != inherited);
  CHECK(inherited[2] == nullptr);  // main's envp is left alone
  CHECK(*first.get<char**>("_environ") == *first.get<char**>("environ"));
  GUEST(first, clearenv)();
  CHECK(GUEST(first, getenv)("COLOUR") == nullptr);
  GUEST(first, setenv)("COLOUR", "blue", 0);
  CHECK(std::string(GUEST(first, getenv)("COLOUR")) == "blue");
}

TEST_CASE("the environment against a map") {
  const GuestCopy guest;
  GUEST(guest, clearenv)();
  std::map<std::string, std::string> model;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::string name = "N" + std::to_string(random() % 40);
    const std::string value = std::to_string(random() % 1000);
    switch (random() % 4) {
      case 0:
        REQUIRE(GUEST(guest, setenv)(name.c_str(), value.c_str(), 1) == 0);
        model[name] = value;
        break;
      case 1:
        REQUIRE(GUEST(guest, setenv)(name.c_str(), value.c_str(), 0) == 0);
        model.emplace(name, value);
        break;
      case 2:
        REQUIRE(GUEST(guest, unsetenv)(name.c_str()) == 0);
        model.erase(name);
        break;
      default:
        REQUIRE(GUEST(guest, putenv)(strdup(std::string(name).append("=").append(value).c_str())) == 0);
        model[name] = value;
    }
    const std::string asked = "N" + std::to_string(random() % 40);
    const char* got = GUEST(guest, getenv)(asked.c_str());
    REQUIRE((got != nullptr) == model.contains(asked));
    if (got != nullptr) REQUIRE(model[asked] == got);
  }
  size_t count = 0;
  for (char** line = guest.get<char**()>("guest_environ")(); line != nullptr && *line != nullptr; ++line)
    ++count;
  CHECK(count == model.size());
}

TEST_CASE("names that are none") {
  const GuestCopy guest;
  errno = 0;
  CHECK(GUEST(guest, setenv)("A=B", "1", 1) == -1);
  CHECK(errno == EINVAL);
  CHECK(GUEST(guest, unsetenv)("") == -1);
  CHECK(GUEST(guest, getenv)("TMPI_TEST_RAN") == nullptr);
}
