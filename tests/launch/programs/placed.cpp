// A program of a plain compiler, with thread-locals of all kinds at places that its linker has chosen. Each rank checks its own all the
// time, while others of its worker run, and while it moves. argv[1]: rounds.
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank, size, failures;

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition); \
      if (++failures > 20) std::abort();                                          \
    }                                                                             \
  } while (false)

constexpr int kBegins = 1234567;
thread_local int number = kBegins;
thread_local int zero;
thread_local int* pointing = &failures;  // an address of the image
alignas(64) thread_local char aligned[64] = "aligned";
#ifndef LARGE
#define LARGE 128000
#endif
thread_local double large[LARGE / sizeof(double)];
thread_local char message[64];
static __thread long counter = 7;

// With a constructor, a destructor, and memory of its own.
struct Named {
  std::string text = "a name that is too long for the string itself, of a thread";
  Named() { ++made; }
  ~Named() { ++gone; }
  static int made, gone;
};
int Named::made, Named::gone;
thread_local Named named;
thread_local std::vector<int> numbers{1, 2, 3};

void fill(int seed) {
  number = seed;
  zero = seed + 1;
  std::memset(aligned, seed & 0x7f, sizeof aligned);
  for (int i = 0; i < 16000; i += 100) large[i] = seed + i;
  counter = seed * 3L;
  named.text = "number " + std::to_string(seed) + ", which is long enough to lie in memory of the heap";
  numbers.assign(100, seed);
}

bool holds(int seed) {
  bool right = number == seed && zero == seed + 1 && aligned[0] == (seed & 0x7f) &&
               aligned[63] == aligned[0] && counter == seed * 3L;
  for (int i = 0; i < 16000; i += 100) right = right && large[i] == seed + i;
  return right &&
         named.text ==
             "number " + std::to_string(seed) + ", which is long enough to lie in memory of the heap" &&
         numbers.size() == 100 && numbers[99] == seed && pointing == &failures;
}

void check_beginnings() {
  CHECK(number == kBegins && zero == 0 && counter == 7 && pointing == &failures);
  CHECK(std::strcmp(aligned, "aligned") == 0 && reinterpret_cast<std::uintptr_t>(aligned) % 64 == 0);
  CHECK(large[0] == 0 && large[15999] == 0);
  CHECK(numbers.size() == 3 && named.text.size() > 40);
}

[[gnu::noinline]] void throw_at(int depth) {
  char block[200];
  std::snprintf(block, sizeof block, "depth %d of rank %d", depth, rank);
  if (depth == 0) throw std::runtime_error(block);
  MPI_Barrier(MPI_COMM_WORLD);
  throw_at(depth - 1);
}

// Messages out of and into thread-locals, whose address is given before others run.
void check_messages(int round) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  char out[64];
  std::snprintf(out, sizeof out, "from %d in round %d", rank, round);
  MPI_Request request;
  MPI_Irecv(message, sizeof message, MPI_CHAR, left, round, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(out, sizeof out, MPI_CHAR, right, round, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  std::snprintf(out, sizeof out, "from %d in round %d", left, round);
  CHECK(std::strcmp(message, out) == 0);
  counter = rank;
  long sum = 0;
  MPI_Allreduce(&counter, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size - 1L) / 2);
}

void check_exceptions() {
  try {
    throw_at(3);
    CHECK(false);
  } catch (const std::exception& thrown) {
    MPI_Barrier(MPI_COMM_WORLD);  // in a catch block
    CHECK(std::string(thrown.what()) == "depth 0 of rank " + std::to_string(rank));
  }
}

void check_jumps() {
  static thread_local jmp_buf place;
  volatile int jumps = 0;
  if (setjmp(place) < 3) {
    jumps = jumps + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    longjmp(place, jumps);
  }
  CHECK(jumps == 3);
}

// errno is the rank's over a switch, also by an address that the compiler has kept, and so is pthread_self().
void check_libc(pthread_t self) {
  int* const place = &errno;
  errno = 1000 + rank;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK((errno == 1000 + rank || errno < 1000) &&
        place == &errno);  // MPI may set it, but not to another rank's
  CHECK(pthread_equal(self, pthread_self()));
  CHECK(close(-1) == -1 && errno == EBADF);
  CHECK(sched_getcpu() >= 0);
  pthread_mutexattr_t kind;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &kind);
  CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0);
  void* const memory = std::malloc(1000 + rank);
  std::free(memory);
  CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
  pthread_mutex_destroy(&mutex);
}

volatile sig_atomic_t signals;
void on_signal(int) {
  signals = signals + (number == 5000 + rank);
}

void check_signals() {
  number = 5000 + rank;
  signals = 0;
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  CHECK(signals == 1);
  pthread_kill(pthread_self(), SIGUSR1);
  CHECK(signals == 2);
  signal(SIGUSR1, SIG_DFL);
}

void check_threads(int seed) {
  std::vector<std::thread> threads;
  int* const mine = &number;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      check_beginnings();
      CHECK(&number != mine);
      fill(9000 + 10 * rank + t);
      std::this_thread::yield();
      CHECK(holds(9000 + 10 * rank + t));
      errno = t;
      CHECK(close(-1) == -1 && errno == EBADF);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(holds(seed));
}

void add(void* in, void* into, int* count, MPI_Datatype*) {
  ++number;  // of the calling rank
  for (int i = 0; i < *count; ++i) static_cast<int*>(into)[i] += static_cast<int*>(in)[i];
}

void check_operators() {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  int one = 1, sum = 0, calls = 0, all = 0;
  number = 0;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size);
  calls = number;
  MPI_Allreduce(&calls, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(size == 1 || all > 0);
  MPI_Op_free(&op);
}

}  // namespace

// Cancelled by a thread of its own, the rank's own flow of control leaves the program: what it holds is destroyed.
struct Farewell {
  ~Farewell() { std::printf("rank %d leaves\n", number); }
};

int be_cancelled() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  number = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  const Farewell farewell;
  std::thread([self = pthread_self()] { pthread_cancel(self); }).detach();
  for (;;) {
    pthread_testcancel();
    sched_yield();
  }
}

int main(int argc, char** argv) {
  if (std::strcmp(argv[1], "cancel") == 0) return be_cancelled();
  check_beginnings();
  CHECK(Named::made == 1);
  fill(100);
  MPI_Init(&argc, &argv);
  CHECK(holds(100));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const pthread_t self = pthread_self();
  for (int round = 0; round < std::atoi(argv[1]); ++round) {
    const int seed = 100 * rank + round;
    fill(seed);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(holds(seed));
    check_messages(round);
    counter = seed * 3L;
    check_exceptions();
    check_jumps();
    check_libc(self);
    if (round % 8 == 0) check_threads(seed);
    check_signals();
    check_operators();
    number = seed;
    CHECK(holds(seed));
    if (argc > 2) usleep(rank % 2 * 200);
  }
  std::printf("rank %d: %d failures\n", rank, failures);
  MPI_Finalize();
  return failures != 0;
}
