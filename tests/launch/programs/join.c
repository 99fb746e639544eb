/* join accept|connect SOCKET alone|in-a-job: MPI_Comm_join with a program that was started by itself, over a UNIX socket of this name: no communicator, and the
 * socket is as it was. Alone, what can be done with ports in a program that is started by itself, too. join for-ever unix|tcp: rank 0 waits for an
 * end of a socket that nobody uses. join for-a-child FILE: of one that a child process has from then on when FILE is there; it closes it. */
#include <mpi.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      exit(1);                                                \
    }                                                         \
  } while (0)

enum {
  kMostTries = 60000
}; /* a millisecond apart: of what another process is to do, which may have been killed */

static int class_of(int code) {
  int class_ = MPI_SUCCESS;
  MPI_Error_class(code, &class_);
  return class_;
}

static void test_ports(void) {
  char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_SELF;
  CHECK(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
  CHECK(MPI_Publish_name("name", MPI_INFO_NULL, port) == MPI_SUCCESS);
  CHECK(MPI_Lookup_name("name", MPI_INFO_NULL, found) == MPI_SUCCESS);
  CHECK(strcmp(port, found) == 0);
  CHECK(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)) ==
        MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(inter == MPI_COMM_NULL);
  CHECK(class_of(MPI_Comm_connect("tmpi:1:2", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)) == MPI_ERR_PORT);
  CHECK(MPI_Unpublish_name("name", MPI_INFO_NULL, port) == MPI_SUCCESS);
  CHECK(class_of(MPI_Lookup_name("name", MPI_INFO_NULL, found)) == MPI_ERR_NAME);
  CHECK(MPI_Close_port(port) == MPI_SUCCESS);
  CHECK(class_of(MPI_Close_port(port)) == MPI_ERR_PORT);
}

static void connect_pair(int pair[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(listening, (struct sockaddr*)&address, sizeof address) == 0 && listen(listening, 1) == 0);
  CHECK(getsockname(listening, (struct sockaddr*)&address, &length) == 0);
  pair[0] = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(pair[0], (struct sockaddr*)&address, sizeof address) == 0);
  pair[1] = accept(listening, NULL, NULL);
  close(listening);
}

/* The other end is this process's, and nobody uses it. */
static void wait_for_ever(int tcp) {
  int pair[2];
  MPI_Comm inter;
  if (tcp) {
    connect_pair(pair);
  } else {
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_join(pair[0], &inter);
}

/* The other end leaves this process while rank 0 waits for it. */
static void wait_for_a_child(int rank, const char* file) {
  static int pair[2];
  int end, told = 0;
  MPI_Comm inter;
  if (rank == 0) {
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    MPI_Send(&pair[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&told, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    close(pair[1]); /* the other rank has its own of it */
    CHECK(class_of(MPI_Comm_join(pair[0], &inter)) == MPI_ERR_PORT);
    MPI_Send(&told, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return;
  }
  MPI_Recv(&end, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  end = dup(end);
  MPI_Send(&told, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  for (int tries = 0; access(file, F_OK) != 0; tries++) {
    CHECK(tries < kMostTries);
    usleep(1000);
  }
  if (fork() == 0) {
    usleep(500 * 1000);
    _exit(0);
  }
  close(end);
  MPI_Recv(&told, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  MPI_Comm inter = MPI_COMM_SELF;
  char byte = 'x';
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc == 3) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "for-a-child") == 0) {
      wait_for_a_child(rank, argv[2]);
    } else if (rank == 0) {
      wait_for_ever(strcmp(argv[2], "tcp") == 0);
    }
    MPI_Finalize();
    return 0;
  }
  CHECK(argc == 4);
  strncpy(address.sun_path, argv[2], sizeof address.sun_path - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (strcmp(argv[1], "accept") == 0) {
    const int listening = fd;
    CHECK(bind(listening, (struct sockaddr*)&address, sizeof address) == 0);
    CHECK(listen(listening, 1) == 0);
    fd = accept(listening, NULL, NULL);
    close(listening);
  } else {
    for (int tries = 0; connect(fd, (struct sockaddr*)&address, sizeof address) != 0; tries++) {
      CHECK(tries < kMostTries);
      usleep(1000);
    }
  }
  CHECK(fd >= 0);
  for (int again = 0; again < 2; again++) {
    CHECK(MPI_Comm_join(fd, &inter) == MPI_SUCCESS);
    CHECK(inter == MPI_COMM_NULL);
    CHECK(write(fd, &byte, 1) == 1);
    CHECK(read(fd, &byte, 1) == 1 && byte == 'x');
  }
  if (strcmp(argv[3], "alone") == 0) test_ports();
  close(fd);
  MPI_Finalize();
  return 0;
}
