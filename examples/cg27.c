/* cg27: conjugate gradients on a 27-point operator of a three-dimensional grid, in the manner of the
 * mini-application HPCCG.
 *
 * Every grid point is a row with 27 on the diagonal and -1 for each of its up to 26 neighbours; the
 * right-hand side is such that the solution is 1 everywhere. The rows are divided over a grid of ranks. A
 * rank finds out from its own rows which values of other ranks it needs and asks their owners for them once;
 * from these requests every rank makes its send lists. An iteration is one halo exchange with sparse matrix
 * times vector, two scalar products and three vector updates.
 *
 * The size is that of the whole problem, so that the same problem can be run on any number of ranks.
 *
 *   mpirun -n 8 ./cg27 [--nx N] [--ny N] [--nz N] [--iterations N] [--tolerance X] [--split 3d|z] [--timer
 * wtime|rtime]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__has_include)
#if __has_include(<mpix.h>)
#include <mpix.h> /* tmpi's extensions */
#endif
#endif

enum { kMaxNeighbours = 26, kMaxRow = 27, kTagRequest = 1, kTagHalo = 2 };

struct options {
  int n[3]; /* grid points of the whole problem in x, y, z */
  int iterations;
  double tolerance; /* stop when the norm of the residual falls below; 0: do all iterations */
  int split_3d;
  double (*clock)(void);
};

/* The box of the grid that a rank owns: first[d] <= coordinate < first[d] + n[d]. */
struct box {
  int first[3], n[3];
};

/* One neighbouring rank: what it needs of us, and where what we need of it lies behind our own values. */
struct neighbour {
  int rank;
  int send_count, recv_count;
  int* send_list;      /* local indices of the values that it needs */
  double* send_buffer; /* send_count values */
  int recv_first;      /* index of the first value received from it */
};

/* Rows of the matrix in compressed form; columns are local: own values first, received ones behind. */
struct matrix {
  int rows, columns;
  long long* row_start;
  int* column;
  double* value;
  int neighbours;
  struct neighbour neighbour[kMaxNeighbours];
};

struct times {
  double dot, waxpby, spmv, halo, allreduce, total;
};

static struct options options;
static struct times times;
static int world_rank, world_size;

static void fatal(const char* text) {
  fprintf(stderr, "cg27: rank %d: %s\n", world_rank, text);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

static void* allocate(size_t count, size_t bytes) {
  void* memory = malloc(count * bytes + 1);
  if (memory == NULL) fatal("no memory: choose a smaller --nx, --ny, --nz");
  return memory;
}

/* --- Command line
 * ----------------------------------------------------------------------------------------------------------------
 */

static void usage(void) {
  printf(
      "usage: cg27 [options]\n"
      "  --nx, --ny, --nz N   grid points of the whole problem (default 64 x 64 x 64)\n"
      "  --iterations N       iterations at most (default 50)\n"
      "  --tolerance X        stop when the residual's norm is below X (default 0: do all iterations)\n"
      "  --split 3d|z         divide the grid in three directions (default) or in slabs of z\n"
      "  --timer wtime|rtime  clock of the report: MPI_Wtime (default), or MPIX_Rtime where the library has "
      "it\n");
}

static double wtime(void) {
  return MPI_Wtime();
}

static void choose_timer(const char* name) {
  if (strcmp(name, "wtime") == 0) return;
  if (strcmp(name, "rtime") != 0) fatal("--timer is wtime or rtime");
#ifdef MPIX_HAVE_RTIME
  options.clock = MPIX_Rtime;
#else
  fatal("--timer rtime: this MPI has no MPIX_Rtime");
#endif
}

/* Returns -1 to go on, or the exit code. */
static int parse(int argc, char** argv) {
  options = (struct options){{64, 64, 64}, 50, 0, 1, wtime};
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (value != NULL && strlen(name) == 4 && strncmp(name, "--n", 3) == 0 && name[3] >= 'x' &&
        name[3] <= 'z') {
      options.n[name[3] - 'x'] = atoi(value);
    } else if (value != NULL && strcmp(name, "--iterations") == 0) {
      options.iterations = atoi(value);
    } else if (value != NULL && strcmp(name, "--tolerance") == 0) {
      options.tolerance = atof(value);
    } else if (value != NULL && strcmp(name, "--split") == 0) {
      options.split_3d = strcmp(value, "z") != 0;
    } else if (value != NULL && strcmp(name, "--timer") == 0) {
      choose_timer(value);
    } else {
      if (world_rank == 0) usage();
      return strcmp(name, "--help") == 0 ? 0 : 2;
    }
    i++;
  }
  if (options.n[0] < 1 || options.n[1] < 1 || options.n[2] < 1 || options.iterations < 1)
    fatal("sizes and iterations must be positive");
  return -1;
}

/* --- The grid and who owns what
 * ---------------------------------------------------------------------------------------------------- */

static int parts[3]; /* ranks in x, y, z */

static int first_of(int n, int count, int index) {
  return (int)((long long)n * index / count);
}
static int part_of(int n, int count, int coordinate) {
  return (int)(((long long)(coordinate + 1) * count - 1) / n);
}

static void divide(void) {
  int dims[3] = {0, 0, 0};
  if (!options.split_3d) dims[0] = world_size, dims[1] = dims[2] = 1;
  MPI_Dims_create(world_size, 3, dims); /* largest first: z gets most parts, slabs are contiguous */
  for (int d = 0; d < 3; d++) {
    parts[d] = dims[2 - d];
    if (parts[d] > options.n[d])
      fatal("more ranks than grid points in one direction: choose a larger grid or --split 3d");
  }
}

static struct box box_of(int rank) {
  struct box box;
  int coordinate[3] = {rank % parts[0], rank / parts[0] % parts[1], rank / parts[0] / parts[1]};
  for (int d = 0; d < 3; d++) {
    box.first[d] = first_of(options.n[d], parts[d], coordinate[d]);
    box.n[d] = first_of(options.n[d], parts[d], coordinate[d] + 1) - box.first[d];
  }
  return box;
}

static int owner_of(const int point[3]) {
  int c[3];
  for (int d = 0; d < 3; d++) c[d] = part_of(options.n[d], parts[d], point[d]);
  return c[0] + parts[0] * (c[1] + parts[1] * c[2]);
}

static long long global_index(const int p[3]) {
  return p[0] + (long long)options.n[0] * (p[1] + (long long)options.n[1] * p[2]);
}

static int local_index(const struct box* box, const int p[3]) {
  return p[0] - box->first[0] + box->n[0] * (p[1] - box->first[1] + box->n[1] * (p[2] - box->first[2]));
}

/* --- The matrix
 * --------------------------------------------------------------------------------------------------------------------
 */

/* A value of another rank that one of our rows refers to. */
struct external {
  long long global;
  int owner;
  int index; /* its place behind our own values, once that is known */
};

static int by_owner(const void* a, const void* b) {
  const struct external *x = a, *y = b;
  if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
  return x->global < y->global ? -1 : x->global > y->global;
}

/* All points of other ranks that touch our box, sorted by owner and global index. */
static struct external* find_externals(const struct box* box, int* count) {
  int capacity = (box->n[0] + 2) * (box->n[1] + 2) * (box->n[2] + 2) - box->n[0] * box->n[1] * box->n[2];
  struct external* externals = allocate((size_t)capacity, sizeof *externals);
  int p[3], found = 0;
  for (p[2] = box->first[2] - 1; p[2] <= box->first[2] + box->n[2]; p[2]++)
    for (p[1] = box->first[1] - 1; p[1] <= box->first[1] + box->n[1]; p[1]++)
      for (p[0] = box->first[0] - 1; p[0] <= box->first[0] + box->n[0]; p[0]++) {
        int outside = 0, own = 1;
        for (int d = 0; d < 3; d++) {
          outside |= p[d] < 0 || p[d] >= options.n[d];
          own &= p[d] >= box->first[d] && p[d] < box->first[d] + box->n[d];
        }
        if (!outside && !own) externals[found++] = (struct external){global_index(p), owner_of(p), 0};
      }
  qsort(externals, (size_t)found, sizeof *externals, by_owner);
  *count = found;
  return externals;
}

static int column_of(const struct box* box, const int p[3], const struct external* externals, int count) {
  int own = 1;
  for (int d = 0; d < 3; d++) own &= p[d] >= box->first[d] && p[d] < box->first[d] + box->n[d];
  if (own) return local_index(box, p);
  struct external key = {global_index(p), owner_of(p), 0};
  const struct external* hit = bsearch(&key, externals, (size_t)count, sizeof key, by_owner);
  return hit->index;
}

static void append_row(struct matrix* matrix, const struct box* box, const int p[3],
                       const struct external* externals, int count) {
  long long entry = matrix->row_start[matrix->rows];
  int q[3];
  for (q[2] = p[2] - 1; q[2] <= p[2] + 1; q[2]++)
    for (q[1] = p[1] - 1; q[1] <= p[1] + 1; q[1]++)
      for (q[0] = p[0] - 1; q[0] <= p[0] + 1; q[0]++) {
        int outside = 0;
        for (int d = 0; d < 3; d++) outside |= q[d] < 0 || q[d] >= options.n[d];
        if (outside) continue;
        matrix->column[entry] = column_of(box, q, externals, count);
        matrix->value[entry] = memcmp(p, q, sizeof q) == 0 ? 27.0 : -1.0;
        entry++;
      }
  matrix->row_start[++matrix->rows] = entry;
}

/* Makes the send lists: tells each owner which of its values we need, and learns from each neighbour what it
 * needs of us (the stencil is symmetric, so whom we ask also asks us). How many indices a request holds is
 * found by MPI_Probe. */
static void exchange_requests(struct matrix* matrix, const struct box* box,
                              const struct external* externals) {
  MPI_Request requests[kMaxNeighbours];
  long long* wanted[kMaxNeighbours];
  int from = 0;
  for (int k = 0; k < matrix->neighbours; k++) {
    struct neighbour* n = &matrix->neighbour[k];
    wanted[k] = allocate((size_t)n->recv_count, sizeof(long long));
    for (int i = 0; i < n->recv_count; i++) wanted[k][i] = externals[from + i].global;
    from += n->recv_count;
    MPI_Isend(wanted[k], n->recv_count, MPI_LONG_LONG, n->rank, kTagRequest, MPI_COMM_WORLD, &requests[k]);
  }
  for (int k = 0; k < matrix->neighbours; k++) {
    struct neighbour* n = &matrix->neighbour[k];
    MPI_Status status;
    MPI_Probe(n->rank, kTagRequest, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_LONG_LONG, &n->send_count);
    long long* asked = allocate((size_t)n->send_count, sizeof *asked);
    MPI_Recv(asked, n->send_count, MPI_LONG_LONG, n->rank, kTagRequest, MPI_COMM_WORLD, &status);
    n->send_list = allocate((size_t)n->send_count, sizeof(int));
    n->send_buffer = allocate((size_t)n->send_count, sizeof(double));
    for (int i = 0; i < n->send_count; i++) {
      int p[3] = {(int)(asked[i] % options.n[0]), (int)(asked[i] / options.n[0] % options.n[1]),
                  (int)(asked[i] / options.n[0] / options.n[1])};
      n->send_list[i] = local_index(box, p);
    }
    free(asked);
  }
  MPI_Waitall(matrix->neighbours, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < matrix->neighbours; k++) free(wanted[k]);
}

static void build(struct matrix* matrix, const struct box* box) {
  int own = box->n[0] * box->n[1] * box->n[2], count, p[3];
  struct external* externals = find_externals(box, &count);
  memset(matrix, 0, sizeof *matrix);
  matrix->columns = own + count;
  for (int i = 0; i < count; i++) {
    externals[i].index = own + i;
    if (i == 0 || externals[i].owner != externals[i - 1].owner)
      matrix->neighbour[matrix->neighbours++] =
          (struct neighbour){.rank = externals[i].owner, .recv_first = own + i};
    matrix->neighbour[matrix->neighbours - 1].recv_count++;
  }
  matrix->row_start = allocate((size_t)own + 1, sizeof(long long));
  matrix->column = allocate((size_t)own * kMaxRow, sizeof(int));
  matrix->value = allocate((size_t)own * kMaxRow, sizeof(double));
  matrix->row_start[0] = 0;
  for (p[2] = box->first[2]; p[2] < box->first[2] + box->n[2]; p[2]++)
    for (p[1] = box->first[1]; p[1] < box->first[1] + box->n[1]; p[1]++)
      for (p[0] = box->first[0]; p[0] < box->first[0] + box->n[0]; p[0]++)
        append_row(matrix, box, p, externals, count);
  exchange_requests(matrix, box, externals);
  free(externals);
}

static void destroy(struct matrix* matrix) {
  for (int k = 0; k < matrix->neighbours; k++) {
    free(matrix->neighbour[k].send_list);
    free(matrix->neighbour[k].send_buffer);
  }
  free(matrix->row_start);
  free(matrix->column);
  free(matrix->value);
}

/* --- The kernels
 * -------------------------------------------------------------------------------------------------------------------
 */

/* Brings the neighbours' values of x behind our own. */
static void exchange_halo(struct matrix* matrix, double* x) {
  MPI_Request requests[2 * kMaxNeighbours];
  int n = matrix->neighbours;
  for (int k = 0; k < n; k++) {
    struct neighbour* peer = &matrix->neighbour[k];
    MPI_Irecv(&x[peer->recv_first], peer->recv_count, MPI_DOUBLE, peer->rank, kTagHalo, MPI_COMM_WORLD,
              &requests[k]);
  }
  for (int k = 0; k < n; k++) {
    struct neighbour* peer = &matrix->neighbour[k];
    for (int i = 0; i < peer->send_count; i++) peer->send_buffer[i] = x[peer->send_list[i]];
    MPI_Isend(peer->send_buffer, peer->send_count, MPI_DOUBLE, peer->rank, kTagHalo, MPI_COMM_WORLD,
              &requests[n + k]);
  }
  MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
}

static void sparse_times_vector(struct matrix* matrix, double* x, double* y) {
  double start = options.clock();
  exchange_halo(matrix, x);
  times.halo += options.clock() - start;
  start = options.clock();
  for (int row = 0; row < matrix->rows; row++) {
    double sum = 0;
    for (long long k = matrix->row_start[row]; k < matrix->row_start[row + 1]; k++)
      sum += matrix->value[k] * x[matrix->column[k]];
    y[row] = sum;
  }
  times.spmv += options.clock() - start;
}

static double dot(int n, const double* x, const double* y) {
  double start = options.clock(), local = 0, global;
  for (int i = 0; i < n; i++) local += x[i] * y[i];
  double reduce = options.clock();
  MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double end = options.clock();
  times.allreduce += end - reduce;
  times.dot += end - start;
  return global;
}

/* w = alpha x + beta y; w may be x or y. */
static void waxpby(int n, double alpha, const double* x, double beta, const double* y, double* w) {
  double start = options.clock();
  if (alpha == 1.0) {
    for (int i = 0; i < n; i++) w[i] = x[i] + beta * y[i];
  } else {
    for (int i = 0; i < n; i++) w[i] = alpha * x[i] + beta * y[i];
  }
  times.waxpby += options.clock() - start;
}

/* Solves A x = b from x = 0; returns the iterations done and the norm of the last residual. */
static int solve(struct matrix* matrix, const double* b, double* x, double* residual) {
  int n = matrix->rows, iteration = 0;
  double *r = allocate((size_t)n, sizeof(double)), *product = allocate((size_t)n, sizeof(double));
  double* p = allocate((size_t)matrix->columns, sizeof(double));
  memset(x, 0, (size_t)n * sizeof *x);
  memcpy(r, b, (size_t)n * sizeof *r);
  memcpy(p, b, (size_t)n * sizeof *p);
  double rr = dot(n, r, r);
  while (iteration < options.iterations && sqrt(rr) > options.tolerance) {
    if (iteration > 0) {
      double old = rr;
      rr = dot(n, r, r);
      waxpby(n, 1.0, r, rr / old, p, p);
    }
    sparse_times_vector(matrix, p, product);
    double alpha = rr / dot(n, p, product);
    waxpby(n, 1.0, x, alpha, p, x);
    waxpby(n, 1.0, r, -alpha, product, r);
    iteration++;
  }
  *residual = sqrt(dot(n, r, r));
  free(r);
  free(product);
  free(p);
  return iteration;
}

/* --- Report
 * ------------------------------------------------------------------------------------------------------------------------
 */

/* What rank 0 reports about itself, with the operations of the whole problem (as HPCCG does). */
static void report(int iterations, double nonzeros) {
  double points = (double)options.n[0] * options.n[1] * options.n[2];
  double dot_ops = 2 * points * (2 * iterations + 1), waxpby_ops = 2 * points * (3 * iterations - 1),
         spmv_ops = 2 * nonzeros * iterations;
  double total_ops = dot_ops + waxpby_ops + spmv_ops;
  printf("cg27: %d x %d x %d points, %d ranks as %d x %d x %d, %d iterations\n", options.n[0], options.n[1],
         options.n[2], world_size, parts[0], parts[1], parts[2], iterations);
  printf("time  total %.6f  ddot %.6f  waxpby %.6f  sparsemv %.6f  halo %.6f  allreduce %.6f s\n",
         times.total, times.dot, times.waxpby, times.spmv, times.halo, times.allreduce);
  printf("rate  total %.1f  ddot %.1f  waxpby %.1f  sparsemv %.1f MFLOP/s\n", 1e-6 * total_ops / times.total,
         1e-6 * dot_ops / times.dot, 1e-6 * waxpby_ops / times.waxpby,
         1e-6 * spmv_ops / (times.spmv + times.halo));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  int code = parse(argc, argv);
  if (code >= 0) {
    MPI_Finalize();
    return code;
  }

  divide();
  struct box box = box_of(world_rank);
  struct matrix matrix;
  build(&matrix, &box);
  double *x = allocate((size_t)matrix.rows, sizeof *x), *b = allocate((size_t)matrix.rows, sizeof *b);
  for (int row = 0; row < matrix.rows; row++)
    b[row] = 27.0 - (double)(matrix.row_start[row + 1] - matrix.row_start[row] - 1);

  MPI_Barrier(MPI_COMM_WORLD);
  double start = options.clock(), residual;
  int iterations = solve(&matrix, b, x, &residual);
  times.total = options.clock() - start;

  double local[2] = {(double)matrix.row_start[matrix.rows], 0}, error = 0, nonzeros = 0;
  for (int row = 0; row < matrix.rows; row++) local[1] = fmax(local[1], fabs(x[row] - 1.0));
  MPI_Reduce(&local[0], &nonzeros, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&local[1], &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int passed = error < (options.iterations >= 50 && options.tolerance == 0 ? 1e-6 : 1.0);
  if (world_rank == 0) {
    report(iterations, nonzeros);
    printf("result iterations %d\nresult nonzeros %.0f\n", iterations, nonzeros);
    printf("check  %s (residual %.2e, largest error of the solution %.2e)\n", passed ? "passed" : "FAILED",
           residual, error);
  }
  destroy(&matrix);
  free(x);
  free(b);
  MPI_Finalize();
  return passed ? 0 : 1;
}
