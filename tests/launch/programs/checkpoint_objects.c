/* checkpoint_objects DIRECTORY: what a program adds to MPI's objects and errors: attributes on communicators and datatypes, some with a key that is
 * freed, error classes, codes and strings, a buffer, datatypes chosen by precision. */
#include <mpi.h>
#include <mpix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, deleted, copied;
static int extra = 5;

static int copy(MPI_Comm comm, int key, void* state, void* in, void* out, int* keep) {
  (void)comm, (void)key;
  copied += *(int*)state;
  *(void**)out = (char*)in + 1;
  *keep = 1;
  return MPI_SUCCESS;
}
static int destroy(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)value;
  deleted += *(int*)state;
  return MPI_SUCCESS;
}
static int copy_type(MPI_Datatype type, int key, void* state, void* in, void* out, int* keep) {
  (void)type, (void)key, (void)state;
  *(void**)out = in;
  *keep = 1;
  return MPI_SUCCESS;
}
static int at_the_end(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)state;
  printf("rank %d: %s, deleted %d, copied %d\n", rank, (char*)value, deleted, copied);
  return MPI_SUCCESS;
}
static void expect(int good, const char* what) {
  if (!good) printf("rank %d: %s is wrong\n", rank, what);
}

int main(int argc, char** argv) {
  (void)argc;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  int key, freed, of_type, last, unused;
  static char values[4][100];
  MPI_Comm_create_keyval(copy, destroy, &key, &extra);
  MPI_Comm_create_keyval(copy, destroy, &freed, &extra);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &last, NULL);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &unused, NULL);
  MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, &of_type, NULL);
  MPI_Comm_set_attr(comm, key, values[0]);
  MPI_Comm_set_attr(comm, freed, values[1]);
  MPI_Comm_set_attr(half, freed, values[2]);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
  sprintf(values[3], "the end of %d", rank);
  MPI_Comm_set_attr(MPI_COMM_SELF, last, values[3]);
  const int keys[] = {key, freed, last, of_type, unused};
  int freed_number = freed;
  MPI_Comm_free_keyval(&freed_number);
  MPI_Comm_free_keyval(&last);
  MPI_Datatype pairs, precise, round_number, struck;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Type_set_attr(pairs, of_type, values[2]);
  MPI_Type_set_attr(MPI_INT, of_type, values[3]);
  MPI_Type_create_f90_real(12, MPI_UNDEFINED, &precise);
  MPI_Type_create_f90_integer(12, &round_number);
  MPI_Type_contiguous(3, precise, &struck);
  MPI_Type_commit(&struck);
  int class, code, other_code;
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(class, "a class of its own");
  MPI_Add_error_string(code, "a code of its own");
  MPI_Buffer_attach(malloc(5000), 5000);

  MPIX_Checkpoint(argv[1]);

  int restarted, flag;
  MPIX_Restarted(&restarted);
  if (rank == 0) printf("%s\n", restarted ? "restarted" : "saved");
  char* value;
  MPI_Comm_get_attr(comm, keys[0], &value, &flag);
  expect(flag && value == values[0], "an attribute");
  MPI_Comm_get_attr(comm, keys[1], &value, &flag);
  expect(flag && value == values[1], "an attribute whose key is freed");
  MPI_Comm_get_attr(half, keys[0], &value, &flag);
  expect(!flag, "an attribute that was not set");
  MPI_Comm_get_attr(MPI_COMM_WORLD, keys[0], &value, &flag);
  expect(flag && value == NULL, "an attribute of MPI_COMM_WORLD");
  MPI_Type_get_attr(pairs, keys[3], &value, &flag);
  expect(flag && value == values[2], "an attribute of a datatype");
  MPI_Type_get_attr(MPI_INT, keys[3], &value, &flag);
  expect(flag && value == values[3], "an attribute of MPI_INT");
  MPI_Comm copy_of_comm;
  MPI_Comm_dup(comm, &copy_of_comm);
  MPI_Comm_get_attr(copy_of_comm, keys[1], &value, &flag);
  expect(flag && value == values[1] + 1, "a copied attribute");
  MPI_Comm_set_attr(copy_of_comm, keys[4], values);
  MPI_Comm_free(&copy_of_comm);
  int fresh;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &fresh, NULL);
  for (int i = 0; i < 5; i++) expect(fresh != keys[i], "a new key");
  char text[MPI_MAX_ERROR_STRING];
  int length, found, *largest;
  MPI_Error_string(code, text, &length);
  expect(!strcmp(text, "a code of its own"), "the text of an error");
  MPI_Error_class(code, &found);
  expect(found == class, "the class of an error");
  MPI_Add_error_code(class, &other_code);
  expect(other_code == code + 1, "the next error code");
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &largest, &flag);
  expect(flag && *largest == other_code, "the last code");
  MPI_Datatype again;
  MPI_Type_create_f90_real(12, MPI_UNDEFINED, &again);
  expect(again == precise, "the same type for the same precision");
  int integers, addresses, types, combiner, r;
  MPI_Type_get_envelope(round_number, &integers, &addresses, &types, &combiner);
  MPI_Type_get_contents(round_number, integers, addresses, types, &r, NULL, NULL);
  expect(combiner == MPI_COMBINER_F90_INTEGER && r == 12, "how a type was made");
  double sent[3] = {rank, rank + 1, rank + 2}, got[3];
  MPI_Bsend(sent, 1, struck, (rank + 1) % size, 0, comm);
  MPI_Recv(got, 1, struck, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
  expect(got[2] == (rank + size - 1) % size + 2, "a message of such a type");
  long long sum, one = 1;
  MPI_Allreduce(&one, &sum, 1, round_number, MPI_SUM, comm);
  expect(sum == size, "a sum of such a type");
  MPI_Comm_free(&comm);
  MPI_Comm_free(&half);
  MPI_Type_free(&pairs);
  MPI_Type_free(&struck);
  MPI_Finalize();
  return 0;
}
