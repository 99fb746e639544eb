/* netCDF: a list of open files, and the format and the chunk cache that files get which do not say otherwise. */
#include <netcdf.h>

#include "steps.h"

#define NC(call)                                                                                  \
  do {                                                                                            \
    int code_ = (call);                                                                           \
    if (code_ != NC_NOERR) check_failed(__FILE__, __LINE__, "%s: %s", #call, nc_strerror(code_)); \
  } while (0)

enum { Count = 50 };

static double write_and_read(const char* name, int round) {
  int file, dimension, variable, format;
  NC(nc_create(name, NC_CLOBBER, &file));
  NC(nc_inq_format(file, &format));
  CHECK_EQ(format, world_rank % 2 ? NC_FORMAT_NETCDF4 : NC_FORMAT_CLASSIC);
  NC(nc_def_dim(file, "x", Count, &dimension));
  NC(nc_def_var(file, "height", NC_DOUBLE, 1, &dimension, &variable));
  NC(nc_put_att_int(file, variable, "rank", NC_INT, 1, &world_rank));
  NC(nc_enddef(file));
  next_step();
  double values[Count], sum = 0;
  for (int i = 0; i < Count; i++) values[i] = world_rank + round * i;
  NC(nc_put_var_double(file, variable, values));
  NC(nc_close(file));
  next_step();
  int rank = -1;
  NC(nc_open(name, NC_NOWRITE, &file));
  NC(nc_inq_varid(file, "height", &variable));
  NC(nc_get_att_int(file, variable, "rank", &rank));
  CHECK_EQ(rank, world_rank);
  NC(nc_get_var_double(file, variable, values));
  for (int i = 0; i < Count; i++) sum += values[i];
  NC(nc_close(file));
  return sum;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  NC(nc_set_default_format(world_rank % 2 ? NC_FORMAT_NETCDF4 : NC_FORMAT_CLASSIC, NULL));
  NC(nc_set_chunk_cache(1000000 + (size_t)world_rank, 997, 0.5f));
  char name[32];
  snprintf(name, sizeof name, "netcdf_%d.nc", world_rank);
  double sum = 0;
  for (int round = 0; round < 5; round++) {
    next_step();
    double found = write_and_read(name, round);
    CHECK_NEAR(found, world_rank * Count + round * Count * (Count - 1) / 2, 0);
    sum += found;
  }
  size_t bytes, slots;
  float preemption;
  NC(nc_get_chunk_cache(&bytes, &slots, &preemption));
  CHECK_EQ(bytes, 1000000 + world_rank);
  unlink(name);
  return end_with(sum);
}
