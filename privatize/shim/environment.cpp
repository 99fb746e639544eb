#include "privatize/shim/environment.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "privatize/shim/lock.hpp"

// libc's three names of one variable. A program may hold a COPY of it: reached through the symbol, never
// cached.
extern "C" {
char** __environ;
extern char** environ __attribute__((weak, alias("__environ")));
extern char** _environ __attribute__((weak, alias("__environ")));
}

namespace tmpi::shim {
namespace {

Lock lock;
char**
    own_array;  // the array that we allocated, when `environ` is ours and not the caller's or the program's
size_t own_capacity;

bool valid_name(const char* name) noexcept {
  if (*name != '\0' && strchr(name, '=') == nullptr) return true;
  errno = EINVAL;
  return false;
}

/// Position of the variable in environ; the number of variables if it is not there.
size_t position(const char* name, size_t length) noexcept {
  size_t i = 0;
  for (; __environ != nullptr && __environ[i] != nullptr; ++i) {
    if (strncmp(__environ[i], name, length) == 0 && __environ[i][length] == '=') break;
  }
  return i;
}

size_t count() noexcept {
  size_t i = 0;
  while (__environ != nullptr && __environ[i] != nullptr) ++i;
  return i;
}

/// Puts "NAME=value" at `index`; at the end if that is the number of variables. 0, or -1 with errno.
int place(size_t index, char* line) noexcept {
  const size_t used = count();
  if (index < used) {
    __environ[index] = line;
    return 0;
  }
  const bool ours = __environ != nullptr && __environ == own_array;
  if (!ours || used + 2 > own_capacity) {
    const size_t capacity = used + 16;
    // An array that is not ours stays as it is: main's envp points to it.
    auto** grown = static_cast<char**>(realloc(ours ? own_array : nullptr, capacity * sizeof(char*)));
    if (grown == nullptr) return -1;
    if (!ours && __environ != nullptr) memcpy(grown, __environ, used * sizeof(char*));
    __environ = own_array = grown;
    own_capacity = capacity;
  }
  __environ[used] = line;
  __environ[used + 1] = nullptr;
  return 0;
}

}  // namespace

void start_environment(char** environment) noexcept {
  __environ = environment;
}

extern "C" {

char* getenv(const char* name) {
  const size_t length = strlen(name);
  const size_t i = position(name, length);
  return __environ != nullptr && __environ[i] != nullptr ? __environ[i] + length + 1 : nullptr;
}

char* secure_getenv(const char* name) {
  return getenv(name);
}
char* __secure_getenv(const char* name) {
  return getenv(name);
}

int setenv(const char* name, const char* value, int overwrite) {
  if (!valid_name(name)) return -1;
  Locked locked(lock);
  const size_t length = strlen(name);
  const size_t i = position(name, length);
  if (overwrite == 0 && __environ != nullptr && __environ[i] != nullptr) return 0;
  // Never freed: the program may hold what getenv returned, as with libc.
  auto* line = static_cast<char*>(malloc(length + 1 + strlen(value) + 1));
  if (line == nullptr) return -1;
  char* end = stpcpy(line, name);
  *end = '=';
  strcpy(end + 1, value);
  return place(i, line);
}

int unsetenv(const char* name) {
  if (!valid_name(name)) return -1;
  Locked locked(lock);
  const size_t length = strlen(name);
  for (size_t i; (i = position(name, length)), __environ != nullptr && __environ[i] != nullptr;) {
    for (; __environ[i] != nullptr; ++i) __environ[i] = __environ[i + 1];
  }
  return 0;
}

int putenv(char* line) {
  const char* end = strchr(line, '=');
  if (end == nullptr) return unsetenv(line);
  Locked locked(lock);
  return place(position(line, static_cast<size_t>(end - line)), line);
}

int clearenv() {
  Locked locked(lock);
  __environ = nullptr;
  return 0;
}

}  // extern "C"

}  // namespace tmpi::shim
