/* Integers for handles, conversions for Fortran, and what the ABI says of types. MPI
 * report, 19.3.4, 19.3.5, 21.2 to 21.4. */
#include "check.h"

#define ROUND_TRIP(Kind, handle)                                   \
  do {                                                             \
    CHECK(MPI_##Kind##_f2c(MPI_##Kind##_c2f(handle)) == (handle)); \
  } while (0)

static void test_round_trips(void) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Info info;
  MPI_Request request;
  MPI_Errhandler handler;
  int data = world_rank, got = -1;
  ROUND_TRIP(Comm, MPI_COMM_WORLD);
  ROUND_TRIP(Comm, MPI_COMM_SELF);
  ROUND_TRIP(Comm, MPI_COMM_NULL);
  ROUND_TRIP(Type, MPI_INT);
  ROUND_TRIP(Type, MPI_DATATYPE_NULL);
  ROUND_TRIP(Op, MPI_SUM);
  ROUND_TRIP(Request, MPI_REQUEST_NULL);
  ROUND_TRIP(Group, MPI_GROUP_EMPTY);
  ROUND_TRIP(Errhandler, MPI_ERRORS_RETURN);
  ROUND_TRIP(Info, MPI_INFO_NULL);
  ROUND_TRIP(File, MPI_FILE_NULL);
  ROUND_TRIP(Win, MPI_WIN_NULL);
  ROUND_TRIP(Message, MPI_MESSAGE_NULL);
  ROUND_TRIP(Message, MPI_MESSAGE_NO_PROC);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_group(comm, &group));
  CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Comm_get_errhandler(comm, &handler));
  CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, (world_rank + 1) % world_size, 0, comm, &request));
  ROUND_TRIP(Comm, comm);
  ROUND_TRIP(Group, group);
  ROUND_TRIP(Type, type);
  ROUND_TRIP(Info, info);
  ROUND_TRIP(Request, request);
  ROUND_TRIP(Errhandler, handler);
  CHECK_EQ(MPI_Comm_c2f(comm), MPI_Comm_c2f(comm));
  CHECK(MPI_Comm_c2f(comm) != MPI_Comm_c2f(MPI_COMM_WORLD));
  /* The handle that comes back is as good as the first. */
  MPI_Request again = MPI_Request_f2c(MPI_Request_c2f(request));
  CHECK_OK(MPI_Send(&data, 1, MPI_INT, (world_rank + world_size - 1) % world_size, 0,
                    MPI_Comm_f2c(MPI_Comm_c2f(comm))));
  CHECK_OK(MPI_Wait(&again, MPI_STATUS_IGNORE));
  CHECK_EQ(got, (world_rank + 1) % world_size);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Info_free(&info));
}

/* Objects that come and go: every integer leads back to its handle. */
static void test_many(void) {
  for (int round = 0; round < 50; round++) {
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++) CHECK_OK(MPI_Type_contiguous(i + 1, MPI_INT, &types[i]));
    for (int i = 0; i < 8; i++) {
      ROUND_TRIP(Type, types[i]);
      for (int k = 0; k < i; k++) CHECK(MPI_Type_c2f(types[k]) != MPI_Type_c2f(types[i]));
    }
    for (int i = 0; i < 8; i++) CHECK_OK(MPI_Type_free(&types[i]));
  }
}

/* The integers of requests, which the library keeps in a pool, stay few. */
static void test_few(void) {
  int first = 0, most = 0, got;
  for (int round = 0; round < 400; round++) {
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    ROUND_TRIP(Request, request);
    int number = (int)MPI_Request_c2f(request);
    if (round == 0) first = number;
    if (number > most) most = number;
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
#ifdef MPI_ABI_VERSION
  CHECK(most - first < 200);
#else
  (void)first, (void)most;
#endif
}

static void test_statuses(void) {
  MPI_Status status, back;
#ifdef MPI_F_STATUS_SIZE
  MPI_Fint fortran[MPI_F_STATUS_SIZE];
#else
  MPI_Fint fortran[16];
#endif
  int data[3] = {1, 2, 3}, got[3], count;
  CHECK_OK(MPI_Sendrecv(data, 3, MPI_INT, world_rank, 17, got, 3, MPI_INT, world_rank, 17, MPI_COMM_WORLD,
                        &status));
  CHECK_OK(MPI_Status_c2f(&status, fortran));
#ifdef MPI_ABI_VERSION
  CHECK_EQ(fortran[MPI_F_SOURCE], world_rank);
  CHECK_EQ(fortran[MPI_F_TAG], 17);
#endif
  memset(&back, 0, sizeof back);
  CHECK_OK(MPI_Status_f2c(fortran, &back));
  CHECK(back.MPI_SOURCE == world_rank && back.MPI_TAG == 17);
  CHECK_OK(MPI_Get_count(&back, MPI_INT, &count));
  CHECK_EQ(count, 3);
#ifdef MPI_ABI_VERSION
  MPI_F08_status f08;
  memset(&back, 0, sizeof back);
  CHECK_OK(MPI_Status_c2f08(&status, &f08));
  CHECK_OK(MPI_Status_f082c(&f08, &back));
  CHECK(memcmp(&status, &back, sizeof status) == 0);
  memset(fortran, 0, sizeof fortran);
  CHECK_OK(MPI_Status_f082f(&f08, fortran));
  memset(&f08, 0, sizeof f08);
  CHECK_OK(MPI_Status_f2f08(fortran, &f08));
  CHECK(memcmp(&status, &f08, sizeof status) == 0);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Status_c2f(MPI_STATUS_IGNORE, fortran), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &status), MPI_ERR_ARG);
#endif
}

#ifdef MPI_ABI_VERSION
static const char* value_of(MPI_Info info, const char* key) {
  static char value[64];
  int flag, room = sizeof value;
  CHECK_OK(MPI_Info_get_string(info, key, &room, value, &flag));
  CHECK(flag);
  return value;
}

static void test_abi(void) {
  MPI_Info info;
  CHECK_EQ(MPI_Comm_toint(MPI_COMM_WORLD), 257); /* a predefined handle keeps its value */
  CHECK_EQ(MPI_Type_toint(MPI_INT), 521);
  CHECK(MPI_Op_fromint(33) == MPI_SUM);
  CHECK(MPI_Comm_fromint(-1) == MPI_COMM_NULL);
  CHECK(MPI_Comm_fromint(1 << 30) == MPI_COMM_NULL); /* nobody's */
  CHECK(MPI_Request_fromint(1 << 30) == MPI_REQUEST_NULL);
  CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
  CHECK_OK(MPI_Abi_get_info(&info));
  CHECK_STRING(value_of(info, "mpi_aint_size"), "8");
  CHECK_STRING(value_of(info, "mpi_count_size"), "8");
  CHECK_STRING(value_of(info, "mpi_offset_size"), "8");
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Abi_get_fortran_info(&info));
  CHECK_STRING(value_of(info, "mpi_integer_size"), "4");
  CHECK_STRING(value_of(info, "mpi_double_precision_size"), "8");
  CHECK_STRING(value_of(info, "mpi_integer8_supported"), "true");
  CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI); /* known already */
  CHECK_OK(MPI_Info_free(&info));

  int yes = -1, no = 0, is_set = -1, got_yes = 7, got_no = 7;
  CHECK_OK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &is_set));
  CHECK(is_set == 0 && got_yes == 7);
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, NULL, &no), MPI_ERR_ARG);
  CHECK_OK(MPI_Abi_set_fortran_booleans(4, &yes, &no));
  CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &no, &yes), MPI_ERR_ABI);
  CHECK_OK(MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &is_set));
  CHECK(is_set && got_yes == -1 && got_no == 0);
  CHECK_CLASS(MPI_Abi_get_fortran_booleans(8, &got_yes, &got_no, &is_set), MPI_ERR_ARG);
}
#endif

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_round_trips();
  test_many();
  test_few();
  test_statuses();
#ifdef MPI_ABI_VERSION
  test_abi();
#endif
  return check_end();
}
