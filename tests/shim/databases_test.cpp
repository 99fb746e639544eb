#include <doctest/doctest.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>

#include <string>
#include <vector>

#include "guest_copy.hpp"

namespace {

std::vector<std::string> all_users(const GuestCopy& rank) {
  std::vector<std::string> names;
  GUEST(rank, setpwent)();
  while (const passwd* user = GUEST(rank, getpwent)()) names.push_back(user->pw_name);
  GUEST(rank, endpwent)();
  return names;
}

}  // namespace

TEST_CASE("what databases answer is the rank's") {
  const GuestCopy first, second;
  const passwd* root = GUEST(first, getpwnam)("root");
  REQUIRE(root != nullptr);
  const passwd* other = GUEST(second, getpwnam)("daemon");
  REQUIRE(other != nullptr);
  CHECK(std::string(root->pw_name) == "root");
  CHECK(std::string(other->pw_name) == "daemon");
  CHECK(std::string(GUEST(first, getpwuid)(other->pw_uid)->pw_name) == "daemon");
  CHECK(GUEST(first, getpwnam)("nobody of this name") == nullptr);
  CHECK(std::string(GUEST(second, getgrgid)(0)->gr_name) == "root");
}

TEST_CASE("addresses of hosts are the rank's") {
  const GuestCopy first, second;
  const hostent* one = GUEST(first, gethostbyname)("127.0.0.1");
  REQUIRE(one != nullptr);
  REQUIRE(GUEST(second, gethostbyname)("127.0.0.2") != nullptr);
  CHECK(one->h_addr_list[0][3] == 1);
}

TEST_CASE("each rank goes through a database at its own pace") {
  const GuestCopy first, second;
  const std::vector<std::string> names = all_users(first);
  REQUIRE(names.size() > 3);
  CHECK(all_users(second) == names);
  CHECK(std::string(GUEST(first, getpwent)()->pw_name) == names[0]);
  CHECK(std::string(GUEST(first, getpwent)()->pw_name) == names[1]);
  CHECK(std::string(GUEST(second, getpwent)()->pw_name) == names[0]);
  CHECK(std::string(GUEST(first, getpwent)()->pw_name) == names[2]);
  GUEST(first, setpwent)();
  CHECK(std::string(GUEST(second, getpwent)()->pw_name) == names[1]);
  CHECK(std::string(GUEST(first, getpwent)()->pw_name) == names[0]);
  // In the caller's memory: too little of it does not go on.
  passwd user{}, *found = nullptr;
  char text[1024];
  CHECK(GUEST(first, getpwent_r)(&user, text, 3, &found) == ERANGE);
  REQUIRE(GUEST(first, getpwent_r)(&user, text, sizeof text, &found) == 0);
  CHECK(std::string(user.pw_name) == names[1]);
}
