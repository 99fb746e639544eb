// The frame of the functions of files: an error is raised on the file, or on MPI_FILE_NULL if there is none.
#pragma once

#include "mpi/base/check.hpp"
#include "mpi/io/file.hpp"
#include "mpi/io/operations.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {

[[gnu::cold]] inline Err bad_file(MPI_File handle) {
  if (handle == MPI_FILE_NULL)
    return fail(MPI_ERR_FILE, "the file is MPI_FILE_NULL: never opened, or closed");
  return fail(MPI_ERR_FILE, "{} is no open file", static_cast<const void*>(handle));
}

/// Runs `body(Rank&)`; an error is raised on MPI_FILE_NULL.
template <class Body>
int on_no_file(const char* name, Body&& body) {
  const Frame frame(name);
  Rank* rank = frame.rank();
  if (rank == nullptr) return raise_not_initialized(name);
  if (Err error = guarded([&]() -> Err { return body(*rank); })) return raise_on(name, no_file(*rank), error);
  return MPI_SUCCESS;
}

/// Runs `body(File&)`.
template <class Body>
int on_file(const char* name, MPI_File handle, Body&& body) {
  const Frame frame(name);
  Rank* rank = frame.rank();
  if (rank == nullptr) return raise_not_initialized(name);
  File* file = file_from(handle);
  if (file == nullptr) return raise_on(name, no_file(*rank), bad_file(handle));
  if (Err error = guarded([&]() -> Err { return body(*file); })) return raise_on(name, file->target, error);
  return MPI_SUCCESS;
}

/// The same for a call that all members make together: see do_part().
template <class Body>
int on_file_together(const char* name, MPI_File handle, Body&& body) {
  return on_file(name, handle, [&](File& file) {
    return do_part(file.comm->size, "its part of what all members of a file's communicator do together",
                   [&]() -> Err { return body(file); });
  });
}

// The calls that move data. `buf` is written through by reads only.

template <Transfer transfer, Pointer pointer>
int move_alone(const char* name, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
               MPI_Datatype type, MPI_Status* status) {
  return on_file(name, fh, [&](File& file) {
    return move_alone(file, {name, transfer, pointer, offset, const_cast<void*>(buf), count, type}, status);
  });
}

template <Transfer transfer, Pointer pointer>
int start_alone(const char* name, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                MPI_Datatype type, MPI_Request* request) {
  return on_file(name, fh, [&](File& file) -> Err {
    TMPI_TRY(check_pointer(request, "request"));
    return start_alone(file, {name, transfer, pointer, offset, const_cast<void*>(buf), count, type}, request);
  });
}

template <Transfer transfer, Pointer pointer>
int move_together(const char* name, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                  MPI_Datatype type, MPI_Status* status) {
  return on_file_together(name, fh, [&](File& file) {
    return move_together(file, {name, transfer, pointer, offset, const_cast<void*>(buf), count, type},
                         status);
  });
}

template <Transfer transfer, Pointer pointer>
int start_together(const char* name, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                   MPI_Datatype type, MPI_Request* request) {
  return on_file_together(name, fh, [&](File& file) {
    return start_together(file, {name, transfer, pointer, offset, const_cast<void*>(buf), count, type},
                          request);
  });
}

template <Transfer transfer, Pointer pointer>
int begin_split(const char* name, MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                MPI_Datatype type) {
  return on_file_together(name, fh, [&](File& file) {
    return begin_split(file, {name, transfer, pointer, offset, const_cast<void*>(buf), count, type});
  });
}

template <Transfer transfer, Pointer pointer>
int end_split(const char* name, MPI_File fh, const void* buf, MPI_Status* status) {
  return on_file_together(name, fh, [&](File& file) {
    return end_split(file, {name, transfer, pointer, 0, const_cast<void*>(buf), 0, MPI_DATATYPE_NULL},
                     status);
  });
}

}  // namespace tmpi::mpi
