/* What MPI 3.0 removed and old programs call: addresses and displacements are INTEGER. Written with their replacements. */
#include <stdlib.h>

#include "fortran/callbacks.h"

/* An address that does not fit is an error: no program gets half of one. */
OWN_CALLS static int to_integer(MPI_Aint wide, MPI_Fint* out) {
  *out = (MPI_Fint)wide;
  if (*out == wide) return MPI_SUCCESS;
  static int code;
  if (code == 0) {
    int made;
    PMPI_Add_error_code(MPI_ERR_ARG, &made);
    PMPI_Add_error_string(
        made,
        "an address or extent does not fit into an INTEGER: this function was removed in MPI 3.0; use "
        "MPI_Get_address, "
        "MPI_Type_get_extent and MPI_Type_create_struct, whose arguments are INTEGER(KIND=MPI_ADDRESS_KIND)");
    code = made;
  }
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
  return code;
}

void F(address)(void* location, MPI_Fint* address, MPI_Fint* ierror) {
  MPI_Aint wide = 0;
  int error = C(Get_address)(choice(location), &wide);
  if (error == MPI_SUCCESS) error = to_integer(wide, address);
  finish(ierror, error);
}

static int bounds(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return C(Type_get_extent)(datatype, lb, extent);
}
#define BOUND(name, value)                                               \
  void F(name)(MPI_Fint * datatype, MPI_Fint * out, MPI_Fint * ierror) { \
    MPI_Aint lb = 0, extent = 0;                                         \
    int error = bounds(datatype_from(*datatype), &lb, &extent);          \
    if (error == MPI_SUCCESS) error = to_integer(value, out);            \
    finish(ierror, error);                                               \
  }
BOUND(type_extent, extent)
BOUND(type_lb, lb)
BOUND(type_ub, lb + extent)

static MPI_Aint* widened(MPI_Fint count, const MPI_Fint* displacements) {
  MPI_Aint* const wide =
      (MPI_Aint*)tmpi_fortran_allocate("displacements", (size_t)(count > 0 ? count : 0) * sizeof *wide);
  for (MPI_Fint i = 0; i < count; i++) wide[i] = displacements[i];
  return wide;
}

void F(type_hindexed)(MPI_Fint* count, MPI_Fint* lengths, MPI_Fint* displacements, MPI_Fint* oldtype,
                      MPI_Fint* newtype, MPI_Fint* ierror) {
  MPI_Aint* const wide = widened(*count, displacements);
  MPI_Datatype made = NULL;
  const int error = C(Type_create_hindexed)(*count, lengths, wide, datatype_from(*oldtype), &made);
  if (error == MPI_SUCCESS) *newtype = tmpi_number((void*)made);
  free(wide);
  finish(ierror, error);
}

void F(type_hvector)(MPI_Fint* count, MPI_Fint* blocklength, MPI_Fint* stride, MPI_Fint* oldtype,
                     MPI_Fint* newtype, MPI_Fint* ierror) {
  MPI_Datatype made = NULL;
  const int error = C(Type_create_hvector)(*count, *blocklength, *stride, datatype_from(*oldtype), &made);
  if (error == MPI_SUCCESS) *newtype = tmpi_number((void*)made);
  finish(ierror, error);
}

void F(type_struct)(MPI_Fint* count, MPI_Fint* lengths, MPI_Fint* displacements, MPI_Fint* types,
                    MPI_Fint* newtype, MPI_Fint* ierror) {
  MPI_Aint* const wide = widened(*count, displacements);
  HANDLES(MPI_Datatype, types_c, *count);
  for (MPI_Count i = 0; i < types_c_count; i++) types_c[i] = datatype_from(types[i]);
  MPI_Datatype made = NULL;
  const int error =
      C(Type_create_struct)(*count, lengths, wide, types_c, &made); /* understands MPI_LB and MPI_UB */
  if (error == MPI_SUCCESS) *newtype = tmpi_number((void*)made);
  HANDLES_END(types_c);
  free(wide);
  finish(ierror, error);
}

void F(errhandler_create)(FortranProcedure* procedure, MPI_Fint* errhandler, MPI_Fint* ierror) {
  int error = MPI_SUCCESS;
  MPI_Comm_errhandler_function* const function = tmpi_errhandler_for(procedure, &error);
  MPI_Errhandler made = NULL;
  if (function != NULL) error = C(Comm_create_errhandler)(function, &made);
  if (made != NULL) *errhandler = tmpi_number((void*)made);
  finish(ierror, error);
}
void F(errhandler_get)(MPI_Fint* comm, MPI_Fint* errhandler, MPI_Fint* ierror) {
  MPI_Errhandler found = NULL;
  const int error = C(Comm_get_errhandler)(comm_from(*comm), &found);
  if (found != NULL) *errhandler = tmpi_number((void*)found);
  finish(ierror, error);
}
void F(errhandler_set)(MPI_Fint* comm, MPI_Fint* errhandler, MPI_Fint* ierror) {
  finish(ierror, C(Comm_set_errhandler)(comm_from(*comm), errhandler_from(*errhandler)));
}
