/* For programs about the tools interface (MPI_T): handles by name, and messages to be counted. */
#pragma once

#include "check.h"

enum { kText = 2048, kTag = 7 };

#ifdef MPI_ABI_VERSION

static inline MPI_T_cvar_handle control(const char* name, MPI_Comm comm, int* count) {
  int index;
  MPI_T_cvar_handle handle;
  CHECK_OK(MPI_T_cvar_get_index(name, &index));
  CHECK_OK(MPI_T_cvar_handle_alloc(index, &comm, &handle, count));
  return handle;
}

static inline unsigned long long number_of(const char* name) {
  unsigned long long value = 0;
  int count;
  MPI_T_cvar_handle handle = control(name, MPI_COMM_NULL, &count);
  CHECK_EQ(count, 1);
  CHECK_OK(MPI_T_cvar_read(handle, &value));
  CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_CVAR_SET_NEVER);
  CHECK_OK(MPI_T_cvar_handle_free(&handle));
  CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
  return value;
}

static inline MPI_T_event_registration registration_of(const char* name) {
  int index;
  MPI_T_event_registration registration;
  CHECK_OK(MPI_T_event_get_index(name, &index));
  CHECK_OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
  return registration;
}

static inline void ring(MPI_Comm comm, int times, int bytes) {
  const int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  char* const out = check_malloc((size_t)bytes);
  char* const in = check_malloc((size_t)bytes);
  memset(out, 1, (size_t)bytes);
  for (int i = 0; i < times; i++) {
    CHECK_OK(MPI_Sendrecv(out, bytes, MPI_CHAR, next, kTag, in, bytes, MPI_CHAR, previous, kTag, comm,
                          MPI_STATUS_IGNORE));
  }
  free(out);
  free(in);
}

#endif
