/* checkpoint STEPS DIRECTORY AT...: steps of a computation with what a rank has of its own in C and in MPI, written down after the steps AT. What is
 * printed at the end says whether all of it was there. `checkpoint why WHAT DIRECTORY`: with something in the way of a checkpoint.
 * `checkpoint rounds FILE [request|pipe]`: asks for none, and ends when there is that file; with receives under way, or with what is in the way. */
#include <mpi.h>
#include <mpix.h>

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

struct item {
  double value;
  struct item* next;
};
static struct item* list;
static double (*next_value)(double);
static _Thread_local long calls;
static double table[50000];
static int caught;

static double half_more(double x) {
  return 1.5 * x + 1;
}
static void on_signal(int number) {
  caught += number;
}
static void at_the_end(void) {
  printf("at the end\n");
}
static void sum_up(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; i++) ((double*)inout)[i] += ((double*)in)[i];
}
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  caught += *code != MPI_SUCCESS ? 1000 : 0;
}

static void steps(int count, const char* directory, char** at) {
  int rank, size, dims[2] = {0, 0}, periods[2] = {1, 1};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Comm grid, half;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(half, handler);
  MPI_Errhandler_free(&handler);
  MPI_Datatype column, pair, part;
  MPI_Type_vector(10, 1, 100, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Type_contiguous(2, column, &pair);
  int sizes[2] = {20, 30}, subsizes[2] = {3, 4}, starts[2] = {5, 6};
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, pair, &part);
  MPI_Type_commit(&part);
  MPI_Type_free(&pair); /* `part` holds it */
  MPI_Op sum;
  MPI_Op_create(sum_up, 1, &sum);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Group group;
  MPI_Comm_group(half, &group);
  next_value = half_more;
  atexit(at_the_end);
  signal(SIGUSR1, on_signal);
  setenv("OWN", rank % 2 ? "odd" : "even", 1);
  fesetround(FE_UPWARD);
  double* heap = malloc(300000 * sizeof *heap);
  for (int i = 0; i < 300000; i++) heap[i] = rank + i * 1e-6;
  for (int i = 0; i < 50000; i++) table[i] = rank * i;
  char* const pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  strcpy(pages + 70000, "on pages of its own");
  double result = rank;
  srand(rank + 1);
  char input[100] = "", *read = NULL;
  if (rank == 0) read = fgets(input, sizeof input, stdin);
  for (int step = 0; step < count; step++) {
    struct item* const fresh = malloc(sizeof *fresh);
    fresh->value = next_value(result) / 1e6;
    fresh->next = list;
    list = fresh;
    int left, right;
    MPI_Cart_shift(grid, step % 2, 1, &left, &right);
    MPI_Sendrecv_replace(&table[step], 1, column, right, 1, left, 1, grid, MPI_STATUS_IGNORE);
    MPI_Allreduce(&table[step + 100], &heap[step], 50, MPI_DOUBLE, sum, half);
    for (int i = 0; i < 1000; i++) result += heap[i] * 1e-9 + table[i] * 1e-9 + rand() % 10;
    for (struct item* i = list; i; i = i->next) result += i->value * 1e-3;
    heap = realloc(heap, (300000 + step * 1000) * sizeof *heap);
    calls++;
    for (char** each = at; *each; each++) {
      if (step != atoi(*each)) continue;
      int restarted;
      MPIX_Checkpoint(directory);
      MPIX_Restarted(&restarted);
      if (rank == 0) printf("%s after step %d\n", restarted ? "restarted" : "saved", step);
    }
  }
  /* What was made before. */
  char name[MPI_MAX_OBJECT_NAME], value[20];
  int length, flag, members;
  MPI_Comm_get_name(half, name, &length);
  MPI_Info_get(info, "key", 19, value, &flag);
  MPI_Group_size(group, &members);
  if (rank == 0 && read != NULL && fgets(input, sizeof input, stdin) != NULL)
    printf("from the input: %s", input);
  char* const memory = NULL;
  MPI_Alloc_mem(100, MPI_INFO_NULL, (void*)&memory);
  MPI_Free_mem(memory);
  raise(SIGUSR1);
  MPI_Send(&length, -1, MPI_INT, 0, 0, half); /* which the handler hears of */
  MPI_Count bytes;
  MPI_Type_size_x(part, &bytes);
  double all;
  MPI_Reduce(&result, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
  printf("rank %d: %s %s %d %s %s, caught %d, %ld calls, %lld bytes, rounds %d\n", rank, name, value, members,
         getenv("OWN"), pages + 70000, caught, calls, (long long)bytes, fegetround() == FE_UPWARD);
  if (rank == 0) printf("%d steps, result %.17g\n", count, all);
  MPI_Comm dup;
  MPI_Comm_dup(half, &dup); /* with a context that no other has */
  MPI_Barrier(dup);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&half);
  MPI_Type_free(&column);
  MPI_Type_free(&part);
  MPI_Op_free(&sum);
  MPI_Info_free(&info);
  MPI_Group_free(&group);
}

/* A program that asks for nothing: rounds of some milliseconds, until there is the file `stop`. What it prints says
 * whether each has been made once. */
static void rounds(const char* stop, const char* what) {
  int rank, size, lowest = 0, end = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long long sum = 0, wanted = 0, count = 0;
  MPI_Request request;
  const int with_request = !strcmp(what, "request");
  int ends[2];
  if (!strcmp(what, "pipe") && pipe(ends) != 0) printf("no pipe\n");
  for (; !end; count++) {
    const long long mine = count * (rank + 1), all = count * size * (size + 1) / 2;
    long long product = 0;
    const int root = (int)(count % size);
    if (with_request) MPI_Irecv(&lowest, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
    usleep(2000);
    switch (count % 4) {
      case 0:
        if (rank == 0) end = access(stop, F_OK) == 0;
        MPI_Bcast(&end, 1, MPI_INT, 0, MPI_COMM_WORLD);
        break;
      case 1:
        MPI_Allreduce(&mine, &product, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        wanted += all;
        break;
      case 2:
        MPI_Reduce(&mine, &product, 1, MPI_LONG_LONG, MPI_SUM, root, MPI_COMM_WORLD);
        wanted += rank == root ? all : 0;
        break;
      case 3:
        product = mine;
        MPI_Bcast(&product, 1, MPI_LONG_LONG, root, MPI_COMM_WORLD);
        wanted += count * (root + 1);
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    }
    sum += product;
    if (with_request)
      MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD),
          MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("rank %d: %s\n", rank, sum == wanted && count > 4 ? "right" : "wrong");
}

static void* sleep_long(void* end) {
  while (!*(volatile int*)end) usleep(1000);
  return NULL;
}

static void in_the_way(const char* what, const char* directory) {
  int rank, end = 0, number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Session session = MPI_SESSION_NULL;
  FILE* file = NULL;
  pthread_t thread;
  pid_t child = 0;
  int segment;
  char* text_of_stream = NULL;
  size_t size_of_stream = 0;
  MPIX_Counter counter = MPIX_COUNTER_NULL;
  char* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (rank == 1) {
    if (!strcmp(what, "thread")) pthread_create(&thread, NULL, sleep_long, &end);
    if (!strcmp(what, "child") && (child = fork()) == 0) _exit(sleep(60));
    if (!strcmp(what, "library") && !dlopen("libz.so.1", RTLD_NOW)) printf("no libz\n");
    if (!strcmp(what, "session")) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (!strcmp(what, "shared") &&
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
      printf("no page\n");
    if (!strcmp(what, "alarm")) alarm(1000);
    if (!strcmp(what, "memstream")) file = open_memstream(&text_of_stream, &size_of_stream);
    if (!strcmp(what, "segment"))
      shmat(segment = shmget(IPC_PRIVATE, 4096, 0600), NULL, 0), shmctl(segment, IPC_RMID, NULL);
    if (!strcmp(what, "hidden")) memset(page, 1, 4096), mprotect(page, 4096, PROT_NONE);
    if (!strcmp(what, "tools")) MPI_T_init_thread(MPI_THREAD_SINGLE, &number);
    if (!strcmp(what, "counter")) MPIX_Counter_open("task-clock", &counter);
  }
  char text[MPI_MAX_ERROR_STRING];
  int length, class;
  const int code = MPIX_Checkpoint(!strcmp(what, "nowhere") ? NULL : directory);
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  printf("rank %d: %d %s\n", rank, class, text);
  if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
  if (file) fclose(file);
  if (!strcmp(what, "thread") && rank == 1) end = 1, pthread_join(thread, NULL);
  if (child) kill(child, SIGKILL), waitpid(child, NULL, 0);
  if (!strcmp(what, "alarm")) alarm(0);
  if (!strcmp(what, "tools") && rank == 1) MPI_T_finalize();
  if (counter != MPIX_COUNTER_NULL) MPIX_Counter_close(&counter);
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  if (!strcmp(argv[1], "rounds"))
    rounds(argv[2], argc > 3 ? argv[3] : "");
  else if (!strcmp(argv[1], "why"))
    in_the_way(argv[2], argv[3]);
  else
    steps(atoi(argv[1]), argv[2], argv + 3);
  MPI_Finalize();
  return 0;
}
