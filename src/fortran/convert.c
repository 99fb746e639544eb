/* See convert.h. */
#include "fortran/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

OWN_CALLS void tmpi_fortran_no_memory(const char* what, size_t bytes) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(
      stderr,
      "tmpi: rank %d: no memory for %s (%zu bytes) in a Fortran call of MPI. Run fewer ranks on this host.\n",
      rank, what, bytes);
  PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
  abort();
}

void* tmpi_fortran_allocate(const char* what, size_t bytes) {
  void* const memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) tmpi_fortran_no_memory(what, bytes);
  return memory;
}

char* tmpi_string_in(char* room, size_t size, const char* text, size_t length, int strip) {
  while (length > 0 && text[length - 1] == ' ') length--;
  while (strip && length > 0 && text[0] == ' ') text++, length--;
  char* const c = length < size ? room : (char*)tmpi_fortran_allocate("a string", length + 1);
  memcpy(c, text, length);
  c[length] = '\0';
  return c;
}

void string_out(char* text, size_t length, const char* c) {
  size_t used = strlen(c);
  if (used > length) used = length;
  memcpy(text, c, used);
  memset(text + used, ' ', length - used);
}

typedef struct TypeArray {
  struct TypeArray* next;
  size_t count;
  MPI_Datatype types[];
} TypeArray;

const MPI_Datatype* tmpi_lasting_types(MPI_Count count, const MPI_Fint* numbers) {
  static TypeArray* arrays[256]; /* by hash; written under the lock, never taken out */
  static char lock;
  const size_t n = count > 0 ? (size_t)count : 0;
  TypeArray* const made =
      (TypeArray*)tmpi_fortran_allocate("datatypes", sizeof *made + n * sizeof(MPI_Datatype));
  made->count = n;
  uint64_t hash = n;
  for (size_t i = 0; i < n; i++) {
    made->types[i] = datatype_from(numbers[i]);
    hash = (hash ^ (uintptr_t)made->types[i]) * 0x9e3779b97f4a7c15u;
  }
  TypeArray** const chain = &arrays[hash >> 56];
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) continue;
  TypeArray* found = *chain;
  while (found != NULL &&
         (found->count != n || memcmp(found->types, made->types, n * sizeof(MPI_Datatype)) != 0))
    found = found->next;
  if (found == NULL) {
    made->next = *chain;
    *chain = made;
  }
  __atomic_clear(&lock, __ATOMIC_RELEASE);
  if (found == NULL) return made->types;
  free(made);
  return found->types;
}

OWN_CALLS int tmpi_peers(MPI_Comm comm) {
  int inter = 0, size = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  const int error = inter ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return error == MPI_SUCCESS ? size : 0;
}

OWN_CALLS int tmpi_neighbors(MPI_Comm comm, int outgoing) {
  int topology = MPI_UNDEFINED, in = 0, out = 0, weighted, rank;
  if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return 0;
  if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  } else if (topology == MPI_GRAPH) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &in);
    out = in;
  } else if (topology == MPI_CART) {
    PMPI_Cartdim_get(comm, &in);
    out = in = 2 * in;
  }
  return outgoing ? out : in;
}
