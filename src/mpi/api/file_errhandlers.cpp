// Error handlers of files. MPI_FILE_NULL has one, which files inherit when they are opened. MPI report, 9.3 and 14.7.
#include "mpi/api/file_calls.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/io/rank_files.hpp"

namespace tmpi::mpi {
namespace {

// Runs body(Errhandler*&) on the field of a file, or of files in general.
template <class Body>
int on_handler(const char* name, MPI_File handle, Body&& body) {
  if (handle == MPI_FILE_NULL)
    return on_no_file(name, [&](Rank& rank) { return body(files_of(rank).handler); });
  return on_file(name, handle, [&](File& file) { return body(file.target.handler); });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  return on_handler("MPI_File_set_errhandler", file,
                    [&](Errhandler*& field) { return set_errhandler(field, Raiser::kFile, errhandler); });
}
TMPI_PROFILED(MPI_File_set_errhandler);

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  return on_handler("MPI_File_get_errhandler", file,
                    [&](Errhandler*& field) { return get_errhandler(field, errhandler); });
}
TMPI_PROFILED(MPI_File_get_errhandler);

int PMPI_File_call_errhandler(MPI_File fh, int errorcode) {
  const char* name = "MPI_File_call_errhandler";
  const Frame frame(name);  // around the handler, too, which may throw
  ErrorTarget target{};
  const int code = fh == MPI_FILE_NULL ? on_no_file(name,
                                                    [&](Rank& rank) -> Err {
                                                      target = no_file(rank);
                                                      return kOk;
                                                    })
                                       : on_file(name, fh, [&](File& file) -> Err {
                                           target = file.target;
                                           return kOk;
                                         });
  if (code == MPI_SUCCESS) call_errhandler(name, target, errorcode);
  return code;
}
TMPI_PROFILED(MPI_File_call_errhandler);
