// What the node process does when the code inside a rank's image asks for it by one of the names in
// rank_callbacks.h. Registered by launch before any rank runs.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace tmpi::privatize {

/// Each as its namesake in rank_callbacks.h says.
struct RankCallbacks {
  void (*exited)(int rank, int code);
  void (*aborted)(int rank, const char* why);
  ssize_t (*write)(int rank, int stream, const void* data, std::size_t length);
  ssize_t (*read)(int rank, void* data, std::size_t length);
};

void register_rank_callbacks(const RankCallbacks& callbacks) noexcept;

}  // namespace tmpi::privatize
