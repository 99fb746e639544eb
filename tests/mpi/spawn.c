/* Starting processes: children of all and of each rank, of several programs, with arguments and info keys; their
 * MPI_COMM_WORLD, their parents, grandchildren; what cannot be started. MPI report, 11.8 and 11.10. */
#include "check.h"

static char* self; /* this program */

static void check_sum_on(MPI_Comm comm, int mine, int want) {
  int sum = -1;
  CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, want);
}

/* Every process of one side sends to every one of the other, before it receives; large messages, too. */
static void exchange(MPI_Comm inter, int mine) {
  enum { kMost = 64, kLarge = 50000 };
  int there, got, rank, *large = check_malloc(kLarge * sizeof *large);
  MPI_Request requests[2 * kMost];
  CHECK_OK(MPI_Comm_remote_size(inter, &there));
  CHECK_OK(MPI_Comm_rank(inter, &rank));
  CHECK(there <= kMost);
  for (int i = 0; i < kLarge; i++) large[i] = mine + i;
  for (int to = 0; to < there; to++) {
    CHECK_OK(MPI_Isend(&mine, 1, MPI_INT, to, 5, inter, &requests[2 * to]));
    CHECK_OK(MPI_Isend(large, kLarge, MPI_INT, to, 6, inter, &requests[2 * to + 1]));
  }
  int* in = check_malloc(kLarge * sizeof *in);
  for (int from = 0; from < there; from++) {
    MPI_Status status;
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, inter, &status));
    CHECK_OK(MPI_Recv(in, kLarge, MPI_INT, status.MPI_SOURCE, 6, inter, MPI_STATUS_IGNORE));
    for (int i = 0; i < kLarge; i += 997) CHECK_EQ(in[i], got + i);
  }
  CHECK_OK(MPI_Waitall(2 * there, requests, MPI_STATUSES_IGNORE));
  free(large), free(in);
}

/* What both sides of a new intercommunicator do with it; the parents are the low group. */
static void use(MPI_Comm inter, int low) {
  int flag = 0, size, there, rank, value;
  MPI_Comm all, dup;
  CHECK_OK(MPI_Comm_test_inter(inter, &flag));
  CHECK(flag);
  CHECK_OK(MPI_Comm_size(inter, &size));
  CHECK_OK(MPI_Comm_remote_size(inter, &there));
  exchange(inter, low ? 1000 : 2000);
  check_sum_on(inter, low ? 1 : 100, low ? 100 * there : there);
  CHECK_OK(MPI_Comm_dup(inter, &dup));
  CHECK_OK(MPI_Intercomm_merge(dup, !low, &all));
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_rank(all, &rank));
  CHECK_EQ(rank, world_rank + (low ? 0 : there));
  check_sum_on(all, rank, (size + there) * (size + there - 1) / 2);
  value = rank == size + there - 1 ? 4711 : 0;
  CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, size + there - 1, all)); /* from the last child */
  CHECK_EQ(value, 4711);
  CHECK_OK(MPI_Comm_free(&all));
}

/* Children of the whole world. */
static void test_spawn(void) {
  char* arguments[] = {"child", "with some", "", NULL};
  int codes[3] = {-1, -1, -1}, there = 0;
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_spawn(self, arguments, 3, MPI_INFO_NULL, world_size - 1, MPI_COMM_WORLD, &inter, codes));
  for (int i = 0; i < 3; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
  CHECK_OK(MPI_Comm_remote_size(inter, &there));
  CHECK_EQ(there, 3);
  use(inter, 1);
  CHECK_OK(MPI_Comm_disconnect(&inter));
  CHECK(inter == MPI_COMM_NULL);
}

/* Each rank has children of its own at the same time, and those have some, too. */
static void test_each_its_own(void) {
  char* arguments[] = {"parent", NULL};
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
  exchange(inter, 7);
  CHECK_OK(MPI_Comm_disconnect(&inter));
}

/* Several programs, which are one here, make one world. */
static void test_multiple(void) {
  char *one[] = {"numbered", "0", NULL}, *two[] = {"numbered", "1", "2", NULL};
  char *commands[] = {self, self}, **arguments[] = {one, two};
  const int most[] = {1, 2};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  int codes[3] = {-1, -1, -1};
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_spawn_multiple(2, commands, arguments, most, infos, 0, MPI_COMM_WORLD, &inter, codes));
  for (int i = 0; i < 3; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
  use(inter, 1);
  CHECK_OK(MPI_Comm_free(&inter));
}

#ifdef MPI_ABI_VERSION
/* The class, and where it is about the processes, their codes and a sentence that names what is wrong. */
static void refuse(const char* command, int most, const char* key, const char* value, int class) {
  int codes[4] = {-1, -1, -1, -1}, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Comm inter = MPI_COMM_WORLD;
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  if (key != NULL) CHECK_OK(MPI_Info_set(info, key, value));
  const int code = MPI_Comm_spawn(command, MPI_ARGV_NULL, most, info, 0, MPI_COMM_WORLD, &inter,
                                  most <= 4 ? codes : MPI_ERRCODES_IGNORE);
  CHECK_CLASS(code, class);
  CHECK_OK(MPI_Error_string(code, text, &length));
  if (class == MPI_ERR_SPAWN && strstr(text, value != NULL ? value : most <= 4 ? command : "ranks") == NULL)
    check_failed(__FILE__, __LINE__, "%s %s: %s", command, key != NULL ? key : "", text);
  CHECK(inter == MPI_COMM_NULL);
  for (int i = 0; class == MPI_ERR_SPAWN && i < most && most <= 4; i++) CHECK_EQ(codes[i], MPI_ERR_SPAWN);
  CHECK_OK(MPI_Info_free(&info));
}

static void test_errors(void) {
  MPI_Comm inter;
  refuse("/no/such/program", 2, NULL, NULL, MPI_ERR_SPAWN);
  refuse("/etc/passwd", 1, NULL, NULL, MPI_ERR_SPAWN); /* not executable */
  refuse("/", 1, NULL, NULL, MPI_ERR_SPAWN);
  refuse("/usr/bin/ldd", 4, NULL, NULL, MPI_ERR_SPAWN); /* a script */
  refuse(self, 1, "wdir", "/no/such/place", MPI_ERR_SPAWN);
  refuse(self, 1, "host", "no.such.host", MPI_ERR_SPAWN);
  refuse(self, 1, "arch", "pdp11", MPI_ERR_SPAWN);
  refuse(self, 1, "soft", "3:9:2", MPI_ERR_SPAWN); /* none of these is 1 */
  refuse(self, 1, "soft", "1:", MPI_ERR_INFO_VALUE);
  refuse(self, 2, "soft", "1:2:0", MPI_ERR_INFO_VALUE);
  refuse(self, 0, NULL, NULL, MPI_ERR_ARG);
  refuse(self, -1, NULL, NULL, MPI_ERR_ARG);
  refuse("", 1, NULL, NULL, MPI_ERR_ARG);
  refuse(self, 2000000000, NULL, NULL, MPI_ERR_SPAWN);
  CHECK_CLASS(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, world_size, MPI_COMM_WORLD, &inter, NULL),
              MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, NULL, NULL), MPI_ERR_ARG);

  /* One program that is there, and one that is not: neither is started. */
  char* commands[] = {self, "no such program"};
  const int most[] = {2, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  int codes[3] = {-1, -1, -1};
  CHECK_CLASS(
      MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, most, infos, 0, MPI_COMM_WORLD, &inter, codes),
      MPI_ERR_SPAWN);
  for (int i = 0; i < 3; i++) CHECK_EQ(codes[i], MPI_ERR_SPAWN);
}

/* Info keys: the directory, where to look for the program, and how many of those wanted will do. */
static void test_info(void) {
  char folder[4096], *arguments[] = {"in_root", NULL}, *slash;
  int codes[6], there = 0, *universe, flag = 0;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Info info;
  snprintf(folder, sizeof folder, "/no/such/folder:%s", self);
  slash = strrchr(folder, '/');
  *slash = '\0';
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "wdir", "/"));
  CHECK_OK(MPI_Info_set(info, "path", folder));
  CHECK_OK(MPI_Info_set(info, "soft", "9,1:3:2,0"));
  CHECK_OK(MPI_Info_set(info, "arch", "x86_64"));
  CHECK_OK(MPI_Info_set(info, "unheard-of", "yes"));
  CHECK_OK(MPI_Comm_spawn(strrchr(self, '/') + 1, arguments, 6, info, 0, MPI_COMM_WORLD, &inter, codes));
  CHECK_OK(MPI_Comm_remote_size(inter, &there));
  CHECK_EQ(there, 3);
  for (int i = 0; i < 6; i++) CHECK_EQ(codes[i], i < 3 ? MPI_SUCCESS : MPI_ERR_SPAWN);
  CHECK_OK(MPI_Comm_disconnect(&inter));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
  CHECK(flag && *universe >= world_size);
}
#endif

#ifdef MPI_ABI_VERSION
static void check_launched(const char* key, const char* want) {
  char value[MPI_MAX_INFO_VAL + 1];
  int flag = 0;
  CHECK_OK(MPI_Info_get(MPI_INFO_ENV, key, MPI_MAX_INFO_VAL, value, &flag));
  CHECK(flag);
  CHECK_STRING(value, want);
}
#endif

/* MPI_INFO_ENV says how they were started. */
static void check_launch(const char* arguments, const char* maxprocs) {
#ifdef MPI_ABI_VERSION
  char host[MPI_MAX_PROCESSOR_NAME];
  int length;
  CHECK_OK(MPI_Get_processor_name(host, &length));
  check_launched("command", self);
  check_launched("argv", arguments);
  check_launched("maxprocs", maxprocs);
  check_launched("host", host);
  check_launched("arch", "x86_64");
  check_launched("thread_level", "MPI_THREAD_SINGLE");
#else
  (void)arguments, (void)maxprocs;
#endif
}

/* ---- the children; returns what they do at last with their parents */

static void child(int argc, char** argv, MPI_Comm parent) {
  int *number, flag = 0, one = 1, sum = 0;
  char name[MPI_MAX_OBJECT_NAME];
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
  CHECK(flag);
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* ours, without the parents */
  CHECK_EQ(sum, world_size);
  if (strcmp(argv[1], "child") == 0) {
    CHECK_EQ(argc, 4);
    CHECK(strcmp(argv[2], "with some") == 0 && strcmp(argv[3], "") == 0);
    CHECK_EQ(world_size, 3);
    CHECK_EQ(*number, 0);
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &one));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    check_launch("child with some ", "3");
    use(parent, 0);
  } else if (strcmp(argv[1], "numbered") == 0) {
    CHECK_EQ(*number, world_rank == 0 ? 0 : 1);
    CHECK_EQ(atoi(argv[2]), *number);
    CHECK_EQ(argc, 3 + *number);
    check_launch(*number == 0 ? "numbered 0" : "numbered 1 2", *number == 0 ? "1" : "2");
    use(parent, 0);
    CHECK_OK(MPI_Comm_free(&parent));
    return;
  } else if (strcmp(argv[1], "parent") == 0) { /* has a child itself, which it shares with its sibling */
    char* arguments[] = {"grandchild", NULL};
    MPI_Comm inter = MPI_COMM_NULL;
    exchange(parent, 8);
    CHECK_OK(
        MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    exchange(inter, 9);
    CHECK_OK(MPI_Comm_disconnect(&inter));
  } else if (strcmp(argv[1], "grandchild") == 0) {
    int there = 0;
    CHECK_OK(MPI_Comm_remote_size(parent, &there));
    CHECK_EQ(there, 2);
    exchange(parent, 10);
  } else if (strcmp(argv[1], "in_root") == 0) {
    char folder[100] = "", value[MPI_MAX_INFO_VAL + 1];
    CHECK(getcwd(folder, sizeof folder) != NULL);
    CHECK(strcmp(folder, "/") == 0);
    CHECK_OK(MPI_Info_get(MPI_INFO_ENV, "wdir", MPI_MAX_INFO_VAL, value, &flag));
    CHECK(flag && strcmp(value, "/") == 0);
  } else {
    CHECK(!"a child of this program");
  }
  CHECK_OK(MPI_Comm_disconnect(&parent));
  CHECK_OK(MPI_Comm_get_parent(&parent));
  CHECK(parent == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  MPI_Comm parent = MPI_COMM_NULL;
  self = argv[0];
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Comm_get_parent(&parent));
  if (parent != MPI_COMM_NULL) {
    child(argc, argv, parent);
    MPI_Finalize();
    return 0;
  }
  test_spawn();
  test_each_its_own();
  test_multiple();
#ifdef MPI_ABI_VERSION
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_errors();
  test_info();
#endif
  return check_end();
}
