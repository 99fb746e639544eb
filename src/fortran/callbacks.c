/* See callbacks.h. */
#include "fortran/callbacks.h"

#include <stdlib.h>

#include "fortran/integers.h"

/* The n-th function of each kind calls the n-th procedure. */
#define SLOTS 64
static FortranProcedure *operators[SLOTS], *errhandlers[SLOTS];

static void call_operator(int slot, void* invec, void* inoutvec, void* len, MPI_Datatype* datatype) {
  MPI_Fint number = tmpi_number((void*)*datatype);
  ((void (*)(void*, void*, void*, MPI_Fint*))operators[slot])(invec, inoutvec, len, &number);
}
static void call_errhandler(int slot, void** handle, int* error_code) {
  MPI_Fint number = tmpi_number(*handle);
  ((void (*)(MPI_Fint*, MPI_Fint*))errhandlers[slot])(&number, error_code);
  emptied(&number, *handle);
}

#define EIGHT(DO, n) DO(n##0) DO(n##1) DO(n##2) DO(n##3) DO(n##4) DO(n##5) DO(n##6) DO(n##7)
#define ALL(DO) \
  EIGHT(DO, 0)  \
  EIGHT(DO, 01) EIGHT(DO, 02) EIGHT(DO, 03) EIGHT(DO, 04) EIGHT(DO, 05) EIGHT(DO, 06) EIGHT(DO, 07)
#define OPERATOR(n)                                                               \
  static void operator_##n(void* in, void* inout, int* len, MPI_Datatype* type) { \
    call_operator(n, in, inout, len, type);                                       \
  }
#define ERRHANDLER(n)                                                \
  static void errhandler_##n(MPI_Comm* comm, int* error_code, ...) { \
    call_errhandler(n, (void**)comm, error_code);                    \
  }
#define OPERATOR_NAME(n) operator_##n,
#define ERRHANDLER_NAME(n) errhandler_##n,
ALL(OPERATOR)
ALL(ERRHANDLER)
static MPI_User_function* const operator_functions[SLOTS] = {ALL(OPERATOR_NAME)};
static MPI_Comm_errhandler_function* const errhandler_functions[SLOTS] = {ALL(ERRHANDLER_NAME)};

/* The procedure's slot; threads of the rank may ask at once. */
OWN_CALLS static int slot_of(FortranProcedure** slots, FortranProcedure* procedure, const char* sentence,
                             int* error) {
  for (int i = 0; i < SLOTS; i++) {
    FortranProcedure* seen = NULL;
    if (__atomic_compare_exchange_n(&slots[i], &seen, procedure, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
        seen == procedure)
      return i;
  }
  int code = MPI_ERR_OTHER;
  PMPI_Add_error_code(MPI_ERR_OTHER, &code);
  PMPI_Add_error_string(code, sentence);
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
  *error = code;
  return -1;
}

MPI_User_function* tmpi_operator_for(FortranProcedure* procedure, int* error) {
  const int slot = slot_of(operators, procedure,
                           "a rank can make operators of 64 different Fortran procedures, and this is one "
                           "more. An internal procedure "
                           "counts anew each time that its host is called: make it a module procedure",
                           error);
  return slot < 0 ? NULL : operator_functions[slot];
}

MPI_Comm_errhandler_function* tmpi_errhandler_for(FortranProcedure* procedure, int* error) {
  const int slot = slot_of(errhandlers, procedure,
                           "a rank can make error handlers of 64 different Fortran procedures, and this is "
                           "one more. An internal procedure "
                           "counts anew each time that its host is called: make it a module procedure",
                           error);
  return slot < 0 ? NULL : errhandler_functions[slot];
}

/* Not given back: attributes outlive their key. */
AttributeState* tmpi_attribute_state(FortranProcedure* copy, FortranProcedure* discard,
                                     MPI_Aint extra_state) {
  AttributeState* const state = (AttributeState*)tmpi_fortran_allocate("attribute callbacks", sizeof *state);
  *state = (AttributeState){copy, discard, extra_state};
  return state;
}

/* What a copy callback has made of an attribute: one of C that it has passed on is still that of C. */
static void* copied(void* in, MPI_Aint value_in, MPI_Aint value_out) {
  return value_out == value_in && !tmpi_is_integer(in) ? in : tmpi_integer_place(value_out);
}

/* An attribute that could not be deleted stays. */
static int deleted(void* attribute, MPI_Fint error) {
  if (error == MPI_SUCCESS) tmpi_integer_forget(attribute);
  return error;
}

#define ATTRIBUTE_CALLBACKS(copy_name, delete_name, Handle, Value)                                       \
  int copy_name(Handle handle, int keyval, void* state, void* in, void* out, int* flag) {                \
    AttributeState* const s = (AttributeState*)state;                                                    \
    MPI_Fint number = tmpi_number((void*)handle), truth = 0, error = MPI_SUCCESS;                        \
    Value extra = (Value)s->extra_state, value_in = (Value)tmpi_integer_of(in), value_out = 0;           \
    ((void (*)(MPI_Fint*, int*, Value*, Value*, Value*, MPI_Fint*, MPI_Fint*))s->copy)(                  \
        &number, &keyval, &extra, &value_in, &value_out, &truth, &error);                                \
    s->extra_state = extra;                                                                              \
    *flag = truth != 0;                                                                                  \
    if (truth && error == MPI_SUCCESS) *(void**)out = copied(in, value_in, value_out);                   \
    return error;                                                                                        \
  }                                                                                                      \
  int delete_name(Handle handle, int keyval, void* attribute, void* state) {                             \
    AttributeState* const s = (AttributeState*)state;                                                    \
    MPI_Fint number = tmpi_number((void*)handle), error = MPI_SUCCESS;                                   \
    Value extra = (Value)s->extra_state, value = (Value)tmpi_integer_of(attribute);                      \
    ((void (*)(MPI_Fint*, int*, Value*, Value*, MPI_Fint*))s->discard)(&number, &keyval, &value, &extra, \
                                                                       &error);                          \
    s->extra_state = extra;                                                                              \
    return deleted(attribute, error);                                                                    \
  }
ATTRIBUTE_CALLBACKS(tmpi_copy_attribute, tmpi_delete_attribute, void*, MPI_Aint)
ATTRIBUTE_CALLBACKS(tmpi_copy_old_attribute, tmpi_delete_old_attribute, MPI_Comm, MPI_Fint)

/* A callback that has changed its state sees it again, and so does who started the request: other MPIs pass the
 * address on, and programs count on it. It is written only if changed: it may have been a constant. */
static void tell_starter(GrequestState* s, MPI_Aint before) {
  if (s->extra_state != before) *s->starters_state = s->extra_state;
}

int tmpi_grequest_query(void* state, MPI_Status* status) {
  GrequestState* const s = (GrequestState*)state;
  const MPI_Aint before = s->extra_state;
  MPI_Fint error = MPI_SUCCESS;
  ((void (*)(MPI_Aint*, MPI_Status*, MPI_Fint*))s->query)(&s->extra_state, status, &error);
  tell_starter(s, before);
  return error;
}

int tmpi_grequest_free(void* state) {
  GrequestState* const s = (GrequestState*)state;
  const MPI_Aint before = s->extra_state;
  MPI_Fint error = MPI_SUCCESS;
  ((void (*)(MPI_Aint*, MPI_Fint*))s->free)(&s->extra_state, &error);
  tell_starter(s, before);
  free(s);
  return error;
}

int tmpi_grequest_cancel(void* state, int complete) {
  GrequestState* const s = (GrequestState*)state;
  const MPI_Aint before = s->extra_state;
  MPI_Fint error = MPI_SUCCESS, truth = complete != 0;
  ((void (*)(MPI_Aint*, MPI_Fint*, MPI_Fint*))s->cancel)(&s->extra_state, &truth, &error);
  tell_starter(s, before);
  return error;
}

/* position is an INTEGER(KIND=MPI_OFFSET_KIND); count has the kind of the form. */
static int convert_data(FortranProcedure* procedure, DatarepState* s, void* userbuf, MPI_Datatype datatype,
                        void* count, void* filebuf, MPI_Offset position) {
  MPI_Fint number = tmpi_number((void*)datatype), error = MPI_SUCCESS;
  ((void (*)(void*, MPI_Fint*, void*, void*, MPI_Offset*, MPI_Aint*, MPI_Fint*))procedure)(
      userbuf, &number, count, filebuf, &position, &s->extra_state, &error);
  return error;
}

#define DATAREP_FUNCTION(name, direction, Count)                                                  \
  int name(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf, MPI_Offset position, \
           void* state) {                                                                         \
    DatarepState* const s = (DatarepState*)state;                                                 \
    return convert_data(s->direction, s, userbuf, datatype, &count, filebuf, position);           \
  }
DATAREP_FUNCTION(tmpi_datarep_read, read, int)
DATAREP_FUNCTION(tmpi_datarep_write, write, int)
DATAREP_FUNCTION(tmpi_datarep_read_c, read, MPI_Count)
DATAREP_FUNCTION(tmpi_datarep_write_c, write, MPI_Count)

int tmpi_datarep_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  DatarepState* const s = (DatarepState*)state;
  MPI_Fint number = tmpi_number((void*)datatype), error = MPI_SUCCESS;
  ((void (*)(MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*))s->extent)(&number, extent, &s->extra_state, &error);
  return error;
}

/* The predefined procedures: real ones, since a program may call them or pass them on. */
#define PREDEFINED_CALLBACKS(kind, Value)                                                                 \
  void mpi_##kind##null_copy_fn_(MPI_Fint* handle, MPI_Fint* keyval, Value* extra, Value* in, Value* out, \
                                 MPI_Fint* flag, MPI_Fint* ierror) {                                      \
    (void)handle, (void)keyval, (void)extra, (void)in, (void)out;                                         \
    *flag = 0;                                                                                            \
    *ierror = MPI_SUCCESS;                                                                                \
  }                                                                                                       \
  void mpi_##kind##dup_fn_(MPI_Fint* handle, MPI_Fint* keyval, Value* extra, Value* in, Value* out,       \
                           MPI_Fint* flag, MPI_Fint* ierror) {                                            \
    (void)handle, (void)keyval, (void)extra;                                                              \
    *out = *in;                                                                                           \
    *flag = 1;                                                                                            \
    *ierror = MPI_SUCCESS;                                                                                \
  }                                                                                                       \
  void mpi_##kind##null_delete_fn_(MPI_Fint* handle, MPI_Fint* keyval, Value* value, Value* extra,        \
                                   MPI_Fint* ierror) {                                                    \
    (void)handle, (void)keyval, (void)value, (void)extra;                                                 \
    *ierror = MPI_SUCCESS;                                                                                \
  }
PREDEFINED_CALLBACKS(, MPI_Fint)
PREDEFINED_CALLBACKS(comm_, MPI_Aint)
PREDEFINED_CALLBACKS(type_, MPI_Aint)
PREDEFINED_CALLBACKS(win_, MPI_Aint)

void mpi_conversion_fn_null_(void) {}
void mpi_conversion_fn_null_c_(void) {}

/* Comparison of handles in mpi_f08. */
#define COMPARISONS(kind)                                            \
  MPI_Fint tmpi_##kind##_eq_(const MPI_Fint* a, const MPI_Fint* b) { \
    return *a == *b;                                                 \
  }                                                                  \
  MPI_Fint tmpi_##kind##_ne_(const MPI_Fint* a, const MPI_Fint* b) { \
    return *a != *b;                                                 \
  }
#define HANDLE_KIND(name, Kind, Handle) COMPARISONS(name)
#include "fortran/handle_kinds.inc"
