#include "privatize/shim/streams.hpp"

#include <errno.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/descriptors.hpp"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/lock.hpp"
#include "privatize/shim/own_streams.hpp"

// The program refers to these by name and may hold a COPY of them: they are reached through the symbol, never
// cached.
extern "C" {
FILE* stdin;
FILE* stdout;
FILE* stderr;
}

namespace tmpi::shim {
namespace {

// Longer lines go out in pieces, which the launcher puts together again. In .bss, where it shares a page with
// what every rank writes anyway; its end, which few lines reach, may lie in the next one.
char stdout_buffer[1024];

FILE* standard_files[3];  // what the three were at the start, whatever the program assigns to them

struct FileList {
  FILE** files = nullptr;
  int count = 0, capacity = 0;
};
FileList open_files;
Lock lock;

int descriptor_of(void* cookie) {
  return static_cast<int>(reinterpret_cast<intptr_t>(cookie));
}

ssize_t cookie_write(void* cookie, const char* data, size_t length) {
  size_t done = 0;
  while (done < length) {
    const ssize_t written = write_descriptor(descriptor_of(cookie), data + done, length - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;  // less than asked tells stdio of the error
    done += static_cast<size_t>(written);
  }
  return static_cast<ssize_t>(done);
}

ssize_t cookie_read(void* cookie, char* data, size_t length) {
  // A prompt without newline must be seen before the program waits for the answer, as on a terminal.
  tmpi_libc.fflush(standard_files[1]);
  return read_descriptor(descriptor_of(cookie), data, length);
}

int cookie_seek(void* cookie, off64_t* offset, int whence) {
  const off_t position = seek_descriptor(descriptor_of(cookie), *offset, whence);
  if (position < 0) return -1;
  *offset = position;
  return 0;
}

int cookie_close(void* cookie) {
  return close_descriptor(descriptor_of(cookie));
}

bool other_layout;  // of streams in this libc

/// The stream in the rank's own memory, if that is to be revived elsewhere: programs, and their libraries, keep its address.
/// libc lays a stream of fopencookie out as FILE, a table of functions, cookie, four functions, and its lock behind that.
FILE* in_own_memory(FILE* made) noexcept {
  constexpr size_t kLock = sizeof(FILE) + 6 * sizeof(void*), kBytes = kLock + 2 * sizeof(void*);
  constexpr int kListed = 0x80;  // _IO_LINKED: among those that libc flushes at its own end
  if (made == nullptr || tmpi_ranks_are_saved() == 0) return made;
  auto* const own = static_cast<char*>(malloc(kBytes));
  if (own == nullptr || static_cast<void*>(made->_lock) != reinterpret_cast<char*>(made) + kLock) {
    free(own);
    other_layout = true;
    return made;
  }
  memcpy(own, made, kBytes);
  tmpi_libc.fclose(made);
  auto* const stream = reinterpret_cast<FILE*>(own);
  stream->_lock = reinterpret_cast<_IO_lock_t*>(own + kLock);
  stream->_flags &= ~kListed;
  return stream;
}

FILE* make_stream(int fd, const char* mode, cookie_close_function_t* close) noexcept {
  return fopencookie(reinterpret_cast<void*>(static_cast<intptr_t>(fd)), mode,
                     {&cookie_read, &cookie_write, &cookie_seek, close});
}

}  // namespace

void start_streams() noexcept {
  stdin = standard_files[0] = in_own_memory(make_stream(0, "r", nullptr));
  stdout = standard_files[1] = in_own_memory(make_stream(1, "w", nullptr));
  stderr = standard_files[2] = in_own_memory(make_stream(2, "w", nullptr));
  constexpr size_t kInputBuffer = 4096;
  if (tmpi_ranks_are_saved() != 0 && stdin != nullptr)
    setvbuf(stdin, static_cast<char*>(malloc(kInputBuffer)), _IOFBF, kInputBuffer);
  if (stdout == nullptr || stderr == nullptr) return;  // out of memory: the first print says so by its result
  setvbuf(stdout, stdout_buffer, _IOLBF, sizeof stdout_buffer);
  setvbuf(stderr, nullptr, _IONBF, 0);
}

int standard_stream(const FILE* file) noexcept {
  for (int i = 0; i < 3; ++i) {
    if (file == standard_files[i] && file != nullptr) return i;
  }
  return -1;
}

FILE* open_descriptor_stream(int fd, const char* mode) noexcept {
  return make_stream(fd, mode, &cookie_close);
}

FILE* remember_file(FILE* file) noexcept {
  if (file != nullptr) tmpi_own_descriptor_here(tmpi_libc.fileno(file));
  if (file == nullptr) return nullptr;
  Locked locked(lock);
  if (open_files.count == open_files.capacity) {
    const int capacity = open_files.capacity == 0 ? 8 : 2 * open_files.capacity;
    auto* grown =
        static_cast<FILE**>(realloc(open_files.files, static_cast<size_t>(capacity) * sizeof(FILE*)));
    if (grown == nullptr) return file;  // still a good file; only fflush(NULL) will miss it
    open_files.files = grown;
    open_files.capacity = capacity;
  }
  open_files.files[open_files.count++] = file;
  return file;
}

bool forget_file(const FILE* file) noexcept {
  Locked locked(lock);
  for (int i = open_files.count; i-- > 0;) {
    if (open_files.files[i] != file) continue;
    open_files.files[i] = open_files.files[--open_files.count];
    return true;
  }
  return false;
}

int flush_all() noexcept {
  int result = 0;
  for (FILE* file : standard_files) {
    if (file != nullptr && file != standard_files[0] && tmpi_libc.fflush(file) != 0) result = EOF;
  }
  // Under the lock: another thread's fclose cannot free a file that is being flushed. A flush of these never
  // suspends the fiber.
  Locked locked(lock);
  for (int i = 0; i < open_files.count; ++i) {
    // Only what has been written: fflush on a file that is being read would move the descriptor's position.
    if (__fpending(open_files.files[i]) != 0 && tmpi_libc.fflush(open_files.files[i]) != 0) result = EOF;
  }
  return result;
}

const char* why_streams_cannot_be_saved() noexcept {
  if (other_layout) return "has standard streams that this libc lays out otherwise than is known";
  Locked locked(lock);
  const char* why = nullptr;
  for (int i = 0; i < open_files.count && why == nullptr; ++i)
    why = why_stream_not_saved(open_files.files[i]);
  return why;
}

void flush_before_abort() noexcept {
  for (FILE* file : {standard_files[1], standard_files[2]}) {
    if (file == nullptr || ftrylockfile(file) != 0) continue;
    tmpi_libc.fflush_unlocked(file);
    funlockfile(file);
  }
}

}  // namespace tmpi::shim
