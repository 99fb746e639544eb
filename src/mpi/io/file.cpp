#include "mpi/io/file.hpp"

#include "mpi/base/handles.hpp"
#include "mpi/io/rank_files.hpp"

namespace tmpi::mpi {

File* file_from(MPI_File handle) noexcept {
  if (is_predefined(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(File) != 0) return nullptr;
  auto* file = reinterpret_cast<File*>(handle);
  return file->magic == File::kMagic ? file : nullptr;
}

ErrorTarget no_file(Rank& rank) noexcept {
  Errhandler* handler = rank.files != nullptr ? rank.files->handler : errhandler_from(MPI_ERRORS_RETURN);
  return {Raiser::kFile, MPI_FILE_NULL, handler};
}

}  // namespace tmpi::mpi
