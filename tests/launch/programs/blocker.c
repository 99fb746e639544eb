/* Rank 0 waits in the system call HOW for something that rank 1 does, on the same core. All ranks share the descriptors of
 * their process. argv[2]: a folder. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kLarge = 1 << 20 };
static const char* how;
static char path[4096];
static int ends[2];
static char bytes[kLarge];
static volatile sig_atomic_t alarms;
static sigjmp_buf timeout;

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      printf("line %d: not %s (errno %d)\n", __LINE__, #condition, errno); \
      fflush(stdout);                                                      \
      MPI_Abort(MPI_COMM_WORLD, 3);                                        \
    }                                                                      \
  } while (0)

static int is(const char* name) {
  return strcmp(how, name) == 0;
}
static void on_alarm(int number) {
  (void)number;
  ++alarms;
}

static void on_timeout(int number) {
  (void)number;
  siglongjmp(timeout, 1);
}
static void handle(int number, void (*handler)(int), int flags, long microseconds) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  const struct itimerval soon = {{0, 0}, {0, microseconds}};
  CHECK(sigaction(number, &action, NULL) == 0 && setitimer(ITIMER_REAL, &soon, NULL) == 0);
}

static void tell(int rank) {
  MPI_Send(ends, 2, MPI_INT, rank, 0, MPI_COMM_WORLD);
}
static void hear(int rank) {
  MPI_Recv(ends, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static struct sockaddr_un place(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  return address;
}

/* The queue of a local socket is full; its name is relative to where this rank goes, and a signal that restarts calls comes. */
static void connects(void) {
  struct sockaddr_un address = place();
  const struct sockaddr* const named = (const struct sockaddr*)&address;
  CHECK(pipe(ends) == 0);
  struct pollfd request = {ends[0], POLLIN, 0};
  CHECK(poll(&request, 1, 5) == 0); /* another thread has waited, elsewhere */
  ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(bind(ends[0], named, sizeof address) == 0 && listen(ends[0], 0) == 0);
  while (connect(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), named, sizeof address) == 0) continue;
  CHECK(errno == EAGAIN);
  *strrchr(path, '/') = '\0';
  CHECK(chdir(path) == 0);
  memset(&address.sun_path, 0, sizeof address.sun_path);
  strcpy(address.sun_path, how);
  handle(SIGALRM, on_alarm, SA_RESTART, 20000);
  tell(1);
  CHECK(connect(socket(AF_UNIX, SOCK_STREAM, 0), named, sizeof address) == 0 && alarms == 1);
}

/* A handler leaves by siglongjmp, at any moment of what waits; all works as before. */
static void jumps(void) {
  char byte = 0;
  struct pollfd request = {-1, POLLIN, 0};
  CHECK(pipe(ends) == 0);
  request.fd = ends[0];
  for (volatile int i = 0; i < 1500; ++i) {
    if (sigsetjmp(timeout, 1) != 0) continue;
    handle(SIGALRM, on_timeout, 0, 1 + i * 37 % 300);
    if (i % 3 == 0) CHECK(read(ends[0], &byte, 1) == 77);
    if (i % 3 == 1) CHECK(usleep(900000) == 77);
    if (i % 3 == 2) CHECK(poll(&request, 1, 10000) == 77);
  }
  tell(1);
  CHECK(read(ends[0], &byte, 1) == 1 && byte == 'b');
}

/* A child that ends when somebody writes to the pipe. */
static pid_t child(void) {
  CHECK(pipe(ends) == 0);
  const pid_t made = fork();
  if (made == 0) {
    char byte;
    _exit(read(ends[0], &byte, 1) == 1 ? 7 : 8);
  }
  CHECK(made > 0);
  return made;
}

static void waits(void) {
  char byte = 0;
  int status = 0;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  struct pollfd request = {-1, POLLIN, 0};
  if (is("accept")) {
    const struct sockaddr_un address = place();
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (const struct sockaddr*)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    tell(1);
    CHECK(accept(listener, NULL, NULL) >= 0);
  } else if (is("waitpid") || is("wait") || is("waitid")) {
    const pid_t made = child();
    tell(1);
    siginfo_t info;
    if (is("waitpid")) CHECK(waitpid(made, &status, 0) == made && WEXITSTATUS(status) == 7);
    if (is("wait")) CHECK(wait(&status) == made && WEXITSTATUS(status) == 7);
    if (is("waitid")) CHECK(waitid(P_PID, (id_t)made, &info, WEXITED) == 0 && info.si_status == 7);
    CHECK(waitpid(made, &status, 0) == -1 && errno == ECHILD);
  } else if (is("system")) {
    tell(1);
    char command[5000];
    snprintf(command, sizeof command, "while [ ! -e %s ]; do sleep 0.02; done; exit 5", path);
    CHECK(WEXITSTATUS(system(command)) == 5);
  } else if (is("pclose")) {
    char command[5000];
    snprintf(command, sizeof command, "cat; while [ ! -e %s ]; do sleep 0.02; done; exit 5", path);
    FILE* pipe = popen(command, "w");
    tell(1);
    CHECK(pipe != NULL && WEXITSTATUS(pclose(pipe)) == 5);
  } else if (is("flock") || is("fcntl")) {
    hear(1);
    tell(2); /* which lets rank 1 unlock */
    const int file = open(path, O_RDWR);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK((is("flock") ? flock(file, LOCK_EX) : fcntl(file, F_OFD_SETLKW, &whole)) == 0);
  } else if (is("write")) {
    CHECK(pipe(ends) == 0);
    tell(1);
    memset(bytes, 'x', sizeof bytes);
    CHECK(write(ends[1], bytes, sizeof bytes) == (ssize_t)sizeof bytes);
  } else if (is("connect")) {
    connects();
  } else if (is("jumps")) {
    jumps();
  } else if (is("broken_pipe")) {
    CHECK(pipe(ends) == 0 && write(ends[1], bytes, 65536) == 65536);
    handle(SIGPIPE, on_alarm, 0, 0);
    const int reading = ends[0], writing = ends[1];
    tell(1);
    hear(1);
    CHECK(close(reading) == 0); /* the other rank has its own of it */
    CHECK(write(writing, "x", 1) == -1 && errno == EPIPE && alarms == 1);
  } else if (is("restart")) {
    CHECK(pipe(ends) == 0);
    handle(SIGALRM, on_alarm, SA_RESTART, 20000);
    tell(1);
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'b' && alarms == 1);
  } else {
    const int sockets = strncmp(how, "recv", 4) == 0;
    CHECK((sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) == 0);
    request.fd = ends[0];
    tell(1);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval long_time = {100, 0};
    struct epoll_event event = {EPOLLIN, {.u32 = 9}};
    const int watch = epoll_create1(0);
    CHECK(epoll_ctl(watch, EPOLL_CTL_ADD, ends[0], &event) == 0);
    if (is("poll")) CHECK(poll(&request, 1, -1) == 1 && request.revents == POLLIN);
    if (is("select"))
      CHECK(select(ends[0] + 1, &set, NULL, NULL, &long_time) == 1 && FD_ISSET(ends[0], &set));
    if (is("epoll_wait")) CHECK(epoll_wait(watch, &event, 1, 100000) == 1 && event.data.u32 == 9);
    if (is("readv")) {
      CHECK(readv(ends[0], &part, 1) == 1);
    } else if (is("recv")) {
      CHECK(recv(ends[0], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
      CHECK(recv(ends[0], &byte, 1, 0) == 1);
    } else if (is("recvfrom")) {
      CHECK(recvfrom(ends[0], &byte, 1, 0, NULL, NULL) == 1);
    } else if (is("recvmsg")) {
      CHECK(recvmsg(ends[0], &message, 0) == 1);
    } else {
      errno = 77;
      CHECK(read(ends[0], &byte, 1) == 1 && errno == 77);
    }
    CHECK(byte == 'b');
  }
}

static void acts(void) {
  const struct timespec moment = {0, 60000000};
  if (is("flock") || is("fcntl")) {
    const int file = open(path, O_RDWR | O_CREAT, 0666);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK((is("flock") ? flock(file, LOCK_EX) : fcntl(file, F_OFD_SETLK, &whole)) == 0);
    tell(0);
    hear(2);
    nanosleep(&moment, NULL);
    CHECK(close(file) == 0);
    return;
  }
  hear(0);
  if (is("never")) return;
  nanosleep(&moment, NULL);
  if (is("accept")) {
    const struct sockaddr_un address = place();
    CHECK(connect(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr*)&address, sizeof address) == 0);
  } else if (is("connect")) {
    CHECK(accept(ends[0], NULL, NULL) >= 0);
  } else if (is("broken_pipe")) {
    ends[0] = dup(ends[0]);
    tell(0);
    nanosleep(&moment, NULL);
    CHECK(close(ends[0]) == 0);
  } else if (is("system") || is("pclose")) {
    CHECK(close(open(path, O_CREAT | O_WRONLY, 0666)) == 0);
  } else if (is("write")) {
    for (size_t got = 0; got < sizeof bytes;) {
      const ssize_t piece = read(ends[0], bytes, sizeof bytes);
      CHECK(piece > 0);
      got += (size_t)piece;
    }
  } else {
    CHECK(write(ends[1], "b", 1) == 1);
  }
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  how = argv[1];
  snprintf(path, sizeof path, "%s/%s", argv[2], how);
  if (rank == 0) waits();
  if (rank == 1) acts();
  if (rank == 2 && (is("flock") || is("fcntl"))) {
    hear(0);
    tell(1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: good\n", how);
  MPI_Finalize();
  return 0;
}
