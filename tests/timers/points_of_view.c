/* MPIX_Rtime, the processor timer and the performance counters (mpix.h) measure what they say. The program is
 * told on how many workers it runs; ranks are mapped in blocks. All bounds are strict: they hold on a busy
 * machine as well.
 *
 *   tmpirun -n N --workers W ./points_of_view W
 */
#include "../mpi/check.h"

#include <mpix.h>
#include <sys/mman.h>

static int worker, workers;
static MPI_Comm mates; /* the ranks of this worker */

static const double kRounding = 1e-7; /* clocks are converted to double separately */

/* Computes for a while, in no MPI call that could suspend; returns a bit less than the time it took. */
static double compute(double seconds) {
  double start = MPI_Wtime(), now;
  do now = MPI_Wtime();
  while (now - start < seconds);
  return now - start;
}

/* As tmpirun divides ranks into `workers` blocks. */
static int worker_of(int rank) {
  int small = world_size / workers, large_blocks = world_size % workers;
  int in_large = large_blocks * (small + 1);
  return rank < in_large ? rank / (small + 1) : large_blocks + (rank - in_large) / small;
}

static double sum_of(MPI_Comm comm, double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

/* The time from the first rank's start to the last one's end. */
static double span(double start, double end) {
  double first = 0, last = 0;
  MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last - first;
}

static void before_init(void) {
  CHECK(MPIX_Rtime() == 0);
  CHECK(MPIX_Ptime() == 0);
  MPIX_Stop_processor_timer();
  MPIX_Start_processor_timer(); /* no effect: nothing is metered below until it is started again */
}

/* The clock stands at 0 at MPI_Init and has run since, although it is read here for the first time. */
static void since_init(double before_init) {
  double computed = compute(0.002);
  MPI_Barrier(MPI_COMM_WORLD);
  double running = MPIX_Rtime();
  CHECK(running >= computed - kRounding);
  CHECK(running <= MPI_Wtime() - before_init + kRounding);
  CHECK(PMPIX_Rtime() >= running);
}

/* A rank's clock has its own computation in it; the clocks of one worker's ranks together no more than the
 * time. */
static void process_pov(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  double wall = MPI_Wtime(), running = MPIX_Rtime(), computed = 0;
  for (int i = 0; i < 5; i++) {
    computed += compute(0.0005 * (1 + (world_rank + i) % 4));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  running = MPIX_Rtime() - running;
  double end = MPI_Wtime();
  CHECK(running >= computed - kRounding);
  CHECK(running <= end - wall + kRounding);
  double total = span(wall, end), together = sum_of(mates, running);
  CHECK(together <= total + kRounding * world_size);
}

/* The core's clock is the sum over its ranks of their time between Start and Stop, and every rank reads the
 * same one. */
static void core_pov(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  double before = MPIX_Ptime(), outer = 0, inner = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++) {
    double start = MPIX_Rtime();
    MPIX_Start_processor_timer();
    double inside = MPIX_Rtime();
    compute(0.0005 * (1 + (world_rank + i) % 3));
    MPI_Barrier(MPI_COMM_WORLD);
    inner += MPIX_Rtime() - inside;
    MPIX_Stop_processor_timer();
    outer += MPIX_Rtime() - start;
    compute(0.001); /* not in the section */
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double section = MPIX_Ptime() - before;
  double outer_sum = sum_of(mates, outer), inner_sum = sum_of(mates, inner), size = world_size;
  CHECK(section >= inner_sum - kRounding * size);
  CHECK(section <= outer_sum + kRounding * size);
  double all[2] = {-section, section}, largest[2];
  MPI_Allreduce(all, largest, 2, MPI_DOUBLE, MPI_MAX, mates);
  CHECK(largest[0] == -section && largest[1] == section);
}

static void misuse(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  double before = MPIX_Ptime();
  MPIX_Stop_processor_timer(); /* stop without start */
  compute(0.0005);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPIX_Ptime() == before);
  MPI_Barrier(MPI_COMM_WORLD);

  double outer = MPIX_Rtime();
  MPIX_Start_processor_timer();
  double first = compute(0.0005);
  MPIX_Start_processor_timer(); /* start twice: the section goes on, one stop ends it */
  double second = compute(0.0005);
  double inside = MPIX_Ptime() - before; /* includes the present stretch */
  CHECK(inside >= first + second - kRounding);
  MPIX_Stop_processor_timer();
  outer = MPIX_Rtime() - outer;
  compute(0.0005);
  MPIX_Stop_processor_timer(); /* stop twice */
  MPI_Barrier(MPI_COMM_WORLD);
  double after = MPIX_Ptime() - before, sum = sum_of(mates, first + second);
  CHECK(after >= sum - kRounding * world_size);
  CHECK(after <= sum_of(mates, outer) + kRounding * world_size);
}

/* Touches fresh pages: a page fault each. */
static void touch(int pages) {
  size_t size = (size_t)pages * 4096;
  volatile char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  madvise((void*)memory, size, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < size; i += 4096) memory[i] = 1;
  munmap((void*)memory, size);
}

static void counters(void) {
  const int kOwn = 200, kOthers = 4000; /* pages of rank 0 and of the others */
  MPIX_Counter faults = MPIX_COUNTER_NULL, again, clock;
  MPI_Count own = -1, core = -1, later = -1, nanoseconds = -1;
  double running = MPIX_Rtime(); /* before the first reading and after the last: what it encloses is less */
  CHECK_OK(MPIX_Counter_open("page-faults", &faults));
  CHECK_OK(MPIX_Counter_open("task-clock", &clock));
  CHECK(faults != MPIX_COUNTER_NULL && clock != faults);
  MPI_Barrier(MPI_COMM_WORLD);
  touch(world_rank == 0 ? kOwn / 2 : kOthers / 2);
  MPI_Barrier(MPI_COMM_WORLD);
  MPIX_Start_processor_timer();
  touch(world_rank == 0 ? kOwn / 2 : kOthers / 2);
  MPI_Barrier(MPI_COMM_WORLD);
  MPIX_Stop_processor_timer();
  CHECK_OK(MPIX_Rcounter(faults, &own));
  CHECK_OK(MPIX_Rcounter(clock, &nanoseconds));
  CHECK(own >= (world_rank == 0 ? kOwn : kOthers));
  if (world_rank == 0) CHECK(own < kOwn + kOthers / 4); /* the others' are not in it */
  CHECK(nanoseconds > 0);
  CHECK_OK(MPIX_Rcounter(clock, &nanoseconds));
  /* What the kernel counts as its CPU time is no more than the time it ran, but for the two ends. */
  CHECK(1e-9 * (double)nanoseconds <= MPIX_Rtime() - running + 0.01);

  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPIX_Pcounter(faults, &core));
  int ranks = 0, first = 0;
  MPI_Comm_size(mates, &ranks);
  first = worker_of(0) == worker;
  CHECK(core >= (ranks - first) * (kOthers / 2) + first * (kOwn / 2));  /* of all ranks, in the section */
  CHECK(core < (ranks - first) * kOthers + first * kOwn + kOthers / 4); /* and not outside of it */

  CHECK_OK(MPIX_Counter_open("page-faults", &again)); /* a second one starts at 0 */
  CHECK_OK(MPIX_Rcounter(again, &later));
  CHECK(later < kOwn);
  CHECK_OK(MPIX_Counter_close(&again));
  CHECK(again == MPIX_COUNTER_NULL);
  CHECK_OK(MPIX_Rcounter(faults, &later));
  CHECK(later >= own);
  MPI_Barrier(MPI_COMM_WORLD);           /* mates read `core` */
  CHECK_OK(MPIX_Counter_close(&faults)); /* `clock` is left to MPI_Finalize */
}

static void counter_errors(void) {
  MPIX_Counter counter = (MPIX_Counter)&worker, closed = MPIX_COUNTER_NULL;
  MPI_Count value = -1;
  CHECK_CLASS(MPIX_Counter_open("page-fault", &counter), MPI_ERR_ARG);
  CHECK(counter == MPIX_COUNTER_NULL);
  CHECK_CLASS(MPIX_Counter_open(NULL, &counter), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Counter_open("page-faults", NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Rcounter(closed, &value), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Pcounter(closed, &value), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Counter_close(&closed), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Counter_close(NULL), MPI_ERR_ARG);
  closed = (MPIX_Counter)&worker; /* none of ours */
  CHECK_CLASS(MPIX_Rcounter(closed, &value), MPI_ERR_ARG);
  CHECK_OK(MPIX_Counter_open("context-switches", &counter));
  CHECK_CLASS(MPIX_Rcounter(counter, NULL), MPI_ERR_ARG);
  CHECK_OK(MPIX_Counter_close(&counter));
  CHECK_EQ(value, -1);

  /* The processor's counters: they count, or the machine has none, and then there is no number. */
  int code = MPIX_Counter_open("PAPI_TOT_INS", &counter);
  if (code == MPI_SUCCESS) {
    for (int i = 0; i < 100000; i++) __asm__ volatile("");
    CHECK_OK(MPIX_Rcounter(counter, &value));
    CHECK(value >= 200000);
    CHECK_OK(MPIX_Counter_close(&counter));
  } else {
    CHECK_CLASS(code, MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(counter == MPIX_COUNTER_NULL);
  }
}

int main(int argc, char** argv) {
  double start = MPI_Wtime();
  before_init();
  CHECK_OK(MPI_Init(&argc, &argv));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  workers = argc > 1 ? atoi(argv[1]) : 1;
  worker = worker_of(world_rank);
  since_init(start);
  CHECK(MPIX_Ptime() == 0);
  MPI_Comm_split(MPI_COMM_WORLD, worker, world_rank, &mates);
  process_pov();
  core_pov();
  misuse();
  counters();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  counter_errors();
  MPI_Comm_free(&mates);
  MPIX_Start_processor_timer(); /* ends within the section */
  MPI_Finalize();
  CHECK(MPIX_Rtime() > 0);
  return 0;
}
