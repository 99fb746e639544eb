/* Ranks wait for each other without MPI, by what HOW (argv[1]) says, in pairs: an even rank for the odd one after it, which
 * comes to it later, and shares its core where there is one worker. argv[2]: a folder. What several processes may map is a
 * file there, each pair's own. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

struct shared {
  _Atomic int flag, turns;
  _Atomic unsigned word;
  sem_t semaphore;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_rwlock_t lock;
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  mtx_t c_mutex;
  cnd_t c_condition;
};

static const char* how;
static char path[4096], name[64];
static struct shared* shared;
static int pair, both_ends; /* of a FIFO */

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      printf("%s, line %d: not %s (errno %d)\n", how, __LINE__, #condition, errno); \
      fflush(stdout);                                                               \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                 \
    }                                                                               \
  } while (0)

static int is(const char* what) {
  return strcmp(how, what) == 0;
}

static struct timespec in_seconds(clockid_t clock, double seconds) {
  struct timespec time;
  clock_gettime(clock, &time);
  const long long end = time.tv_sec * 1000000000LL + time.tv_nsec + (long long)(seconds * 1e9);
  return (struct timespec){end / 1000000000, end % 1000000000};
}

/* Ranks of one core come to this one after the other without leaving it. */
static void share(int first) {
  char file[4200];
  snprintf(file, sizeof file, "%s.shared", path);
  const int fd = open(file, O_RDWR | O_CREAT, 0600);
  CHECK(fd >= 0 && ftruncate(fd, sizeof *shared) == 0);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(shared != MAP_FAILED);
  snprintf(file, sizeof file, "%s.pipe", path);
  CHECK((mkfifo(file, 0600) == 0 || errno == EEXIST) && (both_ends = open(file, O_RDWR)) >= 0);
  if (first) {
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_rwlockattr_t lock;
    pthread_barrierattr_t barrier;
    CHECK(pthread_mutexattr_init(&mutex) == 0 &&
          pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_condattr_init(&condition) == 0);
    CHECK(pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_condattr_setclock(&condition, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_rwlockattr_init(&lock) == 0 &&
          pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_barrierattr_init(&barrier) == 0);
    CHECK(pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(sem_init(&shared->semaphore, 1, 0) == 0 && pthread_mutex_init(&shared->mutex, &mutex) == 0);
    CHECK(pthread_cond_init(&shared->condition, &condition) == 0 &&
          pthread_rwlock_init(&shared->lock, &lock) == 0);
    CHECK(pthread_barrier_init(&shared->barrier, &barrier, 2) == 0);
    CHECK(pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(mtx_init(&shared->c_mutex, mtx_timed) == thrd_success &&
          cnd_init(&shared->c_condition) == thrd_success);
  }
}

/* Something that is the pair's alone. */
static key_t key(void) {
  char file[4200];
  snprintf(file, sizeof file, "%s.shared", path);
  return ftok(file, 'k');
}

/* More than a pipe takes, by what `how` says. */
enum { kFull = 300000 };
static void fill(FILE* file) {
  char line[1001];
  memset(line, 'x', 1000);
  line[1000] = '\0';
  if (is("setvbuf")) CHECK(setvbuf(file, NULL, _IONBF, 0) == 0);
  if (is("fclose") || is("fflush")) CHECK(setvbuf(file, NULL, _IOFBF, 1 << 19) == 0);
  for (int done = 0; done < kFull; done += 1000) {
    if (is("fprintf")) CHECK(fprintf(file, "%s%d", line + 1, done / 1000 % 10) == 1000);
    if (is("fwrite")) CHECK(fwrite(line, 1, 1000, file) == 1000);
    if (is("putc_unlocked"))
      for (int i = 0; i < 1000; ++i) CHECK(putc_unlocked('x', file) == 'x');
    if (is("fputs") || is("setvbuf") || is("fclose") || is("fflush")) CHECK(fputs(line, file) >= 0);
  }
  CHECK((is("fclose") ? fclose(file) : fflush(file)) == 0);
}
static int fills(void) {
  return is("fprintf") || is("fwrite") || is("putc_unlocked") || is("fputs") || is("setvbuf") ||
         is("fclose") || is("fflush");
}

static volatile sig_atomic_t signals;
static void note(int signal) {
  signals += signal == SIGUSR2;
}

/* Waits with SIGUSR2 unblocked, which it is only then. */
static void wait_for_signal(void) {
  sigset_t one, none;
  sigemptyset(&none);
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  CHECK(sigaction(SIGUSR2, &(struct sigaction){.sa_handler = note}, NULL) == 0);
  CHECK(sigprocmask(SIG_BLOCK, &one, NULL) == 0);
  shared->word = (unsigned)getpid();
  fd_set set;
  FD_ZERO(&set);
  FD_SET(both_ends, &set);
  struct pollfd request = {both_ends, POLLIN, 0};
  const int queue = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  CHECK(epoll_ctl(queue, EPOLL_CTL_ADD, both_ends, &event) == 0);
  const struct timespec moment = {0, 20000000};
  CHECK(ppoll(&request, 1, &moment, &one) == 0 && signals == 0);
  if (is("sigsuspend")) CHECK(sigsuspend(&none) == -1);
  if (is("ppoll")) CHECK(ppoll(&request, 1, NULL, &none) == -1);
  if (is("pselect")) CHECK(pselect(both_ends + 1, &set, NULL, NULL, NULL, &none) == -1);
  if (is("epoll_pwait")) CHECK(epoll_pwait(queue, &event, 1, -1, &none) == -1);
  CHECK(errno == EINTR && signals == 1);
  sigset_t now;
  CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR2) == 1);
  if (!is("sigsuspend")) shared->turns = 1; /* then something to read */
  if (is("ppoll")) CHECK(ppoll(&request, 1, NULL, &none) == 1 && request.revents == POLLIN);
  if (is("pselect"))
    CHECK(pselect(both_ends + 1, &set, NULL, NULL, NULL, &none) == 1 && FD_ISSET(both_ends, &set));
  if (is("epoll_pwait")) CHECK(epoll_pwait(queue, &event, 1, -1, &none) == 1);
  CHECK(close(queue) == 0);
}
static int waits_for_signal(void) {
  return is("sigsuspend") || is("ppoll") || is("pselect") || is("epoll_pwait");
}

static struct sockaddr_un socket_name(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%.100s.s", path);
  return address;
}

static void waits(void) {
  const struct timespec nothing = {0, 0};
  struct timespec soon;
  char text[64] = "";
  if (is("sched_yield")) {
    while (!shared->flag) sched_yield();
  } else if (is("nanosleep0")) {
    while (!shared->flag) nanosleep(&nothing, NULL);
  } else if (is("usleep0")) {
    while (!shared->flag) usleep(0);
  } else if (is("thrd_yield")) {
    while (!shared->flag) thrd_yield();
  } else if (is("usleep")) {
    while (!shared->flag) usleep(100);
  } else if (is("file")) {
    while (access(path, F_OK) != 0) usleep(1000);
  } else if (is("fifo")) {
    CHECK((mkfifo(path, 0600) == 0 || errno == EEXIST));
    const int fd = open(path, O_RDONLY);
    CHECK(read(fd, text, sizeof text) == 2 && read(fd, text, 1) == 0 && close(fd) == 0);
  } else if (is("fopen_fifo")) {
    CHECK((mkfifo(path, 0600) == 0 || errno == EEXIST));
    FILE* const file = fopen(path, "r");
    CHECK(file != NULL && fgets(text, sizeof text, file) != NULL && strcmp(text, "a line\n") == 0);
    CHECK(fgets(text, sizeof text, file) == NULL && feof(file) && fclose(file) == 0);
  } else if (is("fgets") || is("getline") || is("fread") || is("getc_unlocked")) {
    FILE* const file = fdopen(both_ends, "r");
    char* line = NULL;
    size_t size = 0;
    if (is("fgets")) CHECK(fgets(text, sizeof text, file) != NULL && strcmp(text, "a line\n") == 0);
    if (is("getline")) CHECK(getline(&line, &size, file) == 7 && strcmp(line, "a line\n") == 0);
    if (is("fread")) CHECK(fread(text, 1, 7, file) == 7 && strcmp(text, "a line\n") == 0);
    for (int i = 0; is("getc_unlocked") && i < 7; ++i) CHECK(getc_unlocked(file) == "a line\n"[i]);
    free(line);
  } else if (is("read")) {
    CHECK(read(both_ends, text, sizeof text) == 2);
  } else if (is("fscanf")) {
    FILE* const file = fdopen(both_ends, "r");
    CHECK(fscanf(file, "%32s %31s", text, text + 32) == 2 && strcmp(text, "a") == 0 &&
          strcmp(text + 32, "line") == 0);
  } else if (fills()) {
    fill(fdopen(both_ends, "w"));
  } else if (waits_for_signal()) {
    wait_for_signal();
  } else if (is("recvmmsg")) {
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    const struct sockaddr_un address = socket_name();
    struct iovec parts[] = {{text, 8}, {text + 8, 8}};
    struct mmsghdr messages[2] = {{{.msg_iov = parts, .msg_iovlen = 1}, 0},
                                  {{.msg_iov = parts + 1, .msg_iovlen = 1}, 0}};
    CHECK(fd >= 0 && bind(fd, (const struct sockaddr*)&address, sizeof address) == 0);
    shared->flag = 1;
    CHECK(recvmmsg(fd, messages, 2, 0, NULL) == 2 && memcmp(text, "1234567\0abcdefg", 16) == 0);
  } else if (is("aio_suspend") || is("lio_listio")) {
    struct aiocb request = {.aio_fildes = both_ends, .aio_buf = text, .aio_nbytes = sizeof text};
    struct aiocb* const list[] = {&request};
    request.aio_lio_opcode = LIO_READ;
    if (is("lio_listio")) CHECK(lio_listio(LIO_WAIT, list, 1, NULL) == 0);
    if (is("aio_suspend"))
      CHECK(aio_read(&request) == 0 && aio_suspend((const struct aiocb* const*)list, 1, NULL) == 0);
    CHECK(aio_error(&request) == 0 && aio_return(&request) == 2);
  } else if (is("named")) {
    sem_t* const semaphore = sem_open(name, O_CREAT, 0600, 0);
    CHECK(semaphore != SEM_FAILED && sem_wait(semaphore) == 0 && sem_close(semaphore) == 0 &&
          sem_unlink(name) == 0);
  } else if (is("sem_wait")) {
    CHECK(sem_wait(&shared->semaphore) == 0);
  } else if (is("sem_timedwait")) {
    soon = in_seconds(CLOCK_REALTIME, 0.02);
    CHECK(sem_timedwait(&shared->semaphore, &soon) == -1 && errno == ETIMEDOUT);
    soon = in_seconds(CLOCK_REALTIME, 30);
    CHECK(sem_timedwait(&shared->semaphore, &soon) == 0);
  } else if (is("mutex") || is("timedlock")) {
    while (!shared->flag) sched_yield();
    if (is("mutex")) CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    soon = in_seconds(CLOCK_REALTIME, 0.02);
    if (is("timedlock")) CHECK(pthread_mutex_timedlock(&shared->mutex, &soon) == ETIMEDOUT);
    soon = in_seconds(CLOCK_REALTIME, 30);
    if (is("timedlock")) CHECK(pthread_mutex_timedlock(&shared->mutex, &soon) == 0);
    CHECK(shared->flag == 2 && pthread_mutex_unlock(&shared->mutex) == 0);
  } else if (is("rwlock")) {
    while (!shared->flag) sched_yield();
    CHECK(pthread_rwlock_rdlock(&shared->lock) == 0);
    CHECK(shared->flag == 2 && pthread_rwlock_unlock(&shared->lock) == 0);
    shared->flag = 3;
    while (shared->flag != 4) sched_yield();
    CHECK(pthread_rwlock_wrlock(&shared->lock) == 0);
    CHECK(shared->flag == 5 && pthread_rwlock_unlock(&shared->lock) == 0);
  } else if (is("spin")) {
    while (!shared->flag) sched_yield();
    CHECK(pthread_spin_lock(&shared->spin) == 0 && shared->flag == 2 &&
          pthread_spin_unlock(&shared->spin) == 0);
  } else if (is("cond_wait") || is("cond_timedwait")) {
    CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    soon = in_seconds(CLOCK_MONOTONIC, 0.02);
    int error = 0;
    while (is("cond_timedwait") && error == 0)
      error = pthread_cond_timedwait(&shared->condition, &shared->mutex, &soon);
    CHECK(is("cond_wait") || error == ETIMEDOUT);
    while (!shared->flag) CHECK(pthread_cond_wait(&shared->condition, &shared->mutex) == 0);
    CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
  } else if (is("c11")) {
    CHECK(mtx_lock(&shared->c_mutex) == thrd_success);
    while (!shared->flag) CHECK(cnd_wait(&shared->c_condition, &shared->c_mutex) == thrd_success);
    CHECK(mtx_unlock(&shared->c_mutex) == thrd_success);
  } else if (is("barrier")) {
    for (int i = 0; i < 20; ++i) {
      const int result = pthread_barrier_wait(&shared->barrier);
      CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    }
  } else if (is("futex")) {
    while (!shared->word)
      CHECK(syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0 || errno == EAGAIN);
  } else if (is("semop")) {
    const int set = semget(key(), 1, IPC_CREAT | 0600);
    struct sembuf down = {0, -1, 0};
    CHECK(set >= 0 && semop(set, &down, 1) == 0 && semctl(set, 0, IPC_RMID) == 0);
  } else if (is("msgrcv") || is("msgsnd")) {
    const int queue = msgget(key(), IPC_CREAT | 0600);
    struct {
      long type;
      char text[4000];
    } message = {1, "filled"};
    if (is("msgrcv")) CHECK(msgrcv(queue, &message, 8, 0, 0) == 8 && strcmp(message.text, "message") == 0);
    for (int i = 0; is("msgsnd") && i < 20; ++i) CHECK(msgsnd(queue, &message, sizeof message.text, 0) == 0);
    if (is("msgrcv")) CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
  } else if (is("mq_receive") || is("mq_send")) {
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
    const mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    unsigned priority;
    CHECK(queue != (mqd_t)-1);
    if (is("mq_receive")) CHECK(mq_receive(queue, text, 8, &priority) == 8 && strcmp(text, "message") == 0);
    for (int i = 0; is("mq_send") && i < 5; ++i) CHECK(mq_send(queue, "message", 8, 0) == 0);
    if (is("mq_receive")) CHECK(mq_unlink(name) == 0);
  } else if (is("flock") || is("ofd")) {
    while (!shared->flag) usleep(100);
    const int file = open(path, O_RDWR);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK((is("flock") ? flock(file, LOCK_EX) : fcntl(file, F_OFD_SETLKW, &whole)) == 0 && shared->flag == 2);
  } else if (is("getaddrinfo")) {
    struct addrinfo* found = NULL;
    CHECK(getaddrinfo("127.0.0.1", NULL, NULL, &found) == 0 && found != NULL);
    freeaddrinfo(found);
    CHECK(getaddrinfo("127.0.0.1", NULL, &(struct addrinfo){.ai_flags = -1}, &found) == EAI_BADFLAGS);
  } else {
    CHECK(!"known");
  }
}

static void acts(void) {
  const struct timespec moment = {0, 20000000};
  if (is("mutex") || is("timedlock")) CHECK(pthread_mutex_lock(&shared->mutex) == 0);
  if (is("rwlock")) CHECK(pthread_rwlock_wrlock(&shared->lock) == 0);
  if (is("spin")) CHECK(pthread_spin_lock(&shared->spin) == 0);
  if (is("flock") || is("ofd")) {
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK((is("flock") ? flock(file, LOCK_EX) : fcntl(file, F_OFD_SETLK, &whole)) == 0);
    shared->flag = 1;
    for (int i = 0; i < 20; ++i) nanosleep(&moment, NULL);
    shared->flag = 2;
    CHECK(close(file) == 0);
    return;
  }
  if (is("mutex") || is("timedlock") || is("rwlock") || is("spin")) {
    shared->flag = 1;
    for (int i = 0; i < 20; ++i) nanosleep(&moment, NULL);
    shared->flag = 2;
    if (is("mutex") || is("timedlock")) CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    if (is("spin")) CHECK(pthread_spin_unlock(&shared->spin) == 0);
    if (!is("rwlock")) return;
    CHECK(pthread_rwlock_unlock(&shared->lock) == 0);
    while (shared->flag != 3) sched_yield();
    CHECK(pthread_rwlock_rdlock(&shared->lock) == 0);
    shared->flag = 4;
    for (int i = 0; i < 10; ++i) nanosleep(&moment, NULL);
    shared->flag = 5;
    CHECK(pthread_rwlock_unlock(&shared->lock) == 0);
    return;
  }
  nanosleep(&moment, NULL);
  if (is("file")) {
    CHECK(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
  } else if (is("fifo") || is("fopen_fifo")) {
    CHECK((mkfifo(path, 0600) == 0 || errno == EEXIST));
    const int fd = open(path, O_WRONLY);
    const char* const text = is("fifo") ? "ab" : "a line\n";
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
  } else if (is("fgets") || is("getline") || is("fread") || is("getc_unlocked") || is("fscanf")) {
    CHECK(write(both_ends, "a li", 4) == 4);
    for (int i = 0; i < 10; ++i) nanosleep(&moment, NULL);
    CHECK(write(both_ends, "ne\n", 3) == 3);
  } else if (is("read") || is("aio_suspend") || is("lio_listio")) {
    CHECK(write(both_ends, "ab", 2) == 2);
  } else if (is("named")) {
    sem_t* const semaphore = sem_open(name, O_CREAT, 0600, 0);
    CHECK(semaphore != SEM_FAILED && sem_post(semaphore) == 0);
  } else if (fills()) {
    static char got[4096];
    for (int left = kFull; left > 0;) {
      const ssize_t count = read(both_ends, got, sizeof got);
      CHECK(count > 0 && (left -= (int)count) >= 0);
    }
  } else if (waits_for_signal()) {
    while (!shared->word) nanosleep(&moment, NULL);
    for (int i = 0; i < 5; ++i) nanosleep(&moment, NULL);
    CHECK(kill((pid_t)shared->word, SIGUSR2) == 0);
    if (is("sigsuspend")) return;
    while (!shared->turns) nanosleep(&moment, NULL);
    CHECK(write(both_ends, "ab", 2) == 2);
  } else if (is("recvmmsg")) {
    while (!shared->flag) nanosleep(&moment, NULL);
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    const struct sockaddr_un address = socket_name();
    CHECK(connect(fd, (const struct sockaddr*)&address, sizeof address) == 0 &&
          send(fd, "1234567", 8, 0) == 8);
    for (int i = 0; i < 5; ++i) nanosleep(&moment, NULL);
    CHECK(send(fd, "abcdefg", 8, 0) == 8 && close(fd) == 0);
  } else if (strncmp(how, "sem_", 4) == 0) {
    for (int i = 0; i < 10; ++i) nanosleep(&moment, NULL);
    CHECK(sem_post(&shared->semaphore) == 0);
  } else if (strncmp(how, "cond_", 5) == 0) {
    for (int i = 0; i < 10; ++i) nanosleep(&moment, NULL);
    CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    shared->flag = 1;
    CHECK(pthread_cond_signal(&shared->condition) == 0 && pthread_mutex_unlock(&shared->mutex) == 0);
  } else if (is("c11")) {
    CHECK(mtx_lock(&shared->c_mutex) == thrd_success);
    shared->flag = 1;
    CHECK(cnd_signal(&shared->c_condition) == thrd_success && mtx_unlock(&shared->c_mutex) == thrd_success);
  } else if (is("barrier")) {
    waits();
  } else if (is("futex")) {
    shared->word = 1;
    CHECK(syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0);
  } else if (is("semop")) {
    const int set = semget(key(), 1, IPC_CREAT | 0600);
    struct sembuf up = {0, 1, 0};
    CHECK(set >= 0 && semop(set, &up, 1) == 0);
  } else if (is("msgrcv") || is("msgsnd")) {
    const int queue = msgget(key(), IPC_CREAT | 0600);
    struct {
      long type;
      char text[4000];
    } message = {1, "message"};
    if (is("msgrcv")) CHECK(msgsnd(queue, &message, 8, 0) == 0);
    for (int i = 0; is("msgsnd") && i < 20; ++i)
      CHECK(msgrcv(queue, &message, sizeof message.text, 0, 0) == 4000);
    if (is("msgsnd")) CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
  } else if (is("mq_receive") || is("mq_send")) {
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
    const mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    char text[8];
    CHECK(queue != (mqd_t)-1);
    if (is("mq_receive")) CHECK(mq_send(queue, "message", 8, 0) == 0);
    for (int i = 0; is("mq_send") && i < 5; ++i) CHECK(mq_receive(queue, text, 8, NULL) == 8);
    if (is("mq_send")) CHECK(mq_unlink(name) == 0);
  } else {
    shared->flag = 1;
  }
}

int main(int argc, char** argv) {
  int rank, unused = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  how = argv[1];
  pair = rank / 2;
  snprintf(path, sizeof path, "%s/%s.%d", argv[2], how, pair);
  const char* const folder = strrchr(argv[2], '/');
  snprintf(name, sizeof name, "/%.20s.%.20s.%d", folder != NULL ? folder + 1 : argv[2], how, pair);
  /* Only one of the pair makes the locks, before the other one comes. */
  if (rank % 2 == 0) {
    share(1);
    MPI_Send(&unused, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    waits();
  } else {
    MPI_Recv(&unused, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    share(0);
    acts();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: good\n", how);
  MPI_Finalize();
  return 0;
}
