/* jobs ROLE NAME ...: what two jobs of one user do with each other (MPI report, 11.9). Who connects has the port by the
 * published name NAME.
 *
 *   serve NAME N, connect NAME N   accept and connect N times, and work together each time
 *   serve-one NAME                 accepts, says so, waits for a message that may never come
 *   go NAME, leave NAME, abort NAME, hold NAME   connects; disconnects and aborts after a byte of its input, calls
 *                                  MPI_Finalize at once, aborts, waits
 *   let-go NAME                    accepts, disconnects, says so, waits for a byte of its input
 *   both NAME OTHER                accepts by rank 0, connects by rank 1, at the same time
 *   publish NAME [job]             publishes NAME (for its own job), says so, waits for a byte
 *   narrow NAME                    the same with a port that is for its own job
 *   look NAME                      prints what MPI_Lookup_name says, or MPI_Comm_connect within 0.05 s
 *   late NAME, send NAME           one accepts and receives after a byte of its input what the other has sent before it ended
 *   patient NAME [SECONDS]         the same within 0.5 s; then, after a byte of its input, within SECONDS or without a timeout
 *   slow NAME, visit NAME          publishes, says so, accepts after a byte of its input and disconnects; connects and
 *                                  disconnects
 *   brisk NAME                     publishes, says so; after a byte of its input accepts within 0.3 s and says how that went; after
 *                                  another accepts and disconnects
 *   alone NAME                     accepts, and then waits for itself
 *   hub NAME, spoke NAME           one accepts twice, two connect: no communicator has ranks of all three
 *   join accept|connect SOCKET     MPI_Comm_join over a UNIX socket of this name */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 9);                                          \
    }                                                                        \
  } while (0)

static int rank, size;

static int class_of(int code) {
  int class_ = MPI_SUCCESS;
  MPI_Error_class(code, &class_);
  return class_;
}

enum { kTwins = 64 };
enum {
  kMostTries = 60000
}; /* a millisecond apart: of what another process is to do, which may have been killed */

/* A partitioned operation has a context of its own, which no communicator of the receiver's job has. */
static void parts(MPI_Comm inter, int receives) {
  MPI_Request request, own[kTwins];
  MPI_Comm twins[kTwins];
  int data[4] = {-1, -1, -1, -1}, token = 4711, got[kTwins];
  if (rank != 0) return;
  if (!receives) {
    for (int i = 0; i < 4; i++) data[i] = 100 + i;
    MPI_Recv(&token, 1, MPI_INT, 0, 78, inter, MPI_STATUS_IGNORE);
    CHECK(MPI_Psend_init(data, 4, 1, MPI_INT, 0, 79, inter, MPI_INFO_NULL, &request) == MPI_SUCCESS);
    MPI_Send(&token, 1, MPI_INT, 0, 78, inter);
    MPI_Recv(&token, 1, MPI_INT, 0, 78, inter, MPI_STATUS_IGNORE);
    MPI_Start(&request);
    MPI_Pready_range(0, 3, request);
  } else {
    CHECK(MPI_Precv_init(data, 4, 1, MPI_INT, 0, 79, inter, MPI_INFO_NULL, &request) == MPI_SUCCESS);
    for (int i = 0; i < kTwins / 2; i++) MPI_Comm_dup(MPI_COMM_SELF, &twins[i]);
    MPI_Send(&token, 1, MPI_INT, 0, 78, inter);
    MPI_Recv(&token, 1, MPI_INT, 0, 78, inter, MPI_STATUS_IGNORE);
    for (int i = kTwins / 2; i < kTwins; i++) MPI_Comm_dup(MPI_COMM_SELF, &twins[i]);
    MPI_Start(&request);
    for (int i = 0; i < kTwins; i++) {
      int found = 0;
      MPI_Isend(&i, 1, MPI_INT, 0, i % 4, twins[i], &own[i]);
      MPI_Test(&request, &found, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < kTwins; i++) {
      MPI_Recv(&got[i], 1, MPI_INT, 0, i % 4, twins[i], MPI_STATUS_IGNORE);
      CHECK(got[i] == i);
      MPI_Wait(&own[i], MPI_STATUS_IGNORE);
      MPI_Comm_free(&twins[i]);
    }
    MPI_Send(&token, 1, MPI_INT, 0, 78, inter);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; i++) CHECK(data[i] == 100 + i);
  MPI_Request_free(&request);
}

/* Messages of all sizes and collectives, on an intercommunicator and on the merged one. */
static void work(MPI_Comm inter, int high) {
  int there, me, all_size, flag = 0;
  static const int sizes[] = {1, 1000, 300 * 1000, 3 * 1000 * 1000};
  MPI_Comm all, part, twin;
  CHECK(MPI_Comm_test_inter(inter, &flag) == MPI_SUCCESS && flag);
  MPI_Comm_remote_size(inter, &there);
  for (int i = 0; i < 4; i++) {
    const int n = sizes[i];
    int *out = malloc((size_t)n * sizeof *out), *in = malloc((size_t)n * sizeof *in);
    for (int peer = 0; peer < there; peer++) {
      MPI_Request request;
      for (int j = 0; j < n; j++) out[j] = rank * 7 + j, in[j] = -1;
      MPI_Irecv(in, n, MPI_INT, peer, i, inter, &request);
      if (i % 2 == 0) {
        MPI_Ssend(out, n, MPI_INT, peer, i, inter);
      } else {
        MPI_Send(out, n, MPI_INT, peer, i, inter);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int j = 0; j < n; j++) CHECK(in[j] == peer * 7 + j);
    }
    free(out);
    free(in);
  }
  for (int peer = 0; peer < there; peer++) { /* columns, any source */
    int square[32][32], column[32];
    MPI_Datatype type;
    MPI_Request request;
    MPI_Status status;
    MPI_Type_vector(32, 1, 32, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 32; i++) {
      for (int j = 0; j < 32; j++) square[i][j] = rank;
    }
    MPI_Isend(&square[0][3], 1, type, peer, 77, inter, &request);
    MPI_Recv(column, 32, MPI_INT, MPI_ANY_SOURCE, 77, inter, &status);
    CHECK(column[31] == status.MPI_SOURCE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
  }
  int sum = 0, mine = rank + 1;
  CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter) == MPI_SUCCESS);
  CHECK(sum == there * (there + 1) / 2);
  CHECK(MPI_Intercomm_merge(inter, high, &all) == MPI_SUCCESS);
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &all_size);
  CHECK(all_size == size + there);
  mine = me;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK(sum == all_size * (all_size - 1) / 2);
  CHECK(MPI_Comm_split(all, me % 2, -me, &part) == MPI_SUCCESS);
  int count = 1;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, part);
  CHECK(count == (all_size + 1 - me % 2) / 2);
  CHECK(MPI_Comm_dup(all, &twin) == MPI_SUCCESS);
  MPI_Barrier(twin);
  double* spread = malloc((size_t)all_size * sizeof *spread);
  for (int i = 0; i < all_size; i++) spread[i] = me + 100.0 * i;
  MPI_Alltoall(MPI_IN_PLACE, 1, MPI_DOUBLE, spread, 1, MPI_DOUBLE, twin);
  for (int i = 0; i < all_size; i++) CHECK(spread[i] == i + 100.0 * me);
  free(spread);
  parts(inter, high);
  /* What there is not, and says so. */
  MPI_Win window;
  MPI_File file;
  MPI_Comm children;
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Win_create(&sum, sizeof sum, 1, MPI_INFO_NULL, all, &window)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_File_open(all, "no such file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, all, &children)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Comm_spawn("nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, all, &children,
                                MPI_ERRCODES_IGNORE)) == MPI_ERR_SPAWN);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&part);
  MPI_Comm_disconnect(&all);
}

/* A name that is not there yet is looked up again. */
static void find(const char* name, char* port) {
  if (rank == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int code;
    while ((code = MPI_Lookup_name(name, MPI_INFO_NULL, port)) != MPI_SUCCESS) {
      CHECK(class_of(code) == MPI_ERR_NAME);
      usleep(10000);
    }
  }
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static MPI_Info hint(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

static void open_and_publish(const char* name, char* port) {
  if (rank != 0) return;
  CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
  CHECK(MPI_Publish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
}

static void close_and_unpublish(const char* name, const char* port) {
  if (rank != 0) return;
  CHECK(MPI_Unpublish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS);
  CHECK(MPI_Close_port(port) == MPI_SUCCESS);
}

static void say(const char* what) {
  if (rank == 0) printf("%s\n", what);
  fflush(stdout);
}

static void wait_for_input(void) {
  char byte;
  if (rank == 0) CHECK(read(0, &byte, 1) >= 0);
}

static void accept_at(const char* name, MPI_Comm* inter) {
  char port[MPI_MAX_PORT_NAME] = "";
  open_and_publish(name, port);
  CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter) == MPI_SUCCESS);
  close_and_unpublish(name, port);
}

static void connect_to(const char* name, MPI_Comm* inter) {
  char port[MPI_MAX_PORT_NAME] = "";
  find(name, port);
  CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter) == MPI_SUCCESS);
}

/* Waits for a message that nobody sends. */
static void wait_for_nothing(MPI_Comm comm) {
  int nothing;
  MPI_Recv(&nothing, 1, MPI_INT, 0, 99, comm, MPI_STATUS_IGNORE);
}

static void serve(const char* name, int times) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  open_and_publish(name, port);
  for (int i = 0; i < times; i++) {
    CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
    work(inter, 0);
    CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS);
  }
  close_and_unpublish(name, port);
  say("served");
}

static void be_served(const char* name, int times) {
  MPI_Comm inter;
  for (int i = 0; i < times; i++) {
    connect_to(name, &inter);
    work(inter, 1);
    CHECK(MPI_Comm_disconnect(&inter) == MPI_SUCCESS);
  }
  say("connected");
}

/* Two jobs call each other: both connections come about. */
static void both(const char* name, const char* other) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  int got = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (rank == 0) open_and_publish(name, port);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) == MPI_SUCCESS);
  } else {
    for (int tries = 0; MPI_Lookup_name(other, MPI_INFO_NULL, port) != MPI_SUCCESS; tries++) {
      CHECK(tries < kMostTries);
      usleep(1000);
    }
    CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) == MPI_SUCCESS);
  }
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE);
  CHECK(got == 1 - rank);
  MPI_Comm_disconnect(&inter);
  MPI_Barrier(MPI_COMM_WORLD);
  say("both");
}

static void look(const char* name, const char* seconds) {
  char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING] = "";
  MPI_Comm inter = MPI_COMM_NULL;
  int length;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int code = MPI_Lookup_name(name, MPI_INFO_NULL, port);
  if (code == MPI_SUCCESS) {
    MPI_Info soon = *seconds != '\0' ? hint("timeout", seconds) : MPI_INFO_NULL;
    code = MPI_Comm_connect(port, soon, 0, MPI_COMM_SELF, &inter);
    if (soon != MPI_INFO_NULL) MPI_Info_free(&soon);
  }
  MPI_Error_string(code, text, &length);
  printf("%s %s\n",
         class_of(code) == MPI_ERR_NAME   ? "name"
         : class_of(code) == MPI_ERR_PORT ? "port"
                                          : "?",
         text);
  fflush(stdout);
}

/* What the other job has sent is here, whoever has ended first. */
static void receive_late(const char* name) {
  MPI_Comm inter;
  MPI_Status status;
  static int small[4], large[9000];
  accept_at(name, &inter);
  say("accepted");
  wait_for_input();
  MPI_Recv(small, 4, MPI_INT, MPI_ANY_SOURCE, 1, inter, &status);
  CHECK(status.MPI_SOURCE == 0 && small[3] == 3);
  MPI_Recv(large, 9000, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
  for (int i = 0; i < 9000; i++) CHECK(large[i] == i);
  say("received");
}

static void send_and_end(const char* name) {
  MPI_Comm inter;
  int data[9000];
  connect_to(name, &inter);
  for (int i = 0; i < 9000; i++) data[i] = i;
  if (rank != 0) return;
  MPI_Send(data, 4, MPI_INT, 0, 1, inter);
  MPI_Send(data, 9000, MPI_INT, 0, 2, inter);
}

static void slow(const char* name) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  open_and_publish(name, port);
  say("published");
  wait_for_input();
  CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
  MPI_Comm_disconnect(&inter);
  close_and_unpublish(name, port);
}

static void brisk(const char* name) {
  char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING] = "";
  MPI_Comm inter;
  int length;
  MPI_Info soon = hint("timeout", "0.3");
  open_and_publish(name, port);
  say("published");
  wait_for_input();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Comm_accept(port, soon, 0, MPI_COMM_WORLD, &inter);
  CHECK(class_of(code) == MPI_ERR_PORT);
  MPI_Error_string(code, text, &length);
  say(text);
  MPI_Info_free(&soon);
  wait_for_input();
  CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) == MPI_SUCCESS);
  MPI_Comm_disconnect(&inter);
  close_and_unpublish(name, port);
}

static void publish(const char* name, const char* scope_of_port, const char* scope_of_name) {
  char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
  MPI_Info of_port = hint("tmpi_scope", scope_of_port), of_name = hint("tmpi_scope", scope_of_name);
  CHECK(MPI_Open_port(of_port, port) == MPI_SUCCESS);
  CHECK(MPI_Publish_name(name, of_name, port) == MPI_SUCCESS);
  CHECK(MPI_Lookup_name(name, MPI_INFO_NULL, found) == MPI_SUCCESS && strcmp(port, found) == 0);
  say("published");
  wait_for_input();
  MPI_Info_free(&of_port);
  MPI_Info_free(&of_name);
}

static void check_refused(int code, int expected) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  CHECK(class_of(code) == expected);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "more than two jobs") != NULL);
}

static void merge(MPI_Comm* inter, int high, MPI_Comm* all) {
  CHECK(MPI_Intercomm_merge(*inter, high, all) == MPI_SUCCESS);
  MPI_Comm_disconnect(inter);
  MPI_Comm_set_errhandler(*all, MPI_ERRORS_RETURN);
}

static void hub(const char* name) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter, all[2], bridge;
  MPI_Group of[2], three, third;
  open_and_publish(name, port);
  for (int i = 0; i < 2; i++) {
    CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) == MPI_SUCCESS);
    merge(&inter, 0, &all[i]);
    MPI_Comm_group(all[i], &of[i]);
  }
  close_and_unpublish(name, port);
  for (int i = 0; i < 2; i++) MPI_Send(&i, 1, MPI_INT, 1, 4, all[i]);
  check_refused(MPI_Intercomm_create(all[0], 0, all[1], 1, 3, &bridge), MPI_ERR_COMM);
  MPI_Group_union(of[0], of[1], &three);
  check_refused(MPI_Comm_create_from_group(three, "three", MPI_INFO_NULL, MPI_ERRORS_RETURN, &bridge),
                MPI_ERR_GROUP);
  MPI_Group_difference(of[1], of[0], &third);
  check_refused(MPI_Intercomm_create_from_groups(of[0], 0, third, 0, "three", MPI_INFO_NULL,
                                                 MPI_ERRORS_RETURN, &bridge),
                MPI_ERR_GROUP);
  MPI_Group_free(&three);
  MPI_Group_free(&third);
  for (int i = 0; i < 2; i++) {
    MPI_Group_free(&of[i]);
    MPI_Comm_disconnect(&all[i]);
  }
}

static void spoke(const char* name) {
  MPI_Comm inter, all, bridge;
  int which;
  connect_to(name, &inter);
  merge(&inter, 1, &all);
  MPI_Recv(&which, 1, MPI_INT, 0, 4, all, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check_refused(which == 0 ? MPI_Intercomm_create(all, 0, MPI_COMM_NULL, 0, 3, &bridge)
                           : MPI_Intercomm_create(MPI_COMM_SELF, 0, all, 0, 3, &bridge),
                MPI_ERR_COMM);
  if (which == 0) { /* the hub leads */
    MPI_Group both;
    MPI_Comm_group(all, &both);
    check_refused(MPI_Intercomm_create_from_groups(both, 0, MPI_GROUP_NULL, 0, "three", MPI_INFO_NULL,
                                                   MPI_ERRORS_RETURN, &bridge),
                  MPI_ERR_GROUP);
    MPI_Group_free(&both);
  }
  MPI_Comm_disconnect(&all);
}

static void join(const char* role, const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  MPI_Comm inter;
  int got = -1;
  char byte = 'x';
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (strcmp(role, "accept") == 0) {
    const int listening = fd;
    CHECK(bind(listening, (struct sockaddr*)&address, sizeof address) == 0 && listen(listening, 1) == 0);
    fd = accept(listening, NULL, NULL);
    close(listening);
  } else {
    for (int tries = 0; connect(fd, (struct sockaddr*)&address, sizeof address) != 0; tries++) {
      CHECK(tries < kMostTries);
      usleep(1000);
    }
  }
  for (int again = 0; again < 2; again++) {
    CHECK(MPI_Comm_join(fd, &inter) == MPI_SUCCESS && inter != MPI_COMM_NULL);
    MPI_Sendrecv(&again, 1, MPI_INT, 0, 5, &got, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE);
    CHECK(got == again);
    MPI_Comm_disconnect(&inter);
    CHECK(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'x');
  }
  close(fd);
  say("joined");
}

int main(int argc, char** argv) {
  const char *role = argv[1], *name = argv[2], *more = argc > 3 ? argv[3] : "";
  MPI_Comm inter;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(role, "serve") == 0) serve(name, atoi(more));
  if (strcmp(role, "connect") == 0) be_served(name, atoi(more));
  if (strcmp(role, "both") == 0) both(name, more);
  if (strcmp(role, "hub") == 0) hub(name);
  if (strcmp(role, "spoke") == 0) spoke(name);
  if (strcmp(role, "publish") == 0) publish(name, "user", *more != '\0' ? more : "user");
  if (strcmp(role, "narrow") == 0) publish(name, "job", "user");
  if (strcmp(role, "look") == 0) look(name, "0.05");
  if (strcmp(role, "patient") == 0) {
    look(name, "0.5");
    wait_for_input();
    look(name, more);
  }
  if (strcmp(role, "slow") == 0) slow(name);
  if (strcmp(role, "brisk") == 0) brisk(name);
  if (strcmp(role, "late") == 0) receive_late(name);
  if (strcmp(role, "send") == 0) send_and_end(name);
  if (strcmp(role, "visit") == 0) {
    connect_to(name, &inter);
    MPI_Comm_disconnect(&inter);
  }
  if (strcmp(role, "join") == 0) join(name, more);
  if (strcmp(role, "serve-one") == 0 || strcmp(role, "let-go") == 0 || strcmp(role, "alone") == 0) {
    accept_at(name, &inter);
    if (strcmp(role, "let-go") == 0) {
      MPI_Comm_disconnect(&inter);
      say("disconnected");
      wait_for_input();
    } else {
      say("accepted");
      wait_for_nothing(strcmp(role, "alone") == 0 ? MPI_COMM_SELF : inter);
    }
  }
  if (strcmp(role, "go") == 0 || strcmp(role, "leave") == 0 || strcmp(role, "abort") == 0 ||
      strcmp(role, "hold") == 0) {
    connect_to(name, &inter);
    if (strcmp(role, "hold") == 0) wait_for_nothing(inter);
    if (strcmp(role, "go") == 0) {
      MPI_Comm_disconnect(&inter);
      wait_for_input();
    }
    if (strcmp(role, "abort") == 0 || strcmp(role, "go") == 0) MPI_Abort(MPI_COMM_WORLD, 42);
  }
  MPI_Finalize();
  return 0;
}
