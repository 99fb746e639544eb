/* Connections between processes that share no communicator: ports, accept and connect of groups and of one process after
 * the other, published names, worlds that know each other by a name alone, sockets; what is refused. MPI report, 11.9 and
 * 11.10. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "check.h"

static char* self; /* this program */
/* Names are this job's alone: the same test may run in others at the same time. Other implementations pass it over. */
static MPI_Info of_job;

enum { kRounds = 4 };

static void share_port(char* port) {
  CHECK_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
}

/* Everybody of one side sends to everybody of the other, and both sides make one communicator. */
static void use(MPI_Comm inter, int mine, int high) {
  int flag = 0, size, there, sum = 0, all_size;
  MPI_Comm all;
  CHECK_OK(MPI_Comm_test_inter(inter, &flag));
  CHECK(flag);
  CHECK_OK(MPI_Comm_size(inter, &size));
  CHECK_OK(MPI_Comm_remote_size(inter, &there));
  MPI_Request* requests = check_malloc((size_t)there * sizeof *requests);
  for (int to = 0; to < there; to++) CHECK_OK(MPI_Isend(&mine, 1, MPI_INT, to, 3, inter, &requests[to]));
  for (int from = 0; from < there; from++) {
    int got = 0;
    CHECK_OK(MPI_Recv(&got, 1, MPI_INT, from, 3, inter, MPI_STATUS_IGNORE));
    sum += got;
  }
  CHECK_OK(MPI_Waitall(there, requests, MPI_STATUSES_IGNORE));
  free(requests);
  int of_all = 0;
  CHECK_OK(MPI_Intercomm_merge(inter, high, &all));
  CHECK_OK(MPI_Comm_size(all, &all_size));
  CHECK_EQ(all_size, size + there);
  CHECK_OK(MPI_Allreduce(&mine, &of_all, 1, MPI_INT, MPI_SUM, all));
  int ours = mine, here = 0; /* what the others have sent, and what we have, is all */
  MPI_Comm local;
  CHECK_OK(MPI_Comm_split(all, high, 0, &local));
  CHECK_OK(MPI_Allreduce(&ours, &here, 1, MPI_INT, MPI_SUM, local));
  CHECK_EQ(of_all, here + sum);
  CHECK_OK(MPI_Comm_free(&local));
  CHECK_OK(MPI_Comm_free(&all));
}

/* Two halves of the world, again and again through one port; the last of each half is its root. */
static void test_halves(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  int size, serves = world_rank % 2 == 0;
  MPI_Comm half, inter;
  if (world_size < 2) return;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, serves, 0, &half));
  CHECK_OK(MPI_Comm_size(half, &size));
  if (world_rank == 0) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  share_port(port);
  for (int round = 0; round < kRounds; round++) {
    const int root = round % 2 == 0 ? 0 : size - 1;
    inter = MPI_COMM_NULL;
    /* The name matters at the root alone. Under other MPIs it has to be the process that has opened the port. */
#ifdef MPI_ABI_VERSION
    int rank;
    CHECK_OK(MPI_Comm_rank(half, &rank));
    const char* name = rank == root ? port : NULL;
    const int accepting = root;
#else
    const char* name = port;
    const int accepting = 0;
#endif
    if (serves) {
      CHECK_OK(MPI_Comm_accept(name, MPI_INFO_NULL, accepting, half, &inter));
    } else {
      CHECK_OK(MPI_Comm_connect(name, MPI_INFO_NULL, root, half, &inter));
    }
    use(inter, world_rank + round, !serves);
    CHECK_OK(MPI_Comm_disconnect(&inter));
    CHECK(inter == MPI_COMM_NULL);
  }
  CHECK_OK(MPI_Comm_free(&half));
  if (world_rank == 0) CHECK_OK(MPI_Close_port(port));
}

/* Rank 0 serves everybody else, each alone; they come when they like, and stay connected at the same time. */
static void test_clients(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm* clients = check_malloc((size_t)world_size * sizeof *clients);
  int number = 0;
  if (world_rank == 0) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  share_port(port);
  if (world_rank == 0) {
    for (int i = 1; i < world_size; i++) {
      CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &clients[i]));
      CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, 0, clients[i]));
    }
    int seen = 0;
    for (int i = 1; i < world_size; i++) {
      CHECK_OK(MPI_Recv(&number, 1, MPI_INT, 0, 0, clients[i], MPI_STATUS_IGNORE));
      seen += number;
      CHECK_OK(MPI_Comm_disconnect(&clients[i]));
    }
    CHECK_EQ(seen, world_size * (world_size - 1) / 2);
    CHECK_OK(MPI_Close_port(port));
  } else {
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &clients[0]));
    CHECK_OK(MPI_Recv(&number, 1, MPI_INT, 0, 0, clients[0], MPI_STATUS_IGNORE));
    CHECK(number >= 1 && number < world_size);
    CHECK_OK(MPI_Send(&world_rank, 1, MPI_INT, 0, 0, clients[0]));
    CHECK_OK(MPI_Comm_disconnect(&clients[0]));
  }
  free(clients);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Two ranks with a socket between them. */
static void test_join(void) {
  int fd = -1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  MPI_Comm inter = MPI_COMM_NULL;
  char byte = 'x';
  if (world_size < 2) return;
  if (world_rank == 0) {
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listening, (struct sockaddr*)&address, sizeof address) == 0);
    CHECK(listen(listening, 1) == 0);
    CHECK(getsockname(listening, (struct sockaddr*)&address, &length) == 0);
    CHECK_OK(MPI_Send(&address, sizeof address, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* it is in the queue */
    fd = accept(listening, NULL, NULL);
    close(listening);
  } else if (world_rank == 1) {
    CHECK_OK(MPI_Recv(&address, sizeof address, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr*)&address, sizeof address) == 0);
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
  } else {
    return;
  }
  CHECK(fd >= 0);
  for (int again = 0; again < 2; again++) {
    CHECK_OK(MPI_Comm_join(fd, &inter));
    use(inter, world_rank, world_rank);
    CHECK_OK(MPI_Comm_disconnect(&inter));
  }
  /* The socket is as it was. */
  CHECK_EQ(write(fd, &byte, 1), 1);
  CHECK_OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, 1 - world_rank, 0, NULL, 0, MPI_BYTE, 1 - world_rank, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(read(fd, &byte, 1), 1);
  close(fd);
}

/* Two worlds of our making, which know no more of each other than a name. */
static void test_worlds(void) {
  char *serve[] = {"serve", NULL}, *call[] = {"call", NULL};
  MPI_Comm servers = MPI_COMM_NULL, callers = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_spawn(self, serve, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &servers, MPI_ERRCODES_IGNORE));
  CHECK_OK(MPI_Barrier(servers)); /* its name is known */
  CHECK_OK(MPI_Comm_spawn(self, call, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &callers, MPI_ERRCODES_IGNORE));
  CHECK_OK(MPI_Barrier(callers));
  CHECK_OK(MPI_Comm_disconnect(&servers));
  CHECK_OK(MPI_Comm_disconnect(&callers));
}

static void child(const char* task, MPI_Comm parent) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter = MPI_COMM_NULL;
  const int serves = strcmp(task, "serve") == 0;
  if (strcmp(task, "leave") == 0) {
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_OK(MPI_Publish_name("tests/mpi/ports: left", of_job, port));
    CHECK_OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, parent));
    CHECK_OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, parent, MPI_STATUS_IGNORE)); /* it has looked the name up */
    CHECK_OK(MPI_Comm_disconnect(&parent));
    return;
  }
  if (serves) {
    if (world_rank == 0) {
      CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
      CHECK_OK(MPI_Publish_name("tests/mpi/ports: worlds", of_job, port));
    }
    CHECK_OK(MPI_Barrier(parent));
    CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
  } else {
    if (world_rank == 0) CHECK_OK(MPI_Lookup_name("tests/mpi/ports: worlds", of_job, port));
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
  }
  use(inter, world_rank + 10 * serves, serves);
  CHECK_OK(MPI_Comm_disconnect(&inter));
  if (serves && world_rank == 0) {
    CHECK_OK(MPI_Unpublish_name("tests/mpi/ports: worlds", of_job, port));
    CHECK_OK(MPI_Close_port(port));
  }
  if (!serves) CHECK_OK(MPI_Barrier(parent));
  CHECK_OK(MPI_Comm_disconnect(&parent));
}

#ifdef MPI_ABI_VERSION
static void test_names(void) {
  char port[MPI_MAX_PORT_NAME] = "", other[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
  const char* name = "tests/mpi/ports: name";
  CHECK_CLASS(MPI_Lookup_name(name, of_job, found), MPI_ERR_NAME);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank == 0) {
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, other));
    CHECK(strcmp(port, other) != 0);
    CHECK_OK(MPI_Publish_name(name, of_job, port));
  }
  share_port(port);
  CHECK_OK(MPI_Lookup_name(name, of_job, found));
  CHECK_STRING(found, port);
  CHECK_CLASS(MPI_Publish_name(name, of_job, port), MPI_ERR_SERVICE); /* there is one already */
  if (world_rank != 0) { /* who has not published it, or not opened the port */
    CHECK_CLASS(MPI_Unpublish_name(name, of_job, port), MPI_ERR_SERVICE);
    CHECK_CLASS(MPI_Close_port(port), MPI_ERR_PORT);
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (world_rank == 0) {
    CHECK_CLASS(MPI_Unpublish_name(name, of_job, other), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Unpublish_name(name, of_job, port));
    CHECK_CLASS(MPI_Unpublish_name(name, of_job, port), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Publish_name(name, of_job, other));
    CHECK_OK(MPI_Close_port(other)); /* its name stays until it is taken back */
    CHECK_OK(MPI_Unpublish_name(name, of_job, other));
    CHECK_OK(MPI_Close_port(port));
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_CLASS(MPI_Lookup_name(name, of_job, found), MPI_ERR_NAME);
  CHECK_CLASS(MPI_Publish_name(name, of_job, port), MPI_ERR_PORT);
  MPI_Info nonsense;
  CHECK_OK(MPI_Info_create(&nonsense));
  CHECK_OK(MPI_Info_set(nonsense, "tmpi_scope", "world"));
  CHECK_CLASS(MPI_Lookup_name(name, nonsense, found), MPI_ERR_INFO_VALUE);
  CHECK_CLASS(MPI_Open_port(nonsense, found), MPI_ERR_INFO_VALUE);
  CHECK_OK(MPI_Info_free(&nonsense));
  CHECK_CLASS(MPI_Publish_name(NULL, of_job, port), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Lookup_name(name, of_job, NULL), MPI_ERR_ARG);

  enum { kLongest = 64 << 10 };
  char* longest = check_malloc(kLongest + 2);
  memset(longest, 'a', kLongest);
  snprintf(longest + kLongest - 8, 9, "%08d", world_rank);
  CHECK_OK(MPI_Publish_name(longest, of_job, "somewhere"));
  CHECK_CLASS(MPI_Unpublish_name(longest, of_job, "elsewhere"), MPI_ERR_SERVICE);
  CHECK_OK(MPI_Lookup_name(longest, of_job, found));
  CHECK_STRING(found, "somewhere");
  CHECK_OK(MPI_Unpublish_name(longest, of_job, "somewhere"));
  strcat(longest + kLongest, "x");
  CHECK_CLASS(MPI_Publish_name(longest, of_job, "somewhere"), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Lookup_name(longest, of_job, found), MPI_ERR_ARG);
  free(longest);
}

static void test_errors(void) {
  char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING];
  int length, pair[2];
  MPI_Comm inter = MPI_COMM_WORLD;
  const char* unknown[] = {"", "nonsense", "tmpi:", "tmpi:0123456789abcdef:0:1"};
  for (int i = 0; i < 4; i++) {
    CHECK_CLASS(MPI_Close_port(unknown[i]), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_connect(unknown[i], MPI_INFO_NULL, world_size - 1, MPI_COMM_WORLD, &inter),
                MPI_ERR_PORT);
    CHECK(inter == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Comm_accept(unknown[i], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
  }
  CHECK_OK(
      MPI_Error_string(MPI_Comm_connect(unknown[3], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), text, &length));
  CHECK(strstr(text, "has ended, or is not a job of yours on this machine") != NULL);
  CHECK_CLASS(MPI_Comm_connect(NULL, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_accept("", MPI_INFO_NULL, world_size, MPI_COMM_WORLD, &inter), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Comm_accept("", MPI_INFO_NULL, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_accept("", MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Open_port(MPI_INFO_NULL, NULL), MPI_ERR_ARG);

  /* Who waits at a port hears that it is closed; who comes too late hears something else, and then it is tried again. */
  int waited = world_size < 2;
  for (int looks = 1; !waited; looks *= 2) {
    if (world_rank == 0) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    share_port(port);
    if (world_rank == 0) {
      for (int i = 0; i < looks; i++) /* others run meanwhile */
        CHECK_CLASS(MPI_Lookup_name("tests/mpi/ports: nobody", of_job, text), MPI_ERR_NAME);
      CHECK_OK(MPI_Close_port(port));
    } else {
      const int code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
      CHECK_CLASS(code, MPI_ERR_PORT);
      CHECK_OK(MPI_Error_string(code, text, &length));
      waited = strstr(text, "has been closed (MPI_Close_port)") != NULL;
    }
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &waited, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  }

  /* And when its time is over, whoever else has come to it. */
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  CHECK_OK(MPI_Info_set(info, "timeout", "soon"));
  CHECK_CLASS(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_INFO_VALUE);
  CHECK_OK(MPI_Info_set(info, "timeout", "0.01"));
  CHECK_CLASS(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  CHECK(inter == MPI_COMM_NULL);
  CHECK_OK(MPI_Close_port(port));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));

  /* Sockets that are none, that nobody is at, and that say something else. */
  CHECK_CLASS(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
  CHECK(inter == MPI_COMM_NULL);
  CHECK(pipe(pair) == 0);
  CHECK_CLASS(MPI_Comm_join(pair[0], &inter), MPI_ERR_ARG);
  close(pair[0]), close(pair[1]);
  pair[0] = socket(AF_INET, SOCK_STREAM, 0);
  CHECK_CLASS(MPI_Comm_join(pair[0], &inter), MPI_ERR_ARG);
  close(pair[0]);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK_CLASS(MPI_Comm_join(pair[0], NULL), MPI_ERR_ARG);
  close(pair[1]);
  CHECK_CLASS(MPI_Comm_join(pair[0], &inter), MPI_ERR_PORT);
  close(pair[0]);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK_EQ(write(pair[1], "HELO some.host\r\n", 16), 16);
  CHECK_CLASS(MPI_Comm_join(pair[0], &inter), MPI_ERR_PORT);
  CHECK(inter == MPI_COMM_NULL);
  close(pair[0]), close(pair[1]);
}

/* A port that nobody closes, and a name that nobody takes back, go with the rank that has made them. */
static void test_left_open(void) {
  char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "", *leave[] = {"leave", NULL};
  MPI_Comm there, inter;
  if (world_rank != 0) return;
  CHECK_OK(MPI_Comm_spawn(self, leave, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &there, MPI_ERRCODES_IGNORE));
  CHECK_OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, there, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Lookup_name("tests/mpi/ports: left", of_job, found));
  CHECK_STRING(found, port);
  CHECK_OK(MPI_Send(NULL, 0, MPI_CHAR, 0, 0, there));
  CHECK_OK(MPI_Comm_disconnect(&there));
  int class_ = MPI_SUCCESS;
  while (class_ == MPI_SUCCESS) class_ = class_of(MPI_Lookup_name("tests/mpi/ports: left", of_job, found));
  CHECK_EQ(class_, MPI_ERR_NAME);
  CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
}

/* Ranks accept at a port that another one has opened, and leave it to MPI_Finalize. */
static void test_accept_elsewhere(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm pair, inter;
  if (world_size < 3) return;
  if (world_rank == 0) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  share_port(port);
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, world_rank < 2 ? 0 : MPI_UNDEFINED, 0, &pair));
  if (world_rank < 2) {
    CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 1, pair, &inter));
    use(inter, world_rank, 0);
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&pair));
  } else if (world_rank == 2) {
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    use(inter, world_rank, 1);
    CHECK_OK(MPI_Comm_free(&inter));
  }
}

/* Of sessions, without MPI_COMM_WORLD. */
static void test_session(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Session session;
  MPI_Group all, mine;
  MPI_Comm comm, inter;
  if (world_size < 2) return;
  if (world_rank == 0) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  share_port(port);
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
  const int first = 0;
  CHECK_OK(world_rank == 0 ? MPI_Group_incl(all, 1, &first, &mine) : MPI_Group_excl(all, 1, &first, &mine));
  CHECK_OK(MPI_Comm_create_from_group(mine, "ports", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  CHECK_OK(world_rank == 0 ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &inter)
                           : MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &inter));
  use(inter, world_rank, world_rank == 0);
  CHECK_OK(MPI_Comm_disconnect(&inter));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Group_free(&all));
  CHECK_OK(MPI_Group_free(&mine));
  CHECK_OK(MPI_Session_finalize(&session));
  if (world_rank == 0) CHECK_OK(MPI_Close_port(port));
}
#endif

int main(int argc, char** argv) {
  MPI_Comm parent = MPI_COMM_NULL;
  self = argv[0];
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Info_create(&of_job));
  CHECK_OK(MPI_Info_set(of_job, "tmpi_scope", "job"));
  CHECK_OK(MPI_Comm_get_parent(&parent));
  if (parent != MPI_COMM_NULL) {
    child(argv[1], parent);
    CHECK_OK(MPI_Info_free(&of_job));
    MPI_Finalize();
    return 0;
  }
  test_halves();
  test_clients();
  test_join();
  test_worlds();
#ifdef MPI_ABI_VERSION
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_names();
  test_errors();
  test_left_open();
  test_accept_elsewhere();
  test_session();
#endif
  CHECK_OK(MPI_Info_free(&of_job));
  return check_end();
}
