// Other programs: started with the rank's environment and, where it has redirected them, its own standard
// streams. exec* replaces the calling process, so only a child that the rank forked may call it.
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/descriptors.hpp"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/lock.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"
#include "privatize/shim/streams.hpp"

namespace tmpi::shim {
namespace {

void check_exec(const char* name, const char* program) {
  if (in_forked_child()) return;
  char why[512];
  snprintf(why, sizeof why,
           "called %s(\"%s\"), which would replace the process that runs all ranks of this node; start the "
           "program with posix_spawn "
           "or system, or call fork first",
           name, program);
  tmpi_rank_aborted(tmpi_image_rank, why);
}

/// Starts "sh -c command". `end` (or -1) becomes the child's descriptor `number`. The child's id, or -1 with
/// errno.
pid_t spawn_shell(const char* command, int end, int number) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  for (int fd = 0; fd <= 2; ++fd) {
    const int real = real_descriptor(fd);
    if (real >= 0) posix_spawn_file_actions_adddup2(&files, real, fd);
  }
  if (end >= 0) posix_spawn_file_actions_adddup2(&files, end, number);
  // What other ranks have open is nothing to a rank's child.
  for (int fd = 3; fd <= tmpi_last_descriptor(); ++fd) {
    if (fd != end && tmpi_may_close(fd) == 0) posix_spawn_file_actions_addclose(&files, fd);
  }
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const char* arguments[] = {"sh", "-c", command, nullptr};
  pid_t child = -1;
  const int error =
      posix_spawn(&child, _PATH_BSHELL, &files, &attributes, const_cast<char**>(arguments), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return child;
  errno = error;
  return -1;
}

int wait_for(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

struct Pipe {
  FILE* file;
  pid_t child;
  Pipe* next;
};
Pipe* pipes;
Lock lock;

Pipe* take_pipe(const FILE* file) {
  Locked locked(lock);
  for (Pipe** link = &pipes; *link != nullptr; link = &(*link)->next) {
    if ((*link)->file != file) continue;
    Pipe* found = *link;
    *link = found->next;
    return found;
  }
  return nullptr;
}

/// The arguments of execl and execlp as an array, up to the null pointer that ends them.
char** collect(const char* first, va_list rest) {
  size_t count = 1;
  va_list counting;
  va_copy(counting, rest);
  while (va_arg(counting, char*) != nullptr) ++count;
  va_end(counting);
  auto** arguments = static_cast<char**>(malloc((count + 1) * sizeof(char*)));
  if (arguments == nullptr) return nullptr;
  arguments[0] = const_cast<char*>(first);
  for (size_t i = 1; i <= count; ++i) arguments[i] = va_arg(rest, char*);
  return arguments;
}

}  // namespace

extern "C" {

int system(const char* command) {
  if (command == nullptr) return 1;
  const pid_t child = spawn_shell(command, -1, -1);
  return child < 0 ? W_EXITCODE(127, 0) : wait_for(child);
}

FILE* popen(const char* command, const char* mode) {
  const bool reading = mode[0] == 'r';
  if (!reading && mode[0] != 'w') {
    errno = EINVAL;
    return nullptr;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  const int ours = ends[reading ? 0 : 1], theirs = ends[reading ? 1 : 0];
  auto* entry = static_cast<Pipe*>(malloc(sizeof(Pipe)));
  FILE* file = entry != nullptr ? tmpi_libc.fdopen(ours, reading ? "r" : "w") : nullptr;
  const pid_t child = file != nullptr ? spawn_shell(command, theirs, reading ? 1 : 0) : -1;
  const int why = errno;
  tmpi_libc.close(theirs);
  if (child < 0) {
    if (file != nullptr) {
      tmpi_libc.fclose(file);
    } else {
      tmpi_libc.close(ours);
    }
    free(entry);
    errno = why;
    return nullptr;
  }
  // Without 'e', too, our end is not for other programs: POSIX has a later child of popen close it, and those of other
  // ranks must not have it.
  Locked locked(lock);
  *entry = {file, child, pipes};
  pipes = entry;
  return remember_file(file);
}

int pclose(FILE* file) {
  Pipe* entry = take_pipe(file);
  if (entry == nullptr) return tmpi_libc.pclose(file);
  const pid_t child = entry->child;
  free(entry);
  fclose(file);
  return wait_for(child);
}

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  check_exec("execve", path);
  char own[TMPI_OWN_FILE_SIZE];
  tmpi_limit_child();
  return tmpi_libc.execve(tmpi_own_file(path, own), arguments, environment);
}
int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  check_exec("execvpe", file);
  char own[TMPI_OWN_FILE_SIZE];
  tmpi_limit_child();
  return tmpi_libc.execvpe(tmpi_own_file(file, own), arguments, environment);
}
int fexecve(int fd, char* const* arguments, char* const* environment) noexcept {
  check_exec("fexecve", arguments[0]);
  tmpi_limit_child();
  return tmpi_libc.fexecve(fd, arguments, environment);
}
int execveat(int folder, const char* path, char* const* arguments, char* const* environment,
             int flags) noexcept {
  check_exec("execveat", path);
  tmpi_limit_child();
  return tmpi_libc.execveat(folder, path, arguments, environment, flags);
}
int execv(const char* path, char* const* arguments) noexcept {
  return execve(path, arguments, environ);
}
int execvp(const char* file, char* const* arguments) noexcept {
  return execvpe(file, arguments, environ);
}

int execl(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  char** arguments = collect(first, rest);
  va_end(rest);
  if (arguments != nullptr) execve(path, arguments, environ);
  const int why = errno;
  free(arguments);
  errno = why;
  return -1;
}
int execlp(const char* file, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  char** arguments = collect(first, rest);
  va_end(rest);
  if (arguments != nullptr) execvpe(file, arguments, environ);
  const int why = errno;
  free(arguments);
  errno = why;
  return -1;
}
int execle(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  char** arguments = collect(first, rest);
  char** environment = va_arg(rest, char**);
  va_end(rest);
  if (arguments != nullptr) execve(path, arguments, environment);
  const int why = errno;
  free(arguments);
  errno = why;
  return -1;
}

}  // extern "C"

}  // namespace tmpi::shim
