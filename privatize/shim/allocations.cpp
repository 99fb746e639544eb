// Memory that libc hands out to be freed (strdup, getline, asprintf ...) comes from the rank's own malloc, which the
// program, or a library of its (jemalloc), may have replaced: their free must be able to take it back.
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/allocator.hpp"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/streams.hpp"

namespace tmpi::shim {
namespace {

int take_over_text(char** text, int length) noexcept {
  if (length < 0) return length;
  *text = static_cast<char*>(take_over(*text, static_cast<size_t>(length) + 1));
  return *text != nullptr ? length : -1;
}

/// Room for one more and the zero behind it.
bool has_room(char** line, size_t* size, size_t used) noexcept {
  if (*line != nullptr && used + 2 <= *size) return true;
  const size_t wanted = *line == nullptr || *size < 60 ? 120 : 2 * *size;
  if (used > SSIZE_MAX - 2) {
    errno = EOVERFLOW;
    return false;
  }
  char* const larger = static_cast<char*>(realloc(*line, wanted));
  if (larger == nullptr) return false;
  *line = larger;
  *size = wanted;
  return true;
}

ssize_t read_line(char** line, size_t* size, int end, FILE* stream) noexcept {
  size_t used = 0;
  for (;;) {
    if (!has_room(line, size, used)) return -1;
    const int c = getc_unlocked(stream);
    if (c == EOF) break;
    (*line)[used++] = static_cast<char>(c);
    if (c == end) break;
  }
  (*line)[used] = '\0';
  return used > 0 ? static_cast<ssize_t>(used) : -1;
}

/// The list and its entries as memory of the rank.
int take_over_entries(struct dirent*** list, int count) noexcept {
  if (count < 0 || !has_own_malloc()) return count;
  struct dirent** const from_libc = *list;
  auto** const own =
      static_cast<struct dirent**>(malloc(sizeof(struct dirent*) * static_cast<size_t>(count + 1)));
  int copied = 0;
  while (own != nullptr && copied < count) {
    own[copied] = static_cast<struct dirent*>(copy_of(from_libc[copied], from_libc[copied]->d_reclen));
    if (own[copied] == nullptr) break;
    ++copied;
  }
  const bool complete = own != nullptr && copied == count;
  for (int i = 0; i < count; ++i) tmpi_libc.free(from_libc[i]);
  tmpi_libc.free(from_libc);
  *list = own;
  if (complete) return count;
  while (copied > 0) free(own[--copied]);
  free(own);
  return -1;
}

/// A stream into memory of the rank, over which libc's FILE stands (fopencookie).
struct MemoryStream {
  char** data;
  size_t* size;
  size_t position = 0, end = 0, room = 0;
};

bool make_room(MemoryStream& memory, size_t wanted) noexcept {
  if (wanted + 1 <= memory.room) return true;
  const size_t room = wanted + 1 > 2 * memory.room ? wanted + 1 : 2 * memory.room;
  char* const larger = static_cast<char*>(realloc(*memory.data, room));
  if (larger == nullptr) return false;
  memset(larger + memory.room, 0, room - memory.room);
  *memory.data = larger;
  memory.room = room;
  return true;
}

ssize_t write_memory(void* cookie, const char* bytes, size_t count) {
  auto& memory = *static_cast<MemoryStream*>(cookie);
  if (!make_room(memory, memory.position + count)) return 0;
  memcpy(*memory.data + memory.position, bytes, count);
  memory.position += count;
  if (memory.position > memory.end) memory.end = memory.position;
  (*memory.data)[memory.end] = '\0';
  *memory.size = memory.position;
  return static_cast<ssize_t>(count);
}

int seek_memory(void* cookie, off64_t* offset, int whence) {
  auto& memory = *static_cast<MemoryStream*>(cookie);
  const size_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? memory.position : memory.end;
  const off64_t place = static_cast<off64_t>(base) + *offset;
  if (place < 0) {
    errno = EINVAL;
    return -1;
  }
  memory.position = static_cast<size_t>(place);
  *memory.size = memory.position < memory.end ? memory.position : memory.end;
  *offset = place;
  return 0;
}

int close_memory(void* cookie) {
  free(cookie);
  return 0;
}

FILE* open_memory(char** data, size_t* size) noexcept {
  auto* const memory = static_cast<MemoryStream*>(malloc(sizeof(MemoryStream)));
  if (memory == nullptr) return nullptr;
  *memory = {data, size};
  *data = nullptr;
  *size = 0;
  FILE* const stream = make_room(*memory, 0)
                           ? fopencookie(memory, "w", {nullptr, write_memory, seek_memory, close_memory})
                           : nullptr;
  if (stream != nullptr) return stream;
  free(*data);
  free(memory);
  return nullptr;
}

}  // namespace

extern "C" {

char* strdup(const char* text) noexcept {
  return static_cast<char*>(copy_of(text, strlen(text) + 1));
}
char* __strdup(const char* text) noexcept {
  return strdup(text);
}
char* strndup(const char* text, size_t most) noexcept {
  const size_t length = strnlen(text, most);
  char* const copy = static_cast<char*>(malloc(length + 1));
  if (copy == nullptr) return nullptr;
  copy[length] = '\0';
  return static_cast<char*>(memcpy(copy, text, length));
}
char* __strndup(const char* text, size_t most) noexcept {
  return strndup(text, most);
}
wchar_t* wcsdup(const wchar_t* text) noexcept {
  return static_cast<wchar_t*>(copy_of(text, (wcslen(text) + 1) * sizeof(wchar_t)));
}

int vasprintf(char** text, const char* format, va_list arguments) noexcept {
  return take_over_text(text, tmpi_libc.vasprintf(text, format, arguments));
}
int asprintf(char** text, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int length = vasprintf(text, format, arguments);
  va_end(arguments);
  return length;
}
int __asprintf(char** text, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int length = vasprintf(text, format, arguments);
  va_end(arguments);
  return length;
}
int __vasprintf_chk(char** text, int flag, const char* format, va_list arguments) noexcept {
  return take_over_text(text, tmpi_libc.__vasprintf_chk(text, flag, format, arguments));
}
int __asprintf_chk(char** text, int flag, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int length = __vasprintf_chk(text, flag, format, arguments);
  va_end(arguments);
  return length;
}

ssize_t getdelim(char** line, size_t* size, int end, FILE* stream) {
  if (!has_own_malloc()) return tmpi_getdelim(line, size, end, stream);
  if (line == nullptr || size == nullptr) {
    errno = EINVAL;
    return -1;
  }
  flockfile(stream);
  const ssize_t length = read_line(line, size, end, stream);
  funlockfile(stream);
  return length;
}
ssize_t __getdelim(char** line, size_t* size, int end, FILE* stream) {
  return getdelim(line, size, end, stream);
}
ssize_t getline(char** line, size_t* size, FILE* stream) {
  return getdelim(line, size, '\n', stream);
}

FILE* open_memstream(char** data, size_t* size) noexcept {
  return has_own_malloc() ? remember_file(open_memory(data, size)) : tmpi_libc.open_memstream(data, size);
}

char* realpath(const char* path, char* resolved) noexcept {
  char own[TMPI_OWN_FILE_SIZE];
  char* const found = tmpi_libc.realpath(tmpi_own_file(path, own), resolved);
  return resolved != nullptr ? found : take_over(found);
}
char* __realpath_chk(const char* path, char* resolved, size_t room) noexcept {
  if (room < PATH_MAX) abort();
  return realpath(path, resolved);
}
char* canonicalize_file_name(const char* path) noexcept {
  return realpath(path, nullptr);
}

char* getcwd(char* buffer, size_t size) noexcept {
  char* const found = tmpi_libc.getcwd(buffer, size);
  return buffer != nullptr ? found : take_over(found);
}
char* get_current_dir_name() noexcept {
  return take_over(tmpi_libc.get_current_dir_name());
}

int scandir(const char* directory, struct dirent*** list, int (*select)(const struct dirent*),
            int (*compare)(const struct dirent**, const struct dirent**)) {
  return take_over_entries(list, tmpi_libc.scandir(directory, list, select, compare));
}
int scandirat(int at, const char* directory, struct dirent*** list, int (*select)(const struct dirent*),
              int (*compare)(const struct dirent**, const struct dirent**)) {
  return take_over_entries(list, tmpi_libc.scandirat(at, directory, list, select, compare));
}
int scandir64(const char* directory, struct dirent64*** list, int (*select)(const struct dirent64*),
              int (*compare)(const struct dirent64**, const struct dirent64**)) {
  static_assert(sizeof(struct dirent64) == sizeof(struct dirent), "one structure on 64-bit machines");
  const int count = tmpi_libc.scandir64(directory, list, select, compare);
  return take_over_entries(reinterpret_cast<struct dirent***>(list), count);
}

int scandirat64(int at, const char* directory, struct dirent64*** list, int (*select)(const struct dirent64*),
                int (*compare)(const struct dirent64**, const struct dirent64**)) {
  const int count = tmpi_libc.scandirat64(at, directory, list, select, compare);
  return take_over_entries(reinterpret_cast<struct dirent***>(list), count);
}

char** backtrace_symbols(void* const* addresses, int count) noexcept {
  char** const texts = tmpi_libc.backtrace_symbols(addresses, count);
  if (texts == nullptr || !has_own_malloc()) return texts;
  // One block: pointers, then what they point to.
  size_t size = sizeof(char*) * static_cast<size_t>(count);
  for (int i = 0; i < count; ++i) size += strlen(texts[i]) + 1;
  auto** const own = static_cast<char**>(malloc(size));
  char* next = reinterpret_cast<char*>(own + count);
  for (int i = 0; own != nullptr && i < count; ++i) {
    own[i] = next;
    next = stpcpy(next, texts[i]) + 1;
  }
  tmpi_libc.free(texts);
  return own;
}

}  // extern "C"

}  // namespace tmpi::shim
