/* Procedures that hand a Fortran procedure to MPI, and attributes. */
#include <stdlib.h>

#include "fortran/callbacks.h"
#include "fortran/integers.h"

#define OP_CREATE(name, Name, Function)                                                            \
  void F(name)(FortranProcedure * user_fn, MPI_Fint * commute, MPI_Fint * op, MPI_Fint * ierror) { \
    int error = MPI_SUCCESS;                                                                       \
    MPI_User_function* const function = tmpi_operator_for(user_fn, &error);                        \
    MPI_Op op_c = NULL;                                                                            \
    if (function != NULL) error = C(Name)((Function*)function, *commute, &op_c);                   \
    if (op_c != NULL) *op = tmpi_number((void*)op_c);                                              \
    finish(ierror, error);                                                                         \
  }                                                                                                \
  F08(name);
OP_CREATE(op_create, Op_create, MPI_User_function)
/* len is the address of a count of either kind: the same function serves. */
OP_CREATE(op_create_c, Op_create_c, MPI_User_function_c)

#define CREATE_ERRHANDLER(name, Name, Function)                                            \
  void F(name)(FortranProcedure * procedure, MPI_Fint * errhandler, MPI_Fint * ierror) {   \
    int error = MPI_SUCCESS;                                                               \
    MPI_Comm_errhandler_function* const function = tmpi_errhandler_for(procedure, &error); \
    MPI_Errhandler errhandler_c = NULL;                                                    \
    if (function != NULL) error = C(Name)((Function*)function, &errhandler_c);             \
    if (errhandler_c != NULL) *errhandler = tmpi_number((void*)errhandler_c);              \
    finish(ierror, error);                                                                 \
  }                                                                                        \
  F08(name);
CREATE_ERRHANDLER(comm_create_errhandler, Comm_create_errhandler, MPI_Comm_errhandler_function)
CREATE_ERRHANDLER(session_create_errhandler, Session_create_errhandler, MPI_Session_errhandler_function)
#ifdef TMPI_HAS_Win_create_errhandler
CREATE_ERRHANDLER(win_create_errhandler, Win_create_errhandler, MPI_Win_errhandler_function)
#endif
#ifdef TMPI_HAS_File_create_errhandler
CREATE_ERRHANDLER(file_create_errhandler, File_create_errhandler, MPI_File_errhandler_function)
#endif

#define CREATE_KEYVAL(name, Name, Value, Copy, Delete, copy_function, delete_function)                      \
  void F(name)(FortranProcedure * copy, FortranProcedure * discard, MPI_Fint * keyval, Value * extra_state, \
               MPI_Fint * ierror) {                                                                         \
    AttributeState* const state = tmpi_attribute_state(copy, discard, *extra_state);                        \
    const int error = C(Name)((Copy*)copy_function, (Delete*)delete_function, keyval, state);               \
    if (error != MPI_SUCCESS) free(state);                                                                  \
    finish(ierror, error);                                                                                  \
  }                                                                                                         \
  F08(name);
CREATE_KEYVAL(comm_create_keyval, Comm_create_keyval, MPI_Aint, MPI_Comm_copy_attr_function,
              MPI_Comm_delete_attr_function, tmpi_copy_attribute, tmpi_delete_attribute)
CREATE_KEYVAL(type_create_keyval, Type_create_keyval, MPI_Aint, MPI_Type_copy_attr_function,
              MPI_Type_delete_attr_function, tmpi_copy_attribute, tmpi_delete_attribute)
#ifdef TMPI_HAS_Win_create_keyval
CREATE_KEYVAL(win_create_keyval, Win_create_keyval, MPI_Aint, MPI_Win_copy_attr_function,
              MPI_Win_delete_attr_function, tmpi_copy_attribute, tmpi_delete_attribute)
#endif
CREATE_KEYVAL(keyval_create, Keyval_create, MPI_Fint, MPI_Copy_function, MPI_Delete_function,
              tmpi_copy_old_attribute, tmpi_delete_old_attribute)

/* An attribute as Fortran gets it; MPI's own are addresses of integers in C. */
static MPI_Aint attribute_value(int keyval, void* value) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_HOST:
    case MPI_IO:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *(int*)value;
    case MPI_WIN_SIZE:
      return *(MPI_Aint*)value;
    default:
      return tmpi_integer_of(value);
  }
}

#define ATTRIBUTES(name, Name, get, set, Value)                                               \
  void F(name##get)(MPI_Fint * handle, MPI_Fint * keyval, Value * value, MPI_Fint * flag,     \
                    MPI_Fint * ierror) {                                                      \
    void* value_c = NULL;                                                                     \
    int found = 0;                                                                            \
    const int error = C(Name##get)(name##handle(*handle), *keyval, &value_c, &found);         \
    if (error == MPI_SUCCESS) {                                                               \
      *flag = found;                                                                          \
      if (found) *value = (Value)attribute_value(*keyval, value_c);                           \
    }                                                                                         \
    finish(ierror, error);                                                                    \
  }                                                                                           \
  F08(name##get);                                                                             \
  void F(name##set)(MPI_Fint * handle, MPI_Fint * keyval, Value * value, MPI_Fint * ierror) { \
    void* const place = tmpi_integer_place(*value);                                           \
    const int error = C(Name##set)(name##handle(*handle), *keyval, place);                    \
    if (error != MPI_SUCCESS) tmpi_integer_forget(place);                                     \
    finish(ierror, error);                                                                    \
  }                                                                                           \
  F08(name##set);
#define comm_handle comm_from
#define type_handle datatype_from
#define win_handle win_from
#define attr_handle comm_from
ATTRIBUTES(comm_, Comm_, get_attr, set_attr, MPI_Aint)
ATTRIBUTES(type_, Type_, get_attr, set_attr, MPI_Aint)
#ifdef TMPI_HAS_Win_get_attr
ATTRIBUTES(win_, Win_, get_attr, set_attr, MPI_Aint)
#endif
ATTRIBUTES(attr_, Attr_, get, put, MPI_Fint)

void F(grequest_start)(FortranProcedure* query_fn, FortranProcedure* free_fn, FortranProcedure* cancel_fn,
                       MPI_Aint* extra_state, MPI_Fint* request, MPI_Fint* ierror) {
  GrequestState* const state = (GrequestState*)tmpi_fortran_allocate("a generalized request", sizeof *state);
  *state = (GrequestState){query_fn, free_fn, cancel_fn, *extra_state, extra_state};
  MPI_Request request_c = NULL;
  const int error =
      C(Grequest_start)(tmpi_grequest_query, tmpi_grequest_free, tmpi_grequest_cancel, state, &request_c);
  if (error != MPI_SUCCESS) free(state);
  if (request_c != NULL) *request = tmpi_number(request_c);
  finish(ierror, error);
}
F08(grequest_start);

static int is_no_conversion(FortranProcedure* procedure) {
  return procedure == mpi_conversion_fn_null_ || procedure == mpi_conversion_fn_null_c_;
}

#define REGISTER_DATAREP(name, Name, Function, null, reader, writer)                  \
  void F(name)(char* datarep, FortranProcedure* read_fn, FortranProcedure* write_fn,  \
               FortranProcedure* extent_fn, MPI_Aint* extra_state, MPI_Fint* ierror,  \
               size_t datarep_length) {                                               \
    STRING(datarep_c, datarep, datarep_length, 0);                                    \
    DatarepState* const state =                                                       \
        (DatarepState*)tmpi_fortran_allocate("a data representation", sizeof *state); \
    *state = (DatarepState){read_fn, write_fn, extent_fn, *extra_state};              \
    Function* const reads = is_no_conversion(read_fn) ? null : reader;                \
    Function* const writes = is_no_conversion(write_fn) ? null : writer;              \
    const int error = C(Name)(datarep_c, reads, writes, tmpi_datarep_extent, state);  \
    if (error != MPI_SUCCESS) free(state);                                            \
    STRING_END(datarep_c);                                                            \
    finish(ierror, error);                                                            \
  }                                                                                   \
  F08(name);
#ifdef TMPI_HAS_Register_datarep
REGISTER_DATAREP(register_datarep, Register_datarep, MPI_Datarep_conversion_function, MPI_CONVERSION_FN_NULL,
                 tmpi_datarep_read, tmpi_datarep_write)
#endif
#ifdef TMPI_HAS_Register_datarep_c
REGISTER_DATAREP(register_datarep_c, Register_datarep_c, MPI_Datarep_conversion_function_c,
                 MPI_CONVERSION_FN_NULL_C, tmpi_datarep_read_c, tmpi_datarep_write_c)
#endif
