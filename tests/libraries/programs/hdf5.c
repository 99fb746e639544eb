/* HDF5: a table of all open objects, a stack of errors, and H5close, which ends the library for its process only. */
#include <hdf5.h>

#include "steps.h"

static herr_t count_error(hid_t stack, void* counter) {
  (void)stack;
  ++*(int*)counter;
  return 0;
}

static void write_rows(hid_t file, const char* name, hsize_t rows, int first) {
  hsize_t size[2] = {rows, 8};
  hid_t space = H5Screate_simple(2, size, NULL);
  hid_t set = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int* data = (int*)check_malloc(rows * 8 * sizeof(int));
  for (hsize_t i = 0; i < rows * 8; i++) data[i] = first + (int)i;
  CHECK(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  free(data);
  CHECK(H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
}

static double sum_rows(hid_t file, const char* name) {
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  double* data = (double*)check_malloc((size_t)count * sizeof(double));
  double sum = 0;
  CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  for (hssize_t i = 0; i < count; i++) sum += data[i];
  free(data);
  CHECK(H5Sclose(space) >= 0 && H5Dclose(set) >= 0);
  return sum;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char name[32], set[32];
  snprintf(name, sizeof name, "hdf5_%d.h5", world_rank);
  int errors = 0;
  CHECK(H5Eset_auto2(H5E_DEFAULT, count_error, &errors) >= 0);
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(file >= 0);
  for (int round = 0; round < 6; round++) {
    next_step();
    snprintf(set, sizeof set, "rows %d", round);
    write_rows(file, set, (hsize_t)(10 + world_rank), round);
    CHECK_EQ(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 1);
    for (int i = 0; i <= world_rank % 3; i++) CHECK(H5Dopen2(file, "no such set", H5P_DEFAULT) < 0);
    CHECK_EQ(errors, (round + 1) * (world_rank % 3 + 1));
  }
  next_step();
  if (world_rank % 2) { /* ends here, for this rank */
    CHECK(H5Fclose(file) >= 0);
    CHECK(H5close() >= 0);
  }
  next_step();
  if (world_rank % 2 == 0) {
    write_rows(file, "last", 5, world_rank);
    CHECK(H5Fclose(file) >= 0);
  }
  next_step();
  file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  double sum = sum_rows(file, "rows 3"), count = 8 * (10 + world_rank);
  CHECK_NEAR(sum, 3 * count + count * (count - 1) / 2, 0);
  CHECK(H5Fclose(file) >= 0);
  unlink(name);
  return end_with(sum);
}
