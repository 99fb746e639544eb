#include "privatize/own_file.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "privatize/rank_callbacks.h"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/thread_context.hpp"
#include "privatize/waiting.hpp"

namespace tmpi::privatize {
namespace {

/// The running rank's program, null outside of ranks.
const char* running_program() noexcept {
  const RankState* state = thread_context.rank < 0 ? nullptr : rank_state(thread_context.rank);
  return state == nullptr ? nullptr : state->set->objects().front()->file->path().c_str();
}

bool means_own_file(const char* path) noexcept {
  if (path == nullptr || strncmp(path, "/proc/", 6) != 0) return false;
  if (strcmp(path, "/proc/self/exe") == 0 || strcmp(path, "/proc/thread-self/exe") == 0) return true;
  char by_number[32];
  snprintf(by_number, sizeof by_number, "/proc/%d/exe", static_cast<int>(getpid()));
  return strcmp(path, by_number) == 0;
}

bool may_create(int flags) noexcept {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace

const char* own_file(const char* path) noexcept {
  if (!means_own_file(path)) return path;
  const char* program = running_program();
  return program == nullptr ? path : program;
}

extern "C" {

ssize_t tmpi_readlinkat(int directory, const char* path, char* buffer, std::size_t size) {
  const char* own = own_file(path);
  if (own == path) return syscall(SYS_readlinkat, directory, path, buffer, size);
  if (size == 0) {
    errno = EINVAL;
    return -1;
  }
  const std::size_t length = std::min(strlen(own), size);
  memcpy(buffer, own, length);
  return static_cast<ssize_t>(length);
}

ssize_t tmpi_readlink(const char* path, char* buffer, std::size_t size) {
  return tmpi_readlinkat(AT_FDCWD, path, buffer, size);
}

ssize_t tmpi_readlink_chk(const char* path, char* buffer, std::size_t size, std::size_t room) {
  if (size > room) abort();  // as _FORTIFY_SOURCE has it
  return tmpi_readlink(path, buffer, size);
}

ssize_t tmpi_readlinkat_chk(int directory, const char* path, char* buffer, std::size_t size,
                            std::size_t room) {
  if (size > room) abort();
  return tmpi_readlinkat(directory, path, buffer, size);
}

int tmpi_open(const char* path, int flags, ...) {
  if (!may_create(flags)) return open_or_wait(AT_FDCWD, own_file(path), flags, 0);
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_or_wait(AT_FDCWD, path, flags, mode);
}

int tmpi_openat(int directory, const char* path, int flags, ...) {
  if (!may_create(flags)) return open_or_wait(directory, own_file(path), flags, 0);
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_or_wait(directory, path, flags, mode);
}

int tmpi_open_2(const char* path, int flags) {
  return open_or_wait(AT_FDCWD, own_file(path), flags, 0);
}

int tmpi_stat(const char* path, struct stat* out) {
  return stat(own_file(path), out);
}

int tmpi_fstatat(int directory, const char* path, struct stat* out, int flags) {
  return fstatat(directory, (flags & AT_SYMLINK_NOFOLLOW) != 0 ? path : own_file(path), out, flags);
}

int tmpi_statx(int directory, const char* path, int flags, unsigned mask, struct statx* out) {
  return statx(directory, (flags & AT_SYMLINK_NOFOLLOW) != 0 ? path : own_file(path), flags, mask, out);
}

int tmpi_access(const char* path, int mode) {
  return access(own_file(path), mode);
}

int tmpi_posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  return posix_spawn(child, own_file(path), actions, attributes, arguments, environment);
}

int tmpi_posix_spawnp(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                      const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  return posix_spawnp(child, own_file(path), actions, attributes, arguments, environment);
}

// For the shim, which has fopen and exec.
__attribute__((visibility("default"))) const char* tmpi_own_file(const char* path) {
  return own_file(path);
}

unsigned long tmpi_getauxval(unsigned long type) {
  const char* program = type == AT_EXECFN ? running_program() : nullptr;
  return program == nullptr ? getauxval(type) : reinterpret_cast<unsigned long>(program);
}

}  // extern "C"

}  // namespace tmpi::privatize
