// Datatypes and data representations of files. MPI report, 14.5.
#include <algorithm>
#include <cstring>

#include "mpi/api/counted/counted.hpp"
#include "mpi/api/file_calls.hpp"
#include "mpi/datatype/check.hpp"
#include "mpi/io/manage.hpp"
#include "mpi/io/rank_files.hpp"

namespace tmpi::mpi {
namespace {

using ConversionFunction = ConversionFunctions<Count>::Convert;

Err check_new_name(Rank& rank, const char* name) {
  TMPI_TRY(check_pointer(name, "datarep"));
  const std::size_t length = ::strnlen(name, MPI_MAX_DATAREP_STRING);
  if (length == 0 || length == MPI_MAX_DATAREP_STRING)
    return fail(MPI_ERR_ARG, "datarep has to have 1 to {} characters", MPI_MAX_DATAREP_STRING - 1);
  std::shared_ptr<const Representation> known;
  if (!find_representation(rank, name, known))
    return fail(MPI_ERR_DUP_DATAREP, "there is a data representation \"{}\" already", name);
  return kOk;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int TMPI_COUNTED(Register_datarep)(const char* datarep, ConversionFunction* read_conversion_fn,
                                   ConversionFunction* write_conversion_fn,
                                   MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return on_no_file(TMPI_COUNTED_NAME(Register_datarep), [&](Rank& rank) -> Err {
    TMPI_TRY(check_new_name(rank, datarep));
    TMPI_TRY(check_pointer(reinterpret_cast<const void*>(dtype_file_extent_fn), "dtype_file_extent_fn"));
    files_of(rank).representations.push_back(registered_representation<Count>(
        datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state));
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(Register_datarep);

int TMPI_COUNTED(File_get_type_extent)(MPI_File fh, MPI_Datatype datatype, ByteCount* extent) {
  return on_file(TMPI_COUNTED_NAME(File_get_type_extent), fh, [&](File& file) -> Err {
    Datatype* type = nullptr;
    TMPI_TRY(check_type(datatype, type));
    TMPI_TRY(check_pointer(extent, "extent"));
    MPI_Count bytes = 0;
    TMPI_TRY(type_extent(file, *type, bytes));
    *extent = bytes;
    return kOk;
  });
}
TMPI_COUNTED_PROFILED(File_get_type_extent);
