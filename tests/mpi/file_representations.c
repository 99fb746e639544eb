/* Files: data representations, the user's own too, and those that cannot be. MPI report, section 14.5. */
#include "file_helpers.h"

static int read_units(void* buffer, MPI_Datatype type, int count, void* file, MPI_Offset position,
                      void* state) {
  (void)type;
  for (int i = 0; i < count; i++) ((int*)buffer)[position + i] = ((unsigned char*)file)[2 * i] - '0';
  ++*(int*)state;
  return MPI_SUCCESS;
}
static int write_units(void* buffer, MPI_Datatype type, int count, void* file, MPI_Offset position,
                       void* state) {
  (void)type;
  for (int i = 0; i < count; i++) {
    if (((int*)buffer)[position + i] > 9) return MPI_ERR_OTHER;
    ((unsigned char*)file)[2 * i] = (unsigned char)('0' + ((int*)buffer)[position + i]);
    ((unsigned char*)file)[2 * i + 1] = ' ';
  }
  ++*(int*)state;
  return MPI_SUCCESS;
}
static int two_bytes(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)state, (void)type;
  *extent = 2;
  return MPI_SUCCESS;
}

/* Without functions that convert, data are as in memory: an extent that is another is refused, and so are places in
 * bytes that the extents make overlap. */
static int many_bytes(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)state, (void)type;
  *extent = 16;
  return MPI_SUCCESS;
}
static void test_bad_representations(MPI_File file) {
#ifdef MPI_ABI_VERSION
  int values[1000], lengths[2] = {1, 1};
  memset(values, 0, sizeof values);
  CHECK_OK(MPI_Register_datarep("half", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, two_bytes, NULL));
  CHECK_OK(MPI_Register_datarep("wide", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, many_bytes, NULL));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "half", MPI_INFO_NULL));
  check_sentence(MPI_File_write_at(file, 0, values, 1000, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION,
                 "MPI_CONVERSION_FN_NULL");
  MPI_Datatype close;
  MPI_Aint places[2] = {0, 4};
  CHECK_OK(MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &close));
  CHECK_OK(MPI_Type_commit(&close));
  check_sentence(MPI_File_set_view(file, 0, MPI_INT, close, "wide", MPI_INFO_NULL), MPI_ERR_TYPE, "wide");
  MPI_Type_free(&close);
#endif
  MPI_Datatype etype, filetype;
  MPI_Offset disp;
  char datarep[MPI_MAX_DATAREP_STRING];
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL));
  CHECK_OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
  CHECK_STRING(datarep, "internal");
}

static void test_representations(void) {
  make_path("representation");
  MPI_File file = open_new(MPI_MODE_RDWR);
  unsigned char bytes[16];
  int value = 0x01020304 + world_rank, got[4] = {0};
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_at_all(file, world_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Aint extent = 0;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
  CHECK_EQ(extent, 4);
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  CHECK_EQ(extent, 4);
#endif
  CHECK_OK(MPI_File_read_at(file, world_rank, got, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(got[0], value);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, 4 * world_rank, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_EQ(bytes[0], 1);
  CHECK_EQ(bytes[3], 4 + world_rank);
#ifdef MPI_ABI_VERSION
  /* A column of longs, 4 bytes each in the file. */
  MPI_Datatype column;
  long longs[3] = {1, -2, world_rank}, back[3] = {0};
  CHECK_OK(MPI_Type_vector(3, 1, world_size, MPI_LONG, &column));
  CHECK_OK(MPI_Type_commit(&column));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_set_view(file, 4 * world_rank, MPI_LONG, column, "external32", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_all(file, longs, 3, MPI_LONG, MPI_STATUS_IGNORE));
  MPI_Status status;
  int count = 0;
  CHECK_OK(MPI_File_read_at_all(file, 0, back, 3, MPI_LONG, &status));
  MPI_Get_count(&status, MPI_LONG, &count);
  CHECK_EQ(count, 3);
  CHECK_EQ(back[1], -2);
  CHECK_EQ(back[2], world_rank);
  MPI_Offset size = 0;
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 4 * 3 * world_size);
  long large = 1L << 40;
  CHECK_CLASS(MPI_File_write_at(file, 0, &large, 1, MPI_LONG, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
  MPI_Type_free(&column);
  /* One of the program's own. */
  int calls = 0;
  CHECK_OK(MPI_Register_datarep("digits", read_units, write_units, two_bytes, &calls));
  CHECK_CLASS(MPI_Register_datarep("digits", read_units, write_units, two_bytes, &calls),
              MPI_ERR_DUP_DATAREP);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "digits", MPI_INFO_NULL));
  int numbers[3] = {1, 2, world_rank % 10};
  CHECK_OK(MPI_File_write_at_all(file, 3 * world_rank, numbers, 3, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQ(count, 3);
  CHECK_EQ(calls, 1);
  CHECK_OK(MPI_File_read_at_all(file, 3 * world_rank, got, 3, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQ(count, 3);
  CHECK_EQ(got[1], 2);
  CHECK_EQ(got[2], world_rank % 10);
  numbers[0] = 10;
  check_sentence(MPI_File_write_at(file, 0, numbers, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION,
                 "digits");
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, 6 * world_rank, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(memcmp(bytes, "1 2 ", 4) == 0);
#endif
  test_bad_representations(file);
  MPI_Barrier(MPI_COMM_WORLD);
  close_and_delete(&file);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test_representations();
  return check_end();
}
