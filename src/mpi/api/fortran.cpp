// Statuses for Fortran, and what the ABI says of C and Fortran types. MPI report, 19.3.5, 21.2 and 21.4.1.
#include <cstring>

#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/info.hpp"
#include "mpi/rank/interop.hpp"

namespace tmpi::mpi {
namespace {

// C, Fortran and Fortran 2008 statuses are the same eight integers in memory.
static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));
static_assert(offsetof(MPI_Status, MPI_SOURCE) == MPI_F_SOURCE * sizeof(MPI_Fint));
static_assert(offsetof(MPI_Status, MPI_TAG) == MPI_F_TAG * sizeof(MPI_Fint));
static_assert(offsetof(MPI_Status, MPI_ERROR) == MPI_F_ERROR * sizeof(MPI_Fint));

int convert_status(const char* name, const void* from, void* to) {
  return anywhere(name, [&]() -> Err {
    if (from == nullptr || to == nullptr)
      return fail(MPI_ERR_ARG,
                  "a status is NULL or stands for MPI_STATUS_IGNORE: there is nothing to convert");
    std::memcpy(to, from, sizeof(MPI_Status));
    return kOk;
  });
}

struct FortranType {
  const char* key;
  MPI_Datatype type;
};
constexpr std::size_t kSizeKeys = 4;  // the first rows are answered by a size, the others by true or false
const FortranType kFortranTypes[] = {
    {"mpi_logical_size", MPI_LOGICAL},
    {"mpi_integer_size", MPI_INTEGER},
    {"mpi_real_size", MPI_REAL},
    {"mpi_double_precision_size", MPI_DOUBLE_PRECISION},
    {"mpi_logical1_supported", MPI_LOGICAL1},
    {"mpi_logical2_supported", MPI_LOGICAL2},
    {"mpi_logical4_supported", MPI_LOGICAL4},
    {"mpi_logical8_supported", MPI_LOGICAL8},
    {"mpi_logical16_supported", MPI_LOGICAL16},
    {"mpi_integer1_supported", MPI_INTEGER1},
    {"mpi_integer2_supported", MPI_INTEGER2},
    {"mpi_integer4_supported", MPI_INTEGER4},
    {"mpi_integer8_supported", MPI_INTEGER8},
    {"mpi_integer16_supported", MPI_INTEGER16},
    {"mpi_real2_supported", MPI_REAL2},
    {"mpi_real4_supported", MPI_REAL4},
    {"mpi_real8_supported", MPI_REAL8},
    {"mpi_real16_supported", MPI_REAL16},
    {"mpi_complex4_supported", MPI_COMPLEX4},
    {"mpi_complex8_supported", MPI_COMPLEX8},
    {"mpi_complex16_supported", MPI_COMPLEX16},
    {"mpi_complex32_supported", MPI_COMPLEX32},
    {"mpi_double_complex_supported", MPI_DOUBLE_COMPLEX},
};

std::vector<Info::Entry> fortran_entries() {
  std::vector<Info::Entry> entries;
  for (const FortranType& row : kFortranTypes) {
    const Datatype* type = datatype_from(row.type);
    const MPI_Count size = type != nullptr && type->size() > 0 ? type->size() : 0;
    if (entries.size() < kSizeKeys) {
      entries.emplace_back(row.key, std::to_string(size));
    } else {
      entries.emplace_back(row.key, size > 0 ? "true" : "false");
    }
  }
  return entries;
}

Err check_logicals(int logical_size, const void* logical_true, const void* logical_false) {
  constexpr int kLargest = Interop::kLargestLogical;
  if (logical_size <= 0 || logical_size > kLargest || (logical_size & (logical_size - 1)) != 0)
    return fail(MPI_ERR_ARG, "logical_size is {}: a LOGICAL has 1, 2, 4, 8 or 16 bytes", logical_size);
  TMPI_TRY(check_pointer(logical_true, "logical_true"));
  return check_pointer(logical_false, "logical_false");
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  return convert_status("MPI_Status_c2f", c_status, f_status);
}
TMPI_PROFILED(MPI_Status_c2f);

int PMPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  return convert_status("MPI_Status_f2c", f_status, c_status);
}
TMPI_PROFILED(MPI_Status_f2c);

int PMPI_Status_c2f08(const MPI_Status* c_status, MPI_F08_status* f08_status) {
  return convert_status("MPI_Status_c2f08", c_status, f08_status);
}
TMPI_PROFILED(MPI_Status_c2f08);

int PMPI_Status_f082c(const MPI_F08_status* f08_status, MPI_Status* c_status) {
  return convert_status("MPI_Status_f082c", f08_status, c_status);
}
TMPI_PROFILED(MPI_Status_f082c);

int PMPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status) {
  return convert_status("MPI_Status_f2f08", f_status, f08_status);
}
TMPI_PROFILED(MPI_Status_f2f08);

int PMPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status) {
  return convert_status("MPI_Status_f082f", f08_status, f_status);
}
TMPI_PROFILED(MPI_Status_f082f);

int PMPI_Abi_get_info(MPI_Info* info) {
  return anywhere("MPI_Abi_get_info", [&]() -> Err {
    TMPI_TRY(check_pointer(info, "info"));
    *info = handle_of(*new Info({{"mpi_aint_size", std::to_string(sizeof(MPI_Aint))},
                                 {"mpi_count_size", std::to_string(sizeof(MPI_Count))},
                                 {"mpi_offset_size", std::to_string(sizeof(MPI_Offset))}}));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Abi_get_info);

int PMPI_Abi_get_fortran_info(MPI_Info* info) {
  return anywhere("MPI_Abi_get_fortran_info", [&]() -> Err {
    TMPI_TRY(check_pointer(info, "info"));
    *info = handle_of(*new Info(fortran_entries()));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Abi_get_fortran_info);

// The properties of the Fortran types are known from the start, as if a first call had set them; every call
// is then a later one.
int PMPI_Abi_set_fortran_info(MPI_Info info) {
  return anywhere("MPI_Abi_set_fortran_info", [&]() -> Err {
    const Info* wanted;
    TMPI_TRY(hints_from(info, wanted));
    return fail(MPI_ERR_ABI,
                "the properties of Fortran types are fixed: MPI_Abi_get_fortran_info says what they are");
  });
}
TMPI_PROFILED(MPI_Abi_set_fortran_info);

int PMPI_Abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false) {
  return anywhere("MPI_Abi_set_fortran_booleans", [&]() -> Err {
    TMPI_TRY(check_logicals(logical_size, logical_true, logical_false));
    Interop& mine = interop();
    if (mine.logical_size != 0)
      return fail(MPI_ERR_ABI, "the values of .TRUE. and .FALSE. have been set already");
    std::memcpy(mine.logical_true.data(), logical_true, static_cast<std::size_t>(logical_size));
    std::memcpy(mine.logical_false.data(), logical_false, static_cast<std::size_t>(logical_size));
    mine.logical_size = logical_size;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Abi_set_fortran_booleans);

int PMPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  return anywhere("MPI_Abi_get_fortran_booleans", [&]() -> Err {
    TMPI_TRY(check_logicals(logical_size, logical_true, logical_false));
    TMPI_TRY(check_pointer(is_set, "is_set"));
    const Interop& mine = interop();
    if (mine.logical_size != 0 && mine.logical_size != logical_size)
      return fail(MPI_ERR_ARG, "logical_size is {}, but the values were set with {}", logical_size,
                  mine.logical_size);
    *is_set = mine.logical_size != 0;
    if (*is_set == 0) return kOk;
    std::memcpy(logical_true, mine.logical_true.data(), static_cast<std::size_t>(logical_size));
    std::memcpy(logical_false, mine.logical_false.data(), static_cast<std::size_t>(logical_size));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Abi_get_fortran_booleans);
