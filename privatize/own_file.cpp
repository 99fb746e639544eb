#include "privatize/own_file.hpp"

#include <dirent.h>
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

#include "privatize/children.hpp"
#include "privatize/descriptor_owners.hpp"
#include "privatize/own_limits.hpp"
#include "privatize/rank_callbacks.h"
#include "privatize/rank_pid.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/thread_context.hpp"
#include "privatize/waiting.hpp"

namespace tmpi::privatize {
namespace {

/// The running rank's program, null outside of ranks.
const char* running_program() noexcept {
  const RankState* state = thread_context().rank < 0 ? nullptr : rank_state(thread_context().rank);
  return state == nullptr ? nullptr : state->set->program_file().c_str();
}

bool means_own_file(const char* path) noexcept {
  if (path == nullptr || strncmp(path, "/proc/", 6) != 0) return false;
  if (strcmp(path, "/proc/self/exe") == 0 || strcmp(path, "/proc/thread-self/exe") == 0) return true;
  char by_number[32];
  snprintf(by_number, sizeof by_number, "/proc/%d/exe", static_cast<int>(getpid()));
  return strcmp(path, by_number) == 0;
}

/// The number that `text` begins with; `rest` is what follows. 0: none.
pid_t leading_number(const char* text, const char*& rest) noexcept {
  char* end = nullptr;
  const long number = *text >= '1' && *text <= '9' ? strtol(text, &end, 10) : 0;
  if (number <= 0 || number > INT_MAX || (*end != '/' && *end != '\0')) return 0;
  rest = end;
  return static_cast<pid_t>(number);
}

/// Writes /proc/PROCESS[/task/THREAD]... with the kernel's ids if `path` has those of ranks; false: it has not.
bool translate_ids(const char* path, char* buffer, std::size_t size) noexcept {
  if (path == nullptr || strncmp(path, "/proc/", 6) != 0) return false;
  const int error = errno;
  const char* rest = nullptr;
  const pid_t process = leading_number(path + 6, rest);
  const bool self = strncmp(path, "/proc/self/task/", 16) == 0;
  if (self) rest = path + 10;
  bool translated = false;
  if (rest != nullptr) {
    char head[32];
    snprintf(head, sizeof head, self ? "self" : "%d", static_cast<int>(kernel_pid(process)));
    const char* after = nullptr;
    const pid_t thread = strncmp(rest, "/task/", 6) == 0 ? leading_number(rest + 6, after) : 0;
    if (kernel_tid(thread) != thread) {
      translated = true;
      snprintf(buffer, size, "/proc/%s/task/%d%s", head, static_cast<int>(kernel_tid(thread)), after);
    } else if (!self && kernel_pid(process) != process) {
      translated = true;
      snprintf(buffer, size, "/proc/%s%s", head, rest);
    }
  }
  errno = error;
  return translated && strlen(path) + 32 < size;
}

bool may_create(int flags) noexcept {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace

OwnName::OwnName(const char* name, bool follows) noexcept : name_(name) {
  if (translate_ids(name, buffer_, sizeof buffer_)) name_ = buffer_;
  if (!follows || !means_own_file(name_)) return;
  const char* const program = running_program();
  is_program_ = program != nullptr;
  if (is_program_) name_ = program;
}

int spawned(int error, pid_t child) noexcept {
  if (error != 0) return error;
  hand_down_limits(child);
  limit_child(child);
  if (getpid() == node_process()) add_child(thread_context().rank, child);
  return error;
}

extern "C" {

ssize_t tmpi_readlinkat(int directory, const char* path, char* buffer, std::size_t size) {
  const OwnName own(path);
  if (!own.is_program())
    return syscall(SYS_readlinkat, directory, static_cast<const char*>(own), buffer, size);
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
  if (!may_create(flags)) return own_descriptor(open_or_wait(AT_FDCWD, OwnName(path), flags, 0));
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  return own_descriptor(open_or_wait(AT_FDCWD, path, flags, mode));
}

int tmpi_openat(int directory, const char* path, int flags, ...) {
  if (!may_create(flags)) return own_descriptor(open_or_wait(directory, OwnName(path), flags, 0));
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  return own_descriptor(open_or_wait(directory, path, flags, mode));
}

int tmpi_open_2(const char* path, int flags) {
  return own_descriptor(open_or_wait(AT_FDCWD, OwnName(path), flags, 0));
}

int tmpi_stat(const char* path, struct stat* out) {
  return stat(OwnName(path), out);
}

int tmpi_lstat(const char* path, struct stat* out) {
  return lstat(OwnName(path, false), out);
}

int tmpi_fstatat(int directory, const char* path, struct stat* out, int flags) {
  return fstatat(directory, OwnName(path, (flags & AT_SYMLINK_NOFOLLOW) == 0), out, flags);
}

int tmpi_statx(int directory, const char* path, int flags, unsigned mask, struct statx* out) {
  return statx(directory, OwnName(path, (flags & AT_SYMLINK_NOFOLLOW) == 0), flags, mask, out);
}

int tmpi_access(const char* path, int mode) {
  return access(OwnName(path), mode);
}

int tmpi_faccessat(int directory, const char* path, int mode, int flags) {
  return faccessat(directory, OwnName(path, (flags & AT_SYMLINK_NOFOLLOW) == 0), mode, flags);
}

DIR* tmpi_opendir(const char* path) {
  DIR* const folder = opendir(OwnName(path));
  if (folder != nullptr) own_descriptor_here(dirfd(folder));
  return folder;
}

int tmpi_posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                     const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  pid_t own = 0;
  if (child == nullptr) child = &own;
  const int error = posix_spawn(child, OwnName(path), actions, attributes, arguments, environment);
  return spawned(error, *child);
}

int tmpi_posix_spawnp(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                      const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  pid_t own = 0;
  if (child == nullptr) child = &own;
  const int error = posix_spawnp(child, OwnName(path), actions, attributes, arguments, environment);
  return spawned(error, *child);
}

// For the shim, which has fopen and exec.
__attribute__((visibility("default"))) const char* tmpi_own_file(const char* path, char* buffer) {
  const OwnName own(path);
  const char* const name = own;
  if (name == path || own.is_program()) return name;
  snprintf(buffer, TMPI_OWN_FILE_SIZE, "%s", name);
  return buffer;
}

unsigned long tmpi_getauxval(unsigned long type) {
  const char* program = type == AT_EXECFN ? running_program() : nullptr;
  return program == nullptr ? getauxval(type) : reinterpret_cast<unsigned long>(program);
}

}  // extern "C"

}  // namespace tmpi::privatize
