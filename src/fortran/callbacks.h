/* Procedures of Fortran that MPI calls. MPI report, 19.1.2: an extra_state, where there is one, carries the Fortran procedure and its own
 * extra_state; where there is none (operators, error handlers), one of a fixed number of C functions stands for the procedure. */
#ifndef TMPI_FORTRAN_CALLBACKS_H
#define TMPI_FORTRAN_CALLBACKS_H

#include "fortran/convert.h"

typedef void FortranProcedure(void);

/* The C function that calls the Fortran procedure; the same one for the same procedure, for good. NULL if a rank has too many different ones:
 * the error has been raised on MPI_COMM_SELF, its code is in *error. */
MPI_User_function* tmpi_operator_for(FortranProcedure* procedure, int* error);
MPI_Comm_errhandler_function* tmpi_errhandler_for(FortranProcedure* procedure, int* error);

/* Attribute callbacks: what their C extra_state leads to. */
typedef struct {
  FortranProcedure *copy, *discard;
  MPI_Aint extra_state;
} AttributeState;
AttributeState* tmpi_attribute_state(FortranProcedure* copy, FortranProcedure* discard, MPI_Aint extra_state);
int tmpi_copy_attribute(void* handle, int keyval, void* state, void* in, void* out, int* flag);
int tmpi_delete_attribute(void* handle, int keyval, void* attribute, void* state);
/* Those of MPI-1, whose attributes are INTEGER. */
int tmpi_copy_old_attribute(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag);
int tmpi_delete_old_attribute(MPI_Comm comm, int keyval, void* attribute, void* state);

typedef struct {
  FortranProcedure *query, *free, *cancel;
  MPI_Aint extra_state, *starters_state;
} GrequestState;
int tmpi_grequest_query(void* state, MPI_Status* status);
int tmpi_grequest_free(void* state);
int tmpi_grequest_cancel(void* state, int complete);

typedef struct {
  FortranProcedure *read, *write, *extent;
  MPI_Aint extra_state;
} DatarepState;
int tmpi_datarep_read(void* userbuf, MPI_Datatype datatype, int count, void* filebuf, MPI_Offset position,
                      void* state);
int tmpi_datarep_write(void* userbuf, MPI_Datatype datatype, int count, void* filebuf, MPI_Offset position,
                       void* state);
int tmpi_datarep_read_c(void* userbuf, MPI_Datatype datatype, MPI_Count count, void* filebuf,
                        MPI_Offset position, void* state);
int tmpi_datarep_write_c(void* userbuf, MPI_Datatype datatype, MPI_Count count, void* filebuf,
                         MPI_Offset position, void* state);
int tmpi_datarep_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state);

/* Predefined, told by their addresses: MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL_C. */
void mpi_conversion_fn_null_(void);
void mpi_conversion_fn_null_c_(void);

#endif
