/* What C sees of attributes, for callbacks.F90. */
#include <mpi.h>
#include <stdlib.h>

static MPI_Aint seen; /* by the copy callback */

static void* attribute(int comm, int key) {
  void* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_Comm_f2c(comm), key, &value, &flag);
  if (!flag) abort();
  return value;
}
MPI_Aint c_gets(int comm, int key) {
  return (MPI_Aint)attribute(comm, key);
}
MPI_Aint c_reads(int comm, int key) {
  return *(MPI_Aint*)attribute(comm, key);
}
int c_reads_int(int comm, int key) {
  return *(int*)attribute(comm, key);
}
void c_sets(int comm, int key, MPI_Aint address) {
  MPI_Comm_set_attr(MPI_Comm_f2c(comm), key, (void*)address);
}
static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  seen = *(MPI_Aint*)in;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
int c_makes_key(void) {
  int key;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  return key;
}
MPI_Aint c_saw(void) {
  return seen;
}
