/* What asynchronous requests tell of by a signal or a function reaches the rank that has made them: aio, mq_notify. Each
 * rank says "rank R: good". */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static volatile sig_atomic_t came, value, sender;
static _Atomic int called, told, in_rank = -1;
static _Thread_local int of_thread = 5;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      printf("rank %d, line %d: not %s (errno %d)\n", rank, __LINE__, #condition, errno); \
      fflush(stdout);                                                                     \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                       \
    }                                                                                     \
  } while (0)

static void note(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)context;
  value = info->si_value.sival_int;
  sender = info->si_pid;
  ++came;
}

static void call(union sigval with) {
  in_rank = of_thread == 5 ? getpid() : -2; /* a thread of the rank, with variables of its own */
  of_thread = 6;
  told = with.sival_int;
  ++called;
}

static void await(volatile sig_atomic_t* what, int count) {
  for (int i = 0; i < 5000 && *what < count; ++i) usleep(1000);
  CHECK(*what == count);
}
static void await_call(int count) {
  for (int i = 0; i < 5000 && called < count; ++i) usleep(1000);
  CHECK(called == count && in_rank == getpid());
}

static void requests(void) {
  char name[] = "/tmp/tmpi-asynchronous.XXXXXX", data[64] = "some text", got[64] = "";
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  struct aiocb request = {.aio_fildes = file, .aio_buf = data, .aio_nbytes = sizeof data};
  request.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
  request.aio_sigevent.sigev_signo = SIGUSR1;
  request.aio_sigevent.sigev_value.sival_int = 100 + rank;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i <= 3; ++i) { /* the same structure again */
    CHECK(aio_write(&request) == 0);
    await(&came, i);
    CHECK(value == 100 + rank && sender == getpid() && aio_error(&request) == 0 &&
          aio_return(&request) == 64);
  }
  request.aio_buf = got;
  request.aio_sigevent.sigev_notify = SIGEV_THREAD;
  request.aio_sigevent.sigev_notify_function = call;
  request.aio_sigevent.sigev_value.sival_int = 200 + rank;
  for (int i = 1; i <= 2; ++i) {
    CHECK(aio_read(&request) == 0);
    await_call(i);
    CHECK(told == 200 + rank && aio_return(&request) == 64 && strcmp(got, data) == 0 && of_thread == 5);
  }
  memset(&request.aio_sigevent, 0, sizeof request.aio_sigevent);
  struct sigevent all = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 300};
  struct aiocb* const list[] = {NULL, &request};
  request.aio_lio_opcode = LIO_READ;
  CHECK(lio_listio(LIO_NOWAIT, list, 2, &all) == 0);
  await(&came, 4);
  CHECK(value == 300 && aio_return(&request) == 64 && all.sigev_value.sival_int == 300);
  CHECK(aio_fsync(O_SYNC, &request) == 0 && aio_suspend((const struct aiocb* const*)list, 2, NULL) == 0);
  CHECK(aio_error(&request) == 0 && close(file) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(came == 4 && called == 2);
}

static void queues(void) {
  char name[64];
  snprintf(name, sizeof name, "/tmpi-asynchronous-%d", (int)getpid());
  struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
  const mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
  CHECK(queue != (mqd_t)-1 && mq_unlink(name) == 0);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 7};
  char text[8];
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(mq_notify(queue, &event) == 0 && mq_send(queue, "message", 8, 0) == 0);
  await(&came, 5);
  CHECK(value == 7 && mq_receive(queue, text, 8, NULL) == 8);
  event = (struct sigevent){
      .sigev_notify = SIGEV_THREAD, .sigev_notify_function = call, .sigev_value.sival_int = 8};
  CHECK(mq_notify(queue, &event) == 0 && mq_send(queue, "message", 8, 0) == 0);
  await_call(3);
  CHECK(told == 8 && mq_close(queue) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(came == 5 && called == 3);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  requests();
  queues();
  printf("rank %d: good\n", rank);
  MPI_Finalize();
  return 0;
}
