#include "guest_copy.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

namespace {

int next_rank = 1;
int starting_rank;

}  // namespace

// Asked by the guest's first constructor.
extern "C" __attribute__((visibility("default"))) int test_starting_rank() {
  return starting_rank;
}

GuestCopy::GuestCopy(bool as_rank_zero) {
  rank_ = starting_rank = as_rank_zero ? 0 : next_rank++;
  char path[] = "/tmp/tmpi-guest-XXXXXX";
  const int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  close(fd);
  std::filesystem::copy_file(GUEST_LIBRARY, path, std::filesystem::copy_options::overwrite_existing);
  // DEEPBIND: the guest's own symbols before the test's, as the loader binds a rank's.
  handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  const std::string error = handle_ != nullptr ? "" : dlerror();
  unlink(path);
  REQUIRE_MESSAGE(handle_ != nullptr, error);
}

void* GuestCopy::find(const char* name) const {
  void* address = dlsym(handle_, name);
  REQUIRE_MESSAGE(address != nullptr, name);
  return address;
}
