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

#ifdef MPI_ABI_VERSION

/* Through both pairs of conversions, which are one, and back. */
#define BOTH_WAYS(Kind, handle)                                            \
  do {                                                                     \
    const int check_int = MPI_##Kind##_toint(handle);                      \
    CHECK_EQ(MPI_##Kind##_c2f(handle), check_int);                         \
    CHECK(MPI_##Kind##_fromint(check_int) == (handle));                    \
    CHECK(MPI_##Kind##_f2c(check_int) == (handle));                        \
    CHECK(PMPI_##Kind##_fromint(PMPI_##Kind##_toint(handle)) == (handle)); \
    CHECK(PMPI_##Kind##_f2c(PMPI_##Kind##_c2f(handle)) == (handle));       \
  } while (0)

/* A constant is its own integer (21.3.3), and no other one's. */
#define CONSTANT(Kind, handle)                                \
  do {                                                        \
    CHECK_EQ(MPI_##Kind##_toint(handle), (intptr_t)(handle)); \
    BOTH_WAYS(Kind, handle);                                  \
  } while (0)

/* What the program has made: no integer of a constant, none of another object. */
#define OBJECT(Kind, handle)                                  \
  do {                                                        \
    CHECK((handle) != MPI_##Kind##_fromint(1 << 30));         \
    BOTH_WAYS(Kind, handle);                                  \
    note_object(MPI_##Kind##_toint(handle), (void*)(handle)); \
  } while (0)

static int object_ints[64], objects;
static void* object_handles[64];

static void note_object(int number, void* handle) {
  CHECK(number >= 4096); /* below are constants */
  for (int i = 0; i < objects; i++) CHECK((object_ints[i] == number) == (object_handles[i] == handle));
  object_ints[objects] = number;
  object_handles[objects++] = handle;
}

static void test_constants(void) {
  CONSTANT(Comm, MPI_COMM_WORLD);
  CONSTANT(Comm, MPI_COMM_SELF);
  CONSTANT(Comm, MPI_COMM_NULL);
  CONSTANT(Errhandler, MPI_ERRORS_ARE_FATAL);
  CONSTANT(Errhandler, MPI_ERRORS_RETURN);
  CONSTANT(Errhandler, MPI_ERRORS_ABORT);
  CONSTANT(Errhandler, MPI_ERRHANDLER_NULL);
  CONSTANT(File, MPI_FILE_NULL);
  CONSTANT(Group, MPI_GROUP_EMPTY);
  CONSTANT(Group, MPI_GROUP_NULL);
  CONSTANT(Info, MPI_INFO_ENV);
  CONSTANT(Info, MPI_INFO_NULL);
  CONSTANT(Message, MPI_MESSAGE_NO_PROC);
  CONSTANT(Message, MPI_MESSAGE_NULL);
  CONSTANT(Request, MPI_REQUEST_NULL);
  CONSTANT(Session, MPI_SESSION_NULL);
  CONSTANT(Win, MPI_WIN_NULL);
  const MPI_Op ops[] = {MPI_OP_NULL, MPI_MAX,    MPI_MIN,    MPI_SUM,     MPI_PROD,
                        MPI_LAND,    MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR,
                        MPI_BXOR,    MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) CONSTANT(Op, ops[i]);
  const MPI_Datatype types[] = {MPI_DATATYPE_NULL,
                                MPI_CHAR,
                                MPI_SIGNED_CHAR,
                                MPI_UNSIGNED_CHAR,
                                MPI_BYTE,
                                MPI_WCHAR,
                                MPI_SHORT,
                                MPI_INT,
                                MPI_LONG,
                                MPI_LONG_LONG,
                                MPI_UNSIGNED,
                                MPI_FLOAT,
                                MPI_DOUBLE,
                                MPI_LONG_DOUBLE,
                                MPI_C_BOOL,
                                MPI_INT8_T,
                                MPI_UINT64_T,
                                MPI_AINT,
                                MPI_COUNT,
                                MPI_OFFSET,
                                MPI_PACKED,
                                MPI_FLOAT_INT,
                                MPI_2INT,
                                MPI_INTEGER,
                                MPI_REAL,
                                MPI_COMPLEX,
                                MPI_LOGICAL,
                                MPI_DOUBLE_PRECISION,
                                MPI_CHARACTER,
                                MPI_2REAL,
                                MPI_C_DOUBLE_COMPLEX,
                                MPI_CXX_BOOL};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) CONSTANT(Type, types[i]);
}

static int errors_seen;
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  errors_seen++;
}

static void add_up(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; i++) ((int*)inout)[i] += ((int*)in)[i];
}

/* An object of every kind, alive at the same time; what comes back is as good as what was put in. */
static void test_objects(void) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Session session;
  MPI_Win win;
  MPI_File file;
  MPI_Request request;
  MPI_Message message;
  char path[64];
  int *memory, in = 5, out = 0, size = -1, flag = 0;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Comm_group(comm, &group));
  CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
  CHECK_OK(MPI_Op_create(add_up, 1, &op));
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK_OK(MPI_Comm_create_errhandler(on_error, &handler));
  CHECK_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, comm, &memory, &win));
  snprintf(path, sizeof path, "/tmp/tmpi-handles-%ld-%d", (long)getpid(), world_rank);
  CHECK_OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &file));
  CHECK_OK(MPI_Send(&in, 1, MPI_INT, 0, 3, comm));
  CHECK_OK(MPI_Mprobe(0, 3, comm, &message, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Send_init(&in, 1, MPI_INT, 0, 4, comm, &request));
  OBJECT(Comm, comm);
  OBJECT(Group, group);
  OBJECT(Type, type);
  OBJECT(Op, op);
  OBJECT(Info, info);
  OBJECT(Session, session);
  OBJECT(Errhandler, handler);
  OBJECT(Win, win);
  OBJECT(File, file);
  OBJECT(Message, message);
  OBJECT(Request, request);
  comm = MPI_Comm_fromint(MPI_Comm_toint(comm));
  message = MPI_Message_f2c(MPI_Message_toint(message));
  CHECK_OK(MPI_Mrecv(&out, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
  CHECK_EQ(out, 5);
  out = 1;
  CHECK_OK(MPI_Reduce_local(&in, &out, 1, MPI_INT, MPI_Op_fromint(MPI_Op_c2f(op))));
  CHECK_EQ(out, 6);
  CHECK_OK(MPI_Type_size(MPI_Type_fromint(MPI_Type_toint(type)), &size));
  CHECK_EQ(size, 3 * (int)sizeof(int));
  CHECK_OK(MPI_Group_size(MPI_Group_fromint(MPI_Group_toint(group)), &size));
  CHECK_EQ(size, 1);
  CHECK_OK(MPI_Info_set(MPI_Info_fromint(MPI_Info_toint(info)), "key", "value"));
  CHECK_OK(MPI_Info_get_valuelen(info, "key", &size, &flag));
  CHECK(flag && size == 5);
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_Errhandler_fromint(MPI_Errhandler_toint(handler))));
  CHECK_CLASS(MPI_Send(&in, -1, MPI_INT, 0, 3, comm), MPI_ERR_COUNT);
  CHECK_EQ(errors_seen, 1);
  CHECK_OK(MPI_Session_get_num_psets(MPI_Session_f2c(MPI_Session_toint(session)), MPI_INFO_NULL, &size));
  CHECK(size >= 2);
  CHECK_OK(MPI_Win_fence(0, MPI_Win_fromint(MPI_Win_toint(win))));
  CHECK_OK(MPI_Put(&in, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_Win_f2c(MPI_Win_c2f(win))));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_EQ(*memory, 5);
  CHECK_OK(MPI_File_write(MPI_File_fromint(MPI_File_toint(file)), &in, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at(MPI_File_f2c(MPI_File_c2f(file)), 0, &out, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(out, 5);
  MPI_Request other = MPI_Request_fromint(MPI_Request_toint(request));
  CHECK_OK(MPI_Start(&other));
  CHECK_OK(MPI_Recv(&out, 1, MPI_INT, 0, 4, comm, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Request_free(&other));
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_Win_free(&win));
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK_OK(MPI_Session_finalize(&session));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Op_free(&op));
  CHECK_OK(MPI_Type_free(&type));
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Comm_free(&comm));
}

/* Integers that no handle has are the null handle of their kind. */
static void test_nobodys(void) {
  const int numbers[] = {-1, 0, 1 << 30, 0x7fffffff, -0x7fffffff - 1};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    CHECK(MPI_Comm_fromint(numbers[i]) == MPI_COMM_NULL);
    CHECK(MPI_Errhandler_fromint(numbers[i]) == MPI_ERRHANDLER_NULL);
    CHECK(MPI_File_fromint(numbers[i]) == MPI_FILE_NULL);
    CHECK(MPI_Group_f2c(numbers[i]) == MPI_GROUP_NULL);
    CHECK(MPI_Info_fromint(numbers[i]) == MPI_INFO_NULL);
    CHECK(MPI_Message_fromint(numbers[i]) == MPI_MESSAGE_NULL);
    CHECK(MPI_Op_f2c(numbers[i]) == MPI_OP_NULL);
    CHECK(MPI_Request_fromint(numbers[i]) == MPI_REQUEST_NULL);
    CHECK(MPI_Session_fromint(numbers[i]) == MPI_SESSION_NULL);
    CHECK(MPI_Type_f2c(numbers[i]) == MPI_DATATYPE_NULL);
    CHECK(MPI_Win_fromint(numbers[i]) == MPI_WIN_NULL);
  }
}

#endif

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
  MPI_F08_Status* same = &f08; /* as others spell it */
  CHECK(same == &f08);
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
  test_constants();
  test_objects();
  test_nobodys();
  test_abi();
#endif
  return check_end();
}
