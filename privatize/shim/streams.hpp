// The rank's stdin, stdout and stderr, and the list of files it has open, so that fflush(NULL) and exit reach
// this rank's files and no other's.
#pragma once

#include <stdio.h>

namespace tmpi::shim {

/// Creates the rank's three streams. For tmpi_shim_start.
void start_streams() noexcept;

/// Number 0..2 of a standard stream of this rank, -1 for any other file.
int standard_stream(const FILE* file) noexcept;

/// A stream over rank descriptor `fd` (descriptors.hpp): what fdopen gives for it. Null with errno on
/// failure.
FILE* open_descriptor_stream(int fd, const char* mode) noexcept;

/// Keeps `file` in the rank's list until forget_file; passes it through, null included.
FILE* remember_file(FILE* file) noexcept;
/// Takes it off the list; false if it was not there.
bool forget_file(const FILE* file) noexcept;

/// fflush(NULL) for this rank: 0 or EOF. What exit() does with the files: all are written out.
int flush_all() noexcept;

/// What is in the way of reviving the rank in another process; null: nothing.
const char* why_streams_cannot_be_saved() noexcept;

/// Writes out stdout and stderr unless another thread of the rank is inside them: for a rank that is about to
/// abort.
void flush_before_abort() noexcept;

}  // namespace tmpi::shim
