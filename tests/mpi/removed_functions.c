/* What MPI 3.0 removed and old programs still use. */
#include "check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#ifdef MPI_ABI_VERSION /* other MPIs' headers have none of it */
static int calls;
static void note(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  calls++;
}

static void test_types(void) {
  MPI_Datatype type;
  MPI_Aint extent, lb, ub, first, second;
  int array[4], lengths[] = {1, 2};
  CHECK_OK(MPI_Address(&array[0], &first));
  CHECK_OK(MPI_Address(&array[2], &second));
  CHECK_EQ(second - first, 8);
  CHECK_OK(MPI_Type_hvector(3, 1, 16, MPI_INT, &type));
  CHECK_OK(MPI_Type_extent(type, &extent));
  CHECK_EQ(extent, 36);
  CHECK_OK(MPI_Type_free(&type));
  MPI_Aint at[] = {8, 24};
  CHECK_OK(MPI_Type_hindexed(2, lengths, at, MPI_INT, &type));
  CHECK_OK(MPI_Type_lb(type, &lb));
  CHECK_OK(MPI_Type_ub(type, &ub));
  CHECK_EQ(lb, 8);
  CHECK_EQ(ub, 32);
  CHECK_OK(MPI_Type_free(&type));
}

static void check_bounds(MPI_Datatype type, MPI_Aint want_lb, MPI_Aint want_ub, int want_size) {
  MPI_Aint lb, ub, extent;
  int size;
  CHECK_OK(MPI_Type_lb(type, &lb));
  CHECK_OK(MPI_Type_ub(type, &ub));
  CHECK_OK(MPI_Type_extent(type, &extent));
  CHECK_OK(MPI_Type_size(type, &size));
  CHECK_EQ(lb, want_lb);
  CHECK_EQ(ub, want_ub);
  CHECK_EQ(extent, want_ub - want_lb);
  CHECK_EQ(size, want_size);
}

static MPI_Datatype make_struct(int count, const int* lengths, const MPI_Aint* at,
                                const MPI_Datatype* types) {
  MPI_Datatype type;
  CHECK_OK(MPI_Type_struct(count, lengths, at, types, &type));
  return type;
}

/* The example of MPI 1.1, 3.12.3: markers take up no room but set the bounds, also those of types made of
 * such types. */
static void test_markers(void) {
  const int ones[] = {1, 1, 1, 1};
  const MPI_Aint at[] = {-3, 0, 6};
  const MPI_Datatype types[] = {MPI_LB, MPI_INT, MPI_UB};
  MPI_Datatype inner = make_struct(3, ones, at, types);
  check_bounds(inner, -3, 6, 4);
  MPI_Datatype pair;
  CHECK_OK(MPI_Type_contiguous(2, inner, &pair));
  check_bounds(pair, -3, 15, 8);
  CHECK_OK(MPI_Type_free(&pair));
  /* a type with markers in a struct of its own markers: the lowest and the highest count */
  const MPI_Aint at2[] = {0, -1, 4};
  const MPI_Datatype types2[] = {inner, MPI_LB, MPI_UB};
  pair = make_struct(3, ones, at2, types2);
  check_bounds(pair, -3, 6, 4);
  CHECK_OK(MPI_Type_free(&pair));
  CHECK_OK(MPI_Type_free(&inner));
  /* only an upper bound, in front of the data; then inside them */
  const MPI_Aint at3[] = {32, 0, 8};
  const MPI_Datatype types3[] = {MPI_UB, MPI_DOUBLE, MPI_INT};
  inner = make_struct(3, ones, at3, types3);
  check_bounds(inner, 0, 32, 12);
  CHECK_OK(MPI_Type_free(&inner));
  const MPI_Aint at4[] = {4, 0, 8};
  inner = make_struct(3, ones, at4, types3);
  check_bounds(inner, 0, 4, 12);
  CHECK_OK(MPI_Type_free(&inner));
  /* nothing but markers */
  const MPI_Datatype types5[] = {MPI_LB, MPI_UB};
  const MPI_Aint at5[] = {2, 10};
  inner = make_struct(2, ones, at5, types5);
  check_bounds(inner, 2, 10, 0);
  CHECK_OK(MPI_Type_free(&inner));
  /* MPI 2 had markers in the new call too */
  CHECK_OK(MPI_Type_create_struct(3, ones, at, types, &inner));
  check_bounds(inner, -3, 6, 4);
  CHECK_OK(MPI_Type_free(&inner));
}

/* A column of structures, sent around. */
static void test_message(void) {
  struct cell {
    double value;
    int count;
    char rest[20];
  } mine[3], got[3];
  const int lengths[] = {1, 1, 1};
  const MPI_Aint at[] = {0, offsetof(struct cell, count), sizeof(struct cell)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_UB};
  MPI_Datatype type = make_struct(3, lengths, at, types);
  CHECK_OK(MPI_Type_commit(&type));
  memset(got, 0, sizeof got);
  for (int i = 0; i < 3; i++) {
    mine[i].value = world_rank + i * 0.5;
    mine[i].count = world_rank * 10 + i;
  }
  const int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  CHECK_OK(MPI_Sendrecv(mine, 3, type, to, 0, got, 3, type, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < 3; i++) CHECK(got[i].value == from + i * 0.5 && got[i].count == from * 10 + i);
  CHECK_OK(MPI_Type_free(&type));
}

static void test_errhandlers(void) {
  MPI_Errhandler handler, got;
  MPI_Comm comm;
  MPI_Handler_function* function = note;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Errhandler_create(function, &handler));
  CHECK_OK(MPI_Errhandler_set(comm, handler));
  CHECK_OK(MPI_Errhandler_get(comm, &got));
  CHECK(got == handler);
  CHECK_OK(MPI_Errhandler_free(&got));
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
  CHECK_EQ(calls, 1);
  CHECK_OK(MPI_Comm_free(&comm));
}

static void test_names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  CHECK_OK(MPI_Type_get_name(MPI_LB, name, &length));
  CHECK(strcmp(name, "MPI_LB") == 0 && length == 6);
  CHECK_OK(MPI_Type_get_name(MPI_UB, name, &length));
  CHECK(strcmp(name, "MPI_UB") == 0 && length == 6);
}

static void test_errors(void) {
  MPI_Aint extent;
  MPI_Datatype type;
  const int one = 1, negative = -1;
  const MPI_Aint zero = 0;
  const MPI_Datatype lower = MPI_LB, none = MPI_DATATYPE_NULL, integer = MPI_INT;
  CHECK_OK(MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Type_extent(MPI_DATATYPE_NULL, &extent), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_lb(MPI_UB, &extent), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_ub(MPI_INT, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Address(&type, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_struct(-1, &one, &zero, &integer, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_struct(1, &one, &zero, &none, &type), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_struct(1, &one, &zero, NULL, &type), MPI_ERR_ARG);
  CHECK(class_of(MPI_Type_struct(1, &negative, &zero, &integer, &type)) != MPI_SUCCESS);
  CHECK_CLASS(MPI_Type_struct(1, &one, NULL, &lower, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_contiguous(1, lower, &type), MPI_ERR_TYPE); /* markers are members, not types */
  CHECK(MPI_COMBINER_HVECTOR_INTEGER != MPI_COMBINER_HVECTOR &&
        MPI_COMBINER_STRUCT_INTEGER != MPI_COMBINER_HINDEXED_INTEGER);
}
#endif

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
#ifdef MPI_ABI_VERSION
  test_types();
  test_markers();
  test_message();
  test_errhandlers();
  test_names();
  test_errors();
#endif
  return check_end();
}
