// Opening, closing and flushing files: as libc's, but each rank knows its own files, and its standard streams
// are its own.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/descriptors.hpp"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/own_streams.hpp"
#include "privatize/shim/shim.h"
#include "privatize/shim/streams.hpp"
#include "privatize/shim/wide_memory.hpp"

namespace tmpi::shim {
namespace {

/// open(2) flags of an fopen mode string; -1 for one that makes no sense.
int open_flags(const char* mode) noexcept {
  int flags;
  switch (*mode) {
    case 'r':
      flags = 0;
      break;
    case 'w':
      flags = O_CREAT | O_TRUNC;
      break;
    case 'a':
      flags = O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  const bool both = strchr(mode, '+') != nullptr;
  flags |= both ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  // Ends at a comma: what follows is glibc's ",ccs=".
  for (const char* c = mode + 1; *c != '\0' && *c != ','; ++c) {
    if (*c == 'x') flags |= O_EXCL;
    if (*c == 'e') flags |= O_CLOEXEC;
  }
  return flags;
}

int close_standard(FILE* file, int stream) noexcept {
  const int flushed = stream == 0 ? 0 : tmpi_libc.fflush(file);
  const int closed = close_descriptor(stream);
  // The object stays: other code of the rank may still print to it, which then fails with EBADF, as on a
  // closed descriptor.
  return flushed != 0 || closed != 0 ? EOF : 0;
}

/// Full buffering for a stdout that leads into a file: no longer a channel on which somebody watches lines
/// come in.
void buffer_as_file(FILE* file) noexcept {
  static char* buffer;  // the stream keeps it
  if (buffer == nullptr) buffer = static_cast<char*>(malloc(BUFSIZ));
  if (buffer != nullptr) setvbuf(file, buffer, _IOFBF, BUFSIZ);
}

FILE* reopen_standard(const char* path, const char* mode, FILE* file, int stream) noexcept {
  const int flags = open_flags(mode);
  if (flags < 0) {
    errno = EINVAL;
    return nullptr;
  }
  if (stream != 0) tmpi_libc.fflush(file);
  __fpurge(file);
  clearerr(file);
  if (path == nullptr) return file;  // only the mode changes: the direction of a standard stream stays
  const int real = open(path, flags, 0666);
  if (real < 0) {
    const int why = errno;
    close_descriptor(stream);
    errno = why;
    return nullptr;
  }
  redirect_descriptor(stream, real);
  if (stream == 1) buffer_as_file(file);
  return file;
}

/// The rank's own stream for the names under which a program may open one, or -1.
int stream_named(const char* path) noexcept {
  static const char* const kNames[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (int i = 0; i < 3; ++i) {
    if (strcmp(path, kNames[i]) == 0) return i;
  }
  return -1;
}

/// What is done before libc closes a file of the rank's: what it has written goes out before its record locks do.
void prepare_to_close(FILE* file) noexcept {
  tmpi_wait_flush(tmpi_libc.fflush, file);
  tmpi_rank_closes(tmpi_image_rank, tmpi_libc.fileno(file));
}

template <class Open>
FILE* open_file(const char* path, const char* mode, Open open) noexcept {
  const int stream = stream_named(path);
  char own[TMPI_OWN_FILE_SIZE];
  if (stream < 0)
    return remember_file(in_rank_memory_anew(tmpi_wait_open(open, tmpi_own_file(path, own), mode)));
  const int copy = dup(stream);
  return copy < 0 ? nullptr : remember_file(open_descriptor_stream(copy, mode));
}

/// As libc's: what is open is closed first, whatever becomes of the new one.
template <class Open>
FILE* reopen_in_rank_memory(const char* path, const char* mode, FILE* file, Open open) noexcept {
  char own[TMPI_OWN_FILE_SIZE];
  if (path == nullptr) snprintf(own, sizeof own, "/proc/self/fd/%d", tmpi_libc.fileno(file));
  FILE* made = path == nullptr ? open(own, mode) : nullptr;  // another mode: while it is still open
  empty_in_rank_memory(file);
  if (path != nullptr) made = tmpi_wait_open(open, tmpi_own_file(path, own), mode);
  return fill_in_rank_memory(file, made);
}

template <class Reopen>
FILE* reopen_file(const char* path, const char* mode, FILE* file, Reopen reopen,
                  FILE* (*open)(const char*, const char*)) noexcept {
  const int stream = standard_stream(file);
  if (stream >= 0) return reopen_standard(path, mode, file, stream);
  const bool known = forget_file(file);
  prepare_to_close(file);
  FILE* const result =
      is_in_rank_memory(file) ? reopen_in_rank_memory(path, mode, file, open) : reopen(path, mode, file);
  return known ? remember_file(result) : result;
}

}  // namespace

extern "C" {

FILE* fopen(const char* path, const char* mode) {
  return open_file(path, mode, tmpi_libc.fopen);
}
FILE* fopen64(const char* path, const char* mode) {
  return open_file(path, mode, tmpi_libc.fopen64);
}
FILE* tmpfile() {
  return remember_file(in_rank_memory_anew(tmpi_libc.tmpfile()));
}
FILE* tmpfile64() {
  return remember_file(in_rank_memory_anew(tmpi_libc.tmpfile64()));
}

FILE* fdopen(int fd, const char* mode) {
  return remember_file(is_rank_descriptor(fd) ? open_descriptor_stream(fd, mode)
                                              : in_rank_memory(tmpi_libc.fdopen(fd, mode)));
}

FILE* freopen(const char* path, const char* mode, FILE* file) {
  return reopen_file(path, mode, file, tmpi_libc.freopen, tmpi_libc.fopen);
}
FILE* freopen64(const char* path, const char* mode, FILE* file) {
  return reopen_file(path, mode, file, tmpi_libc.freopen64, tmpi_libc.fopen64);
}

int fclose(FILE* file) {
  const int stream = standard_stream(file);
  if (stream >= 0) return close_standard(file, stream);
  forget_file(file);
  prepare_to_close(file);
  const int result = is_in_rank_memory(file) ? close_in_rank_memory(file) : tmpi_libc.fclose(file);
  return wide_memory_closed(file) == 0 ? result : EOF;
}

int fflush(FILE* file) {
  if (file == nullptr) return flush_all();
  const int result = tmpi_wait_flush(tmpi_libc.fflush, file);
  return wide_memory_flushed(file) == 0 ? result : EOF;
}
int fflush_unlocked(FILE* file) {
  if (file == nullptr) return flush_all();
  const int result = tmpi_wait_flush(tmpi_libc.fflush_unlocked, file);
  return wide_memory_flushed(file) == 0 ? result : EOF;
}

// libc's would reach the files of all ranks.
int fcloseall() {
  return flush_all();
}
void _flushlbf() {
  flush_all();
}

int fileno(FILE* file) {
  const int stream = standard_stream(file);
  return stream >= 0 ? stream : tmpi_libc.fileno(file);
}
int fileno_unlocked(FILE* file) {
  const int stream = standard_stream(file);
  return stream >= 0 ? stream : tmpi_libc.fileno_unlocked(file);
}

}  // extern "C"

}  // namespace tmpi::shim
