// Streams of libc that lead to pipes, sockets and terminals: what they wait for may be another rank of the core. libc
// reads and writes by itself, so whole functions are made by another thread (offload.hpp) where they may block. Streams
// into files, and a rank's standard streams, which wait by themselves, go to libc. Bound to code in images only.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "privatize/function_table.hpp"
#include "privatize/offload.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/sleep_hooks.hpp"
#include "privatize/waiting.hpp"

extern "C" {
int __vfprintf_chk(FILE* file, int flag, const char* format, va_list arguments);
}

namespace tmpi::privatize {
namespace {

/// What a stream has read and nobody has taken yet.
std::size_t buffered(const FILE* file) noexcept {
  return static_cast<std::size_t>(file->_IO_read_end - file->_IO_read_ptr);
}

/// The stream into a file that the thread has looked at last: who prints into one does so again. Never to be cached by
/// callers that suspend.
thread_local const FILE* known_file = nullptr;
[[gnu::noinline]] bool is_known_file(const FILE* file) noexcept {
  return file == known_file;
}
[[gnu::noinline]] void know_file(const FILE* file) noexcept {
  known_file = file;
}

/// The calling thread has locked the stream already. Behind two words glibc keeps the owner; the second one counts, from
/// one in glibc 2.36 and from zero in 2.41.
bool locked_by_caller(const FILE* file) noexcept {
  const auto* const owner = static_cast<void* const*>(file->_lock) + 1;
  return reinterpret_cast<pthread_t>(__atomic_load_n(owner, __ATOMIC_RELAXED)) == ::pthread_self();
}

/// Going on may block: it leads to a pipe, a socket or a terminal, and not to a rank's own standard stream, which waits by
/// itself. Who has locked the stream (flockfile) goes on by itself, since no other thread can.
bool may_block(FILE* file) noexcept {
  if (file->_fileno < 0 || !may_offload() || is_known_file(file)) return false;
  const int error = own_errno();
  struct stat status {};
  const int fd = ::fileno_unlocked(file);
  const bool known = fd >= 0 && ::fstat(fd, &status) == 0;
  const bool waits = known && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) &&
                     (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
  set_own_errno(error);
  if (known && S_ISREG(status.st_mode)) know_file(file);
  if (!waits || locked_by_caller(file) || ::ftrylockfile(file) != 0) return false;
  ::funlockfile(file);
  return true;
}

bool has_line(const FILE* file, std::size_t room, int end) noexcept {
  const std::size_t there = buffered(file);
  return there >= room || (there > 0 && memchr(file->_IO_read_ptr, end, there) != nullptr);
}

/// Makes `call`, which reads from the stream, by another thread if it may block.
template <class Call>
auto read_stream(FILE* file, const char* name, bool at_hand, const Call& call) noexcept {
  if (at_hand || !may_block(file)) return call();
  decltype(call()) result{};
  offload(name, true, [&] {
    result = call();
    return ::ferror_unlocked(file) != 0 ? -1L : 0L;
  });
  return result;
}

// ---- Writing ----

/// So many bytes the stream takes for certain without giving any to the kernel.
std::size_t room(const FILE* file) noexcept {
  constexpr int kUnbuffered = 0x2, kByLine = 0x200;  // glibc's bits
  if ((file->_flags & (kUnbuffered | kByLine)) != 0 || file->_IO_write_ptr == nullptr) return 0;
  return static_cast<std::size_t>(file->_IO_buf_end - file->_IO_write_ptr);
}

/// What it has taken and not yet given away.
std::size_t pending(const FILE* file) noexcept {
  return static_cast<std::size_t>(file->_IO_write_ptr - file->_IO_write_base);
}

/// Makes `call`, which gives at most `bytes` more to the stream. A write to a pipe that is not full takes PIPE_BUF bytes at
/// once. What is more must not be ended by a signal: libc would forget what it had.
template <class Call>
auto write_stream(FILE* file, const char* name, std::size_t bytes, const Call& call) noexcept {
  if (!may_block(file)) return call();
  const auto wait = [file](int milliseconds) {
    pollfd request{file->_fileno, POLLOUT, 0};
    return ::poll(&request, 1, milliseconds);
  };
  const int error = own_errno();
  if (wait(0) == 0) offload(name, true, [&wait] { return wait(-1); });
  set_own_errno(error);
  if (bytes <= PIPE_BUF && pending(file) <= PIPE_BUF - bytes) return call();
  decltype(call()) result{};
  offload_whole(name, [&] {
    result = call();
    return ::ferror_unlocked(file) != 0 ? -1L : 0L;
  });
  return result;
}

template <int (*kPut)(int, FILE*)>
int put_character(int character, FILE* file) noexcept {
  if (room(file) > 0) return kPut(character, file);
  return write_stream(file, "fputc", 1, [=] { return kPut(character, file); });
}
// The inlined putc_unlocked() calls it when there is no room.
int overflow(FILE* file, int character) noexcept {
  return write_stream(file, "fputc", 1, [=] { return ::__overflow(file, character); });
}

template <int (*kPut)(const char*, FILE*)>
int put_text(const char* text, FILE* file) noexcept {
  const std::size_t length = strlen(text);
  if (room(file) >= length) return kPut(text, file);
  return write_stream(file, "fputs", length, [=] { return kPut(text, file); });
}

template <std::size_t (*kWrite)(const void*, std::size_t, std::size_t, FILE*)>
std::size_t write_data(const void* data, std::size_t size, std::size_t count, FILE* file) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || room(file) >= bytes)
    return kWrite(data, size, count, file);
  return write_stream(file, "fwrite", bytes, [=] { return kWrite(data, size, count, file); });
}

/// Prints by `print`. How much that will be is counted where it matters.
template <class Print>
int print_to(FILE* file, const char* format, va_list arguments, const Print& print) noexcept {
  if (!may_block(file)) return print();
  va_list counting;
  va_copy(counting, arguments);
  const int length = vsnprintf(nullptr, 0, format, counting);
  va_end(counting);
  return write_stream(file, "fprintf", length < 0 ? 0 : static_cast<std::size_t>(length), print);
}

int print(FILE* file, const char* format, va_list arguments) noexcept {
  return print_to(file, format, arguments, [&] { return ::vfprintf(file, format, arguments); });
}
int print_checked(FILE* file, int flag, const char* format, va_list arguments) noexcept {
  return print_to(file, format, arguments, [&] { return ::__vfprintf_chk(file, flag, format, arguments); });
}
int print_values(FILE* file, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int result = print(file, format, arguments);
  va_end(arguments);
  return result;
}
int print_values_checked(FILE* file, int flag, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int result = print_checked(file, flag, format, arguments);
  va_end(arguments);
  return result;
}

int put_word(int word, FILE* file) noexcept {
  if (room(file) >= sizeof word) return ::putw(word, file);
  return write_stream(file, "putw", sizeof word, [=] { return ::putw(word, file); });
}

int get_word(FILE* file) noexcept {
  return read_stream(file, "getw", buffered(file) >= sizeof(int), [=] { return ::getw(file); });
}

const FunctionEntry kTable[] = {
    {"fputc", address_of(&put_character<&::fputc>)},
    {"putc", address_of(&put_character<&::fputc>)},
    {"_IO_putc", address_of(&put_character<&::fputc>)},
    {"fputc_unlocked", address_of(&put_character<&::fputc_unlocked>)},
    {"putc_unlocked", address_of(&put_character<&::fputc_unlocked>)},
    {"__overflow", address_of(&overflow)},
    {"fputs", address_of(&put_text<&::fputs>)},
    {"fputs_unlocked", address_of(&put_text<&::fputs_unlocked>)},
    {"fwrite", address_of(&write_data<&::fwrite>)},
    {"fwrite_unlocked", address_of(&write_data<&::fwrite_unlocked>)},
    {"vfprintf", address_of(&print)},
    {"__vfprintf_chk", address_of(&print_checked)},
    {"fprintf", address_of(&print_values)},
    {"__fprintf_chk", address_of(&print_values_checked)},
    {"putw", address_of(&put_word)},
    {"getw", address_of(&get_word)},
};

}  // namespace

const void* stream_function(const char* name) noexcept {
  return find_function(kTable, name);
}

extern "C" {

// For the shim, which has fflush and fclose.
// What it takes cannot be told before.
__attribute__((visibility("default"))) int tmpi_wait_scan(int (*scan)(FILE*, const char*, va_list),
                                                          FILE* file, const char* format, va_list arguments) {
  return read_stream(file, "fscanf", false, [&] { return scan(file, format, arguments); });
}

__attribute__((visibility("default"))) int tmpi_wait_flush(int (*flush)(FILE*), FILE* file) {
  const int result = write_stream(file, "fflush", 0, [=] { return flush(file); });
  know_file(nullptr);  // it may be closed next, and the same memory be a stream of another kind
  return result;
}

char* tmpi_fgets(char* line, int size, FILE* file) {
  const auto call = [=] { return ::fgets(line, size, file); };
  return read_stream(file, "fgets", size <= 1 || has_line(file, static_cast<std::size_t>(size) - 1, '\n'),
                     call);
}
char* tmpi_fgets_chk(char* line, std::size_t room, int size, FILE* file) {
  if (size > 0 && static_cast<std::size_t>(size) > room) __builtin_trap();
  return tmpi_fgets(line, size, file);
}
int tmpi_fgetc(FILE* file) {
  return read_stream(file, "fgetc", buffered(file) > 0, [=] { return ::fgetc(file); });
}
// The inlined getc_unlocked() calls it when nothing is left.
int tmpi_uflow(FILE* file) {
  return read_stream(file, "fgetc", buffered(file) > 0, [=] { return ::__uflow(file); });
}
std::size_t tmpi_fread(void* data, std::size_t size, std::size_t count, FILE* file) {
  std::size_t bytes = 0;
  const bool at_hand = __builtin_mul_overflow(size, count, &bytes) || buffered(file) >= bytes;
  return read_stream(file, "fread", at_hand, [=] { return ::fread(data, size, count, file); });
}
std::size_t tmpi_fread_chk(void* data, std::size_t room, std::size_t size, std::size_t count, FILE* file) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes > room) __builtin_trap();
  return tmpi_fread(data, size, count, file);
}
// For the shim, which knows whose memory the line is.
__attribute__((visibility("default"))) ssize_t tmpi_getdelim(char** line, std::size_t* size, int end,
                                                             FILE* file) {
  const auto call = [=] { return ::getdelim(line, size, end, file); };
  return read_stream(file, "getdelim", has_line(file, SIZE_MAX, end), call);
}

}  // extern "C"

}  // namespace tmpi::privatize
