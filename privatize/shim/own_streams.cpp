#include "privatize/shim/own_streams.hpp"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/lock.hpp"

namespace tmpi::shim {
namespace {

// libc lays a stream of fopen out as FILE, a table of functions, its lock, and what it needs for wide characters.
constexpr size_t kLock = sizeof(FILE) + sizeof(void*), kWide = kLock + 16, kBytes = kWide + 232;
constexpr int kListed = 0x80;       // _IO_LINKED: among those that libc flushes at its own end
constexpr int kPushedBack = 0x100;  // _IO_IN_BACKUP

struct OwnStream {
  alignas(16) char bytes[kBytes];
  OwnStream* next;
  char buffer[BUFSIZ];

  FILE* file() noexcept { return reinterpret_cast<FILE*>(bytes); }
};

OwnStream* streams;
Lock lock;

char* place_in(FILE* file, size_t offset) noexcept {
  return reinterpret_cast<char*>(file) + offset;
}

bool has_known_layout(FILE* made) noexcept {
  return reinterpret_cast<char*>(made->_lock) == place_in(made, kLock) &&
         reinterpret_cast<char*>(made->_wide_data) == place_in(made, kWide);
}

/// Moves what libc has opened to `stream`.
void take(OwnStream& stream, FILE* made) noexcept {
  FILE* const file = stream.file();
  memcpy(file, made, kBytes);
  file->_lock = reinterpret_cast<_IO_lock_t*>(place_in(file, kLock));
  file->_wide_data = reinterpret_cast<_IO_wide_data*>(place_in(file, kWide));
  file->_flags &= ~kListed;
  made->_fileno = -1;
  tmpi_libc.fclose(made);
  setvbuf(file, stream.buffer, _IOFBF, sizeof stream.buffer);
}

OwnStream* known(const FILE* file) noexcept {
  Locked locked(lock);
  OwnStream* stream = streams;
  while (stream != nullptr && stream->file() != file) stream = stream->next;
  return stream;
}

void release(OwnStream* stream) noexcept {
  {
    Locked locked(lock);
    OwnStream** at = &streams;
    while (*at != stream) at = &(*at)->next;
    *at = stream->next;
  }
  free(stream);
}

/// fclose without its end.
int close_contents(FILE* file) noexcept {
  flockfile(file);
  const int result = tmpi_libc._IO_file_close_it(file);
  tmpi_libc._IO_free_backup_area(file);
  funlockfile(file);
  return result;
}

}  // namespace

FILE* in_rank_memory(FILE* made) noexcept {
  if (made == nullptr || tmpi_ranks_are_saved() == 0 || !has_known_layout(made) ||
      tmpi_libc.isatty(tmpi_libc.fileno(made)) != 0)
    return made;
  auto* const stream = static_cast<OwnStream*>(malloc(sizeof(OwnStream)));
  if (stream == nullptr) return made;
  take(*stream, made);
  Locked locked(lock);
  stream->next = streams;
  streams = stream;
  return stream->file();
}

FILE* in_rank_memory_anew(FILE* made) noexcept {
  if (made != nullptr && tmpi_ranks_are_saved() != 0) made->_fileno = tmpi_own_descriptor(made->_fileno);
  return in_rank_memory(made);
}

bool is_in_rank_memory(const FILE* file) noexcept {
  return known(file) != nullptr;
}

int close_in_rank_memory(FILE* file) noexcept {
  const int result = close_contents(file);
  release(known(file));
  return result;
}

void empty_in_rank_memory(FILE* file) noexcept {
  close_contents(file);
}

FILE* fill_in_rank_memory(FILE* file, FILE* made) noexcept {
  if (made == nullptr) {
    release(known(file));
    return nullptr;
  }
  made->_fileno = tmpi_own_descriptor(made->_fileno);
  take(*known(file), made);
  return file;
}

const char* why_stream_not_saved(FILE* file) noexcept {
  if (!is_in_rank_memory(file))
    return "has streams open that are not of files (popen, open_memstream, a terminal)";
  if (file->_mode > 0) return "has a stream of wide characters open";
  if ((file->_flags & kPushedBack) != 0 && file->_IO_read_ptr != file->_IO_read_end)
    return "has pushed characters back into a stream (ungetc)";
  tmpi_libc._IO_free_backup_area(file);  // libc's; nothing is in it
  return nullptr;
}

}  // namespace tmpi::shim
