// What the operating system says of files, in the standard's error classes (MPI report, 14.7) and in a sentence
// that names file, rank and offset. Cold; nothing suspends.
#pragma once

#include <string>

#include "mpi/base/error.hpp"
#include "mpi/io/raw_io.hpp"

namespace tmpi::mpi {

/// The error class of an errno; MPI_SUCCESS for 0.
int class_of_errno(int error) noexcept;

/// `doing` ("writing", "reading") `bytes` bytes of a file has failed as `result` says.
Err transfer_failed(const char* doing, const std::string& path, MPI_Count bytes, const IoResult& result);

/// What concerns a file as a whole: `doing` is "opening", "resizing", ...
Err file_failed(const char* doing, const std::string& path, int error);

/// The same, found by another member: `rank` of the file's communicator.
Err file_failed_at(int rank, const char* doing, const std::string& path, int error);

}  // namespace tmpi::mpi
