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

/* For compilers, as in descriptors.c. */
void F(f_sync_reg)(void* buf) {
  (void)buf;
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
#define DETACH(name, Name, Count, given, passed)                                 \
  void F(name)(given void* buffer_addr, Count* size, MPI_Fint* ierror) {         \
    void* address = NULL;                                                        \
    (void)buffer_addr;                                                           \
    finish(ierror, C(Name)(passed & address, size));                             \
  }                                                                              \
  void F(name##_f08)(given void** buffer_addr, Count* size, MPI_Fint* ierror) {  \
    const int error = C(Name)(passed buffer_addr, size);                         \
    if (error == MPI_SUCCESS) *buffer_addr = tmpi_detached_buffer(*buffer_addr); \
    finish(ierror, error);                                                       \
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

#if defined(TMPI_HAS_Comm_spawn) || defined(TMPI_HAS_Comm_spawn_multiple)
/* A list of strings of `length` characters, `stride` of them apart, that ends with a blank one, without the blanks around them (11.8.2);
 * NULL for MPI_ARGV_NULL. Freed as a whole. */
static char** string_list(const char* strings, size_t length, size_t stride) {
  if (is_constant(strings)) return NULL;
  size_t count = 0;
  for (const char* s = strings;; s += stride * length, count++) {
    size_t used = 0;
    while (used < length && s[used] == ' ') used++;
    if (used == length) break;
  }
  char** const list =
      (char**)tmpi_fortran_allocate("arguments", (count + 1) * sizeof(char*) + count * (length + 1));
  char* text = (char*)(list + count + 1);
  for (size_t i = 0; i < count; i++, text += length + 1) {
    size_t used = length;
    const char* s = strings + i * stride * length;
    while (s[used - 1] == ' ') used--; /* there is another character */
    while (*s == ' ') s++, used--;
    memcpy(text, s, used);
    text[used] = '\0';
    list[i] = text;
  }
  list[count] = NULL;
  return list;
}
static int* error_codes(MPI_Fint* codes) {
  return is_constant(codes) ? MPI_ERRCODES_IGNORE : codes;
}
#endif

#ifdef TMPI_HAS_Comm_spawn
void F(comm_spawn)(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info, MPI_Fint* root,
                   MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* codes, MPI_Fint* ierror,
                   size_t command_length, size_t argv_length) {
  STRING(command_c, command, command_length, 1);
  char** const argv_c = string_list(argv, argv_length, 1);
  MPI_Comm made = NULL;
  const int error = C(Comm_spawn)(command_c, argv_c, *maxprocs, info_from(*info), *root, comm_from(*comm),
                                  &made, error_codes(codes));
  if (made != NULL) *intercomm = tmpi_number(made);
  free(argv_c);
  STRING_END(command_c);
  finish(ierror, error);
}
F08(comm_spawn);
#endif

#ifdef TMPI_HAS_Comm_spawn_multiple
void F(comm_spawn_multiple)(MPI_Fint* count, char* commands, char* argvs, MPI_Fint* maxprocs, MPI_Fint* infos,
                            MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* codes,
                            MPI_Fint* ierror, size_t commands_length, size_t argvs_length) {
  const size_t n = *count > 0 ? (size_t)*count : 0;
  char** const commands_c = (char**)tmpi_fortran_allocate("commands", (n + 1) * sizeof(char*));
  char*** const argvs_c = (char***)tmpi_fortran_allocate("arguments", (n + 1) * sizeof(char**));
  HANDLES(MPI_Info, infos_c, *count);
  for (size_t i = 0; i < n; i++) {
    infos_c[i] = info_from(infos[i]);
    commands_c[i] = tmpi_string_in(NULL, 0, commands + i * commands_length, commands_length, 1);
    argvs_c[i] =
        string_list(is_constant(argvs) ? argvs : argvs + i * argvs_length, argvs_length, n); /* (count,*) */
  }
  MPI_Comm made = NULL;
  const int error =
      C(Comm_spawn_multiple)(*count, commands_c, is_constant(argvs) ? MPI_ARGVS_NULL : argvs_c, maxprocs,
                             infos_c, *root, comm_from(*comm), &made, error_codes(codes));
  if (made != NULL) *intercomm = tmpi_number(made);
  for (size_t i = 0; i < n; i++) {
    free(argvs_c[i]);
    free(commands_c[i]);
  }
  HANDLES_END(infos_c);
  free(argvs_c);
  free(commands_c);
  finish(ierror, error);
}
F08(comm_spawn_multiple);
#endif
