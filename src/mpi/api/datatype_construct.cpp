// MPI_Type_dup, _commit, _free, and the constructors of predefined types: those that a Fortran kind or a size
// selects, and value-index pairs. The constructors with counts: counted/datatype_construct.cpp. MPI report,
// 5.1.9, 5.1.10, 6.9.4, 19.1.9.
#include "mpi/api/datatype_calls.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/selected.hpp"
#include "mpi/rank/attributes.hpp"

using namespace tmpi::mpi;

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return on_type("MPI_Type_dup", oldtype, [&](Datatype& old) -> Err {
    TMPI_TRY(check_pointer(newtype, "newtype"));
    Datatype* type = nullptr;
    TMPI_TRY(construct_dup(old, type));
    if (Err error = copy_attributes(old, *type)) {
      (void)delete_attributes(*type);  // those that have been copied; the first error counts
      type->release();
      *newtype = MPI_DATATYPE_NULL;
      return error;
    }
    *newtype = handle_of(*type);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_dup);

int PMPI_Type_commit(MPI_Datatype* datatype) {
  return on_rank("MPI_Type_commit", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(datatype, "datatype"));
    Datatype* type = datatype_from(*datatype);
    if (type == nullptr) return bad_type(*datatype);
    if (!type->committed()) type->commit();  // predefined types are shared by all ranks: never written
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_commit);

int PMPI_Type_free(MPI_Datatype* datatype) {
  return on_rank("MPI_Type_free", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(datatype, "datatype"));
    Datatype* type = datatype_from(*datatype);
    if (type == nullptr) return bad_type(*datatype);
    if (type->predefined())
      return fail(MPI_ERR_TYPE,
                  "{} is predefined and cannot be freed; free only types that a constructor returned",
                  type->name());
    if (type->last_handle()) TMPI_TRY(delete_attributes(*type));
    type->drop_handle();
    type->release();
    *datatype = MPI_DATATYPE_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_free);

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  return construct("MPI_Type_create_f90_real", newtype,
                   [&](Datatype*& type) { return select_real(p, r, type); });
}
TMPI_PROFILED(MPI_Type_create_f90_real);

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  return construct("MPI_Type_create_f90_complex", newtype,
                   [&](Datatype*& type) { return select_complex(p, r, type); });
}
TMPI_PROFILED(MPI_Type_create_f90_complex);

int PMPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
  return construct("MPI_Type_create_f90_integer", newtype,
                   [&](Datatype*& type) { return select_integer(r, type); });
}
TMPI_PROFILED(MPI_Type_create_f90_integer);

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  return construct("MPI_Type_match_size", datatype,
                   [&](Datatype*& type) { return match_size(typeclass, size, type); });
}
TMPI_PROFILED(MPI_Type_match_size);

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type) {
  return on_rank("MPI_Type_get_value_index", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(pair_type, "pair_type"));
    const Datatype* value = datatype_from(value_type);
    if (value == nullptr) return bad_type(value_type);
    const Datatype* index = datatype_from(index_type);
    if (index == nullptr) return bad_type(index_type);
    *pair_type = value_index_pair(*value, *index);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_get_value_index);
