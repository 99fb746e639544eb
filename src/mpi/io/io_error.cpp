#include "mpi/io/io_error.hpp"

#include <cerrno>
#include <cstring>

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

// What to do about it, where that is not plain.
const char* advice(int error) noexcept {
  switch (error) {
    case ENOSPC:
      return ". Make room on the file system; what was reported as written before is in the file";
    case EDQUOT:
      return ". The user's or group's quota is used up";
    case EFBIG:
      return ": the file may not become that large (ulimit -f, or a limit of the file system)";
    case EISDIR:
      return ": name a file in it";
    case EINVAL:
      return ": the file system does not support this, or it is no ordinary file";
    case ESPIPE:
      return ": it is a pipe, a terminal or a socket, in which nobody can go to an offset";
    case ENOLCK:
    case EOPNOTSUPP:
      return ". The file system has no locks; atomic mode and romio_ds_write=enable need them when several "
             "node "
             "processes share a file";
    default:
      return "";
  }
}

}  // namespace

int class_of_errno(int error) noexcept {
  switch (error) {
    case 0:
      return MPI_SUCCESS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case ENXIO:
      return MPI_ERR_BAD_FILE;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    case ESPIPE:
    case EOPNOTSUPP:
    case ENOLCK:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
      return MPI_ERR_IO;
  }
}

Err transfer_failed(const char* doing, const std::string& path, MPI_Count bytes, const IoResult& result) {
  return fail(class_of_errno(result.error),
              "rank {} on {}: {} {} bytes of {} failed at offset {} after {} bytes: {}{}",
              current_rank().world_rank, job()->host(), doing, bytes, path, result.where, result.bytes,
              std::strerror(result.error), advice(result.error));
}

Err file_failed(const char* doing, const std::string& path, int error) {
  return fail(class_of_errno(error), "rank {} on {}: {} {} failed: {}{}", current_rank().world_rank,
              job()->host(), doing, path, std::strerror(error), advice(error));
}

Err file_failed_at(int rank, const char* doing, const std::string& path, int error) {
  return fail(class_of_errno(error), "rank {} of the file's communicator: {} {} failed: {}{}", rank, doing,
              path, std::strerror(error), advice(error));
}

}  // namespace tmpi::mpi
