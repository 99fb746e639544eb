/* Procedures whose arguments are not those of C: no command line, strings with a length of their own, functions with a result. */
#include <stdlib.h>
#include <string.h>

#include "fortran/convert.h"

void F(init)(MPI_Fint* ierror) {
  finish(ierror, C(Init)(NULL, NULL));
}
F08(init);

void F(init_thread)(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
  finish(ierror, C(Init_thread)(NULL, NULL, *required, provided));
}
F08(init_thread);

/* Without ierror in the oldest interface; mpi_f08 passes one or none. */
void F(pcontrol)(MPI_Fint* level) {
  C(Pcontrol)(*level);
}
F08(pcontrol);

double F(wtime)(void) {
  return C(Wtime)();
}
double F(wtick)(void) {
  return C(Wtick)();
}
MPI_Aint F(aint_add)(MPI_Aint* base, MPI_Aint* disp) {
  return C(Aint_add)(*base, *disp);
}
MPI_Aint F(aint_diff)(MPI_Aint* addr1, MPI_Aint* addr2) {
  return C(Aint_diff)(*addr1, *addr2);
}

void F(info_create_env)(MPI_Fint* info, MPI_Fint* ierror) {
  MPI_Info info_c = MPI_INFO_NULL;
  const int error = C(Info_create_env)(0, NULL, &info_c);
  if (error == MPI_SUCCESS) *info = tmpi_number(info_c);
  finish(ierror, error);
}
F08(info_create_env);

void F(info_get)(MPI_Fint* info, char* key, MPI_Fint* valuelen, char* value, MPI_Fint* flag, MPI_Fint* ierror,
                 size_t key_length, size_t value_length) {
  STRING(key_c, key, key_length, 1);
  const size_t wanted = *valuelen > 0 ? (size_t)*valuelen : 0;
  char* const room = (char*)tmpi_fortran_allocate("a value", wanted + 1);
  int found = 0;
  const int error = C(Info_get)(info_from(*info), key_c, *valuelen, room, &found);
  if (error == MPI_SUCCESS) {
    *flag = found;
    if (found) string_out(value, value_length, room);
  }
  free(room);
  STRING_END(key_c);
  finish(ierror, error);
}
F08(info_get);

/* buflen counts no NUL in Fortran. */
void F(info_get_string)(MPI_Fint* info, char* key, MPI_Fint* buflen, char* value, MPI_Fint* flag,
                        MPI_Fint* ierror, size_t key_length, size_t value_length) {
  STRING(key_c, key, key_length, 1);
  const int given = *buflen;
  int length = given > 0 ? given + 1 : 0, found = 0;
  char* const room = (char*)tmpi_fortran_allocate("a value", (size_t)length + 1);
  const int error = C(Info_get_string)(info_from(*info), key_c, &length, room, &found);
  if (error == MPI_SUCCESS) {
    *flag = found;
    if (found) {
      if (given > 0) string_out(value, value_length, room);
      *buflen = length > 0 ? length - 1 : 0;
    }
  }
  free(room);
  STRING_END(key_c);
  finish(ierror, error);
}
F08(info_get_string);

void F(session_get_nth_pset)(MPI_Fint* session, MPI_Fint* info, MPI_Fint* n, MPI_Fint* pset_len,
                             char* pset_name, MPI_Fint* ierror, size_t pset_name_length) {
  const int given = *pset_len;
  int length = given > 0 ? given + 1 : 0;
  char* const room = (char*)tmpi_fortran_allocate("a name", (size_t)length + 1);
  const int error = C(Session_get_nth_pset)(session_from(*session), info_from(*info), *n, &length, room);
  if (error == MPI_SUCCESS) {
    if (given > 0) string_out(pset_name, pset_name_length, room);
    *pset_len = length > 0 ? length - 1 : 0;
  }
  free(room);
  finish(ierror, error);
}
F08(session_get_nth_pset);

/* Detaching gives the address back in mpi_f08; an older interface has nothing that could hold it. */
#define DETACH(name, Name, Count, given, passed)                                \
  void F(name)(given void* buffer_addr, Count* size, MPI_Fint* ierror) {        \
    void* address = NULL;                                                       \
    (void)buffer_addr;                                                          \
    finish(ierror, C(Name)(passed & address, size));                            \
  }                                                                             \
  void F(name##_f08)(given void** buffer_addr, Count* size, MPI_Fint* ierror) { \
    finish(ierror, C(Name)(passed buffer_addr, size));                          \
  }
#define NOTHING
#define COMMA ,
DETACH(buffer_detach, Buffer_detach, MPI_Fint, NOTHING, NOTHING)
DETACH(buffer_detach_c, Buffer_detach_c, MPI_Count, NOTHING, NOTHING)
DETACH(comm_detach_buffer, Comm_detach_buffer, MPI_Fint, MPI_Fint* comm COMMA, comm_from(*comm) COMMA)
DETACH(comm_detach_buffer_c, Comm_detach_buffer_c, MPI_Count, MPI_Fint* comm COMMA, comm_from(*comm) COMMA)
#ifdef TMPI_HAS_Session_detach_buffer
DETACH(session_detach_buffer, Session_detach_buffer, MPI_Fint, MPI_Fint* session COMMA,
       session_from(*session) COMMA)
DETACH(session_detach_buffer_c, Session_detach_buffer_c, MPI_Count, MPI_Fint* session COMMA,
       session_from(*session) COMMA)
#endif

/* A status is the same eight integers in both. */
void F(status_f2f08_f08)(MPI_Fint* f_status, MPI_F08_status* f08_status, MPI_Fint* ierror) {
  finish(ierror, C(Status_f2f08)(is_constant(f_status) ? NULL : f_status, f08_status));
}
void F(status_f082f_f08)(MPI_F08_status* f08_status, MPI_Fint* f_status, MPI_Fint* ierror) {
  finish(ierror, C(Status_f082f)(is_constant(f08_status) ? NULL : f08_status, f_status));
}
