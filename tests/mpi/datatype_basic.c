/* Sizes, extents and names of datatypes, decoding, counts of elements; and the standard's error classes for
 * wrong arguments. */
#include "check.h"

#include <stddef.h>

static void extents(void) {
  MPI_Datatype pair, two, wide;
  MPI_Aint lb, extent;
  int size;
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR}, &pair);
  MPI_Type_get_extent(pair, &lb, &extent);
  CHECK_EQ(extent, 16);
  MPI_Type_contiguous(2, pair, &two);
  CHECK_OK(MPI_Type_size(two, &size));
  CHECK_EQ(size, 18);
  CHECK_OK(MPI_Type_get_true_extent(two, &lb, &extent));
  CHECK_EQ(lb, 0);
  CHECK_EQ(extent, 25);
  CHECK_OK(MPI_Type_create_resized(MPI_INT, -3, 9, &wide));
  CHECK_OK(MPI_Type_get_extent(wide, &lb, &extent));
  CHECK_EQ(lb, -3);
  CHECK_EQ(extent, 9);
  MPI_Type_free(&pair);
  MPI_Type_free(&wide);
  CHECK(wide == MPI_DATATYPE_NULL);
  CHECK_OK(MPI_Type_size(two, &size)); /* lives on without the types it was made of */
  CHECK_EQ(size, 18);
  MPI_Type_free(&two);
}

static void pairs(void) {
  struct {
    double value;
    int index;
  } di;
  struct {
    short value;
    int index;
  } si;
  struct {
    long double value;
    int index;
  } ldi;
  MPI_Aint lb, extent;
  int size;
  MPI_Type_get_extent(MPI_DOUBLE_INT, &lb, &extent);
  CHECK_EQ(extent, sizeof di);
  MPI_Type_get_extent(MPI_SHORT_INT, &lb, &extent);
  CHECK_EQ(extent, sizeof si);
  MPI_Type_get_extent(MPI_LONG_DOUBLE_INT, &lb, &extent);
  CHECK_EQ(extent, sizeof ldi);
  MPI_Type_size(MPI_SHORT_INT, &size);
  CHECK_EQ(size, 6);
}

static void large(void) {
  MPI_Datatype gib, huge;
  MPI_Count count, lb;
  MPI_Aint aint_lb, extent;
  int size;
  MPI_Type_contiguous(1 << 30, MPI_BYTE, &gib);
  MPI_Type_vector(6, 1, 2, gib, &huge);
  MPI_Type_commit(&gib);
  MPI_Type_commit(&huge);
  MPI_Type_size(huge, &size);
  CHECK_EQ(size, MPI_UNDEFINED);
  MPI_Type_size_x(huge, &count);
  CHECK_EQ(count, 6LL << 30);
  MPI_Type_get_extent(huge, &aint_lb, &extent);
  CHECK_EQ(extent, 11LL << 30);
  MPI_Type_get_extent_x(huge, &lb, &count);
  CHECK_EQ(count, 11LL << 30);
  MPI_Type_get_true_extent_x(huge, &lb, &count);
  CHECK_EQ(count, 11LL << 30);
  MPI_Status status;
  MPI_Status_set_elements_x(&status, MPI_BYTE, 5LL << 30);
  MPI_Get_elements(&status, MPI_BYTE, &size);
  CHECK_EQ(size, MPI_UNDEFINED);
  MPI_Get_elements_x(&status, huge, &count);
  CHECK_EQ(count, 5LL << 30);
  MPI_Get_count(&status, huge, &size);
  CHECK_EQ(size, MPI_UNDEFINED);
  MPI_Get_count(&status, gib, &size);
  CHECK_EQ(size, 5);
  MPI_Type_free(&gib);
  MPI_Type_free(&huge);
}

static void elements(void) {
  MPI_Datatype type;
  MPI_Status status;
  int count;
  MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &type);
  MPI_Type_commit(&type);
  for (int n = 0; n < 9; n++) {
    int value = 0;
    CHECK_OK(MPI_Status_set_source(&status, n + 1));
    CHECK_OK(MPI_Status_set_tag(&status, n + 2));
    CHECK_OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    CHECK_EQ(status.MPI_SOURCE, n + 1);
    CHECK_EQ(status.MPI_TAG, n + 2);
    CHECK_OK(MPI_Status_get_source(&status, &value));
    CHECK_EQ(value, n + 1);
    CHECK_OK(MPI_Status_get_tag(&status, &value));
    CHECK_EQ(value, n + 2);
    CHECK_OK(MPI_Status_get_error(&status, &value));
    CHECK_EQ(value, MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Status_set_elements(&status, type, n));
    CHECK_OK(MPI_Get_elements(&status, type, &count));
    CHECK_EQ(count, n);
    MPI_Get_count(&status, type, &count);
    CHECK_EQ(count, n % 3 == 0 ? n / 3 : MPI_UNDEFINED);
  }
  MPI_Type_free(&type);
}

static void decoding(void) {
  int integers, addresses, types, combiner, values[8];
  MPI_Aint places[4];
  MPI_Datatype type, parts[4];
  MPI_Type_get_envelope(MPI_INT, &integers, &addresses, &types, &combiner);
  CHECK_EQ(combiner, MPI_COMBINER_NAMED);
  MPI_Type_vector(3, 2, 5, MPI_FLOAT, &type);
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  CHECK_EQ(combiner, MPI_COMBINER_VECTOR);
  CHECK_EQ(integers, 3);
  CHECK_EQ(addresses, 0);
  CHECK_EQ(types, 1);
  MPI_Type_get_contents(type, 3, 0, 1, values, places, parts);
  CHECK_EQ(values[0] * 100 + values[1] * 10 + values[2], 325);
  CHECK(parts[0] == MPI_FLOAT);
  MPI_Datatype outer;
  MPI_Type_create_struct(2, (int[]){1, 4}, (MPI_Aint[]){0, 100}, (MPI_Datatype[]){type, MPI_INT}, &outer);
  MPI_Type_free(&type);
  MPI_Type_get_envelope(outer, &integers, &addresses, &types, &combiner);
  CHECK_EQ(combiner, MPI_COMBINER_STRUCT);
  CHECK_EQ(integers, 3);
  CHECK_EQ(addresses, 2);
  CHECK_EQ(types, 2);
  MPI_Type_get_contents(outer, 3, 2, 2, values, places, parts);
  CHECK_EQ(values[2], 4);
  CHECK_EQ(places[1], 100);
  CHECK(parts[1] == MPI_INT);
  MPI_Type_free(&outer);
  int size;
  MPI_Type_size(parts[0], &size); /* a reference of our own */
  CHECK_EQ(size, 24);
  MPI_Type_free(&parts[0]);
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Datatype type;
  MPI_Type_get_name(MPI_DOUBLE, name, &length);
  CHECK_STRING(name, "MPI_DOUBLE");
  CHECK_EQ(length, 10);
  MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length); /* a synonym */
  CHECK_STRING(name, "MPI_C_COMPLEX");
  MPI_Type_contiguous(3, MPI_DOUBLE, &type);
  MPI_Type_get_name(type, name, &length);
  CHECK_STRING(name, "");
  MPI_Type_set_name(type, "velocity");
  MPI_Type_get_name(type, name, &length);
  CHECK_STRING(name, "velocity");
  MPI_Type_free(&type);
#ifdef MPI_ABI_VERSION
  /* Predefined types are shared by the ranks of a process, their names are not. */
  char own[32];
  snprintf(own, sizeof own, "cell of %d", world_rank);
  MPI_Type_set_name(MPI_FLOAT, own);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_get_name(MPI_FLOAT, name, &length);
  CHECK_STRING(name, own);
#endif
}

static void addresses(void) {
  int values[10] = {0};
  MPI_Aint a, b;
  MPI_Get_address(&values[2], &a);
  MPI_Get_address(&values[7], &b);
  CHECK_EQ(MPI_Aint_diff(b, a), 5 * sizeof(int));
  CHECK_EQ(MPI_Aint_add(a, 5 * sizeof(int)), b);
}

static void errors(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL, freed = MPI_DATATYPE_NULL, predefined = MPI_INT;
  int size, position = 0, ones[] = {1, -1}, places[] = {0, 4};
  char buffer[64];
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_vector(-2, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Type_commit(&freed), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_free(&freed), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_free(&predefined), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_Type_vector(2, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_indexed(2, ones, places, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_indexed(2, NULL, places, MPI_INT, &type), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pack(places, 20, MPI_INT, buffer, 64, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Unpack(buffer, 4, &position, places, 2, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
#endif
  CHECK_CLASS(MPI_Pack(places, -1, MPI_INT, buffer, 64, &position, MPI_COMM_WORLD), MPI_ERR_COUNT);
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  CHECK_CLASS(MPI_Pack(places, 1, type, buffer, 64, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);
  MPI_Type_free(&type);
  CHECK_EQ(position, 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  extents();
  pairs();
  large();
  elements();
  decoding();
  names();
  addresses();
  errors();
  return check_end();
}
