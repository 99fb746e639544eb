/* heat2d: the heat equation u_t = u_xx + u_yy on the unit square, zero at the boundary, by the explicit
 * five-point stencil.
 *
 * The grid is divided over a two-dimensional cartesian communicator; a step exchanges one row or column with
 * each neighbour (columns through a strided derived type) and updates the interior. The start u = sin(pi x)
 * sin(pi y) is an eigenvector of the discrete Laplacian, so the exact discrete solution after any number of
 * steps is known, and the program checks itself against it.
 *
 *   mpirun -n 4 ./heat2d [--nx N] [--ny N] [--steps N] [--check-every N]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double kPi = 3.14159265358979323846;

struct options {
  int nx, ny;      /* interior points of the whole grid */
  int steps;       /* time steps */
  int check_every; /* steps between two evaluations of the residual; 0: only at the end */
};

/* The part of the grid that this rank owns, with a halo one point wide: u[(j) * (nx + 2) + i], 0 <= i <= nx +
 * 1, 0 <= j <= ny + 1. */
struct grid {
  MPI_Comm cart;
  int nx, ny;           /* owned points */
  int first_x, first_y; /* global index of the first owned point, counted from 1 */
  int left, right, down, up;
  MPI_Datatype row, column;
  double *u, *next;
};

static void usage(const char* program) {
  printf(
      "usage: %s [--nx N] [--ny N] [--steps N] [--check-every N]\n"
      "  --nx, --ny N       interior grid points of the whole problem (default 256 x 256)\n"
      "  --steps N          time steps (default 200)\n"
      "  --check-every N    print the residual every N steps (default 0: only at the end)\n",
      program);
}

static int positive(const char* text, const char* option, int rank) {
  char* end;
  long value = strtol(text, &end, 10);
  if (*end != '\0' || value < 0 || value > 1000000000) {
    if (rank == 0)
      fprintf(stderr, "heat2d: %s wants a number that is not negative, not '%s'\n", option, text);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return (int)value;
}

static int parse(int argc, char** argv, int rank, struct options* options) {
  *options = (struct options){256, 256, 200, 0};
  for (int i = 1; i < argc; i++) {
    int has_value = i + 1 < argc;
    if (strcmp(argv[i], "--nx") == 0 && has_value) {
      options->nx = positive(argv[i + 1], argv[i], rank), i++;
    } else if (strcmp(argv[i], "--ny") == 0 && has_value) {
      options->ny = positive(argv[i + 1], argv[i], rank), i++;
    } else if (strcmp(argv[i], "--steps") == 0 && has_value) {
      options->steps = positive(argv[i + 1], argv[i], rank), i++;
    } else if (strcmp(argv[i], "--check-every") == 0 && has_value) {
      options->check_every = positive(argv[i + 1], argv[i], rank), i++;
    } else {
      if (rank == 0) usage(argv[0]);
      return strcmp(argv[i], "--help") == 0 ? 0 : 2;
    }
  }
  return -1;
}

/* Divides n points over `parts`: how many the part `index` gets, and where they start (from 0). */
static int share(int n, int parts, int index, int* first) {
  int base = n / parts, rest = n % parts;
  *first = index * base + (index < rest ? index : rest);
  return base + (index < rest ? 1 : 0);
}

static double* allocate(const struct grid* grid) {
  double* memory = calloc((size_t)(grid->nx + 2) * (size_t)(grid->ny + 2), sizeof(double));
  if (memory == NULL) {
    fprintf(stderr, "heat2d: no memory for a grid of %d x %d points\n", grid->nx, grid->ny);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static void create_grid(const struct options* options, struct grid* grid) {
  int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid->cart);
  MPI_Comm_rank(grid->cart, &rank);
  MPI_Cart_coords(grid->cart, rank, 2, coords);
  if ((options->ny < dims[0] || options->nx < dims[1])) {
    if (rank == 0)
      fprintf(stderr, "heat2d: %d x %d points are too few for %d x %d ranks\n", options->nx, options->ny,
              dims[1], dims[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Cart_shift(grid->cart, 0, 1, &grid->down, &grid->up);
  MPI_Cart_shift(grid->cart, 1, 1, &grid->left, &grid->right);
  grid->ny = share(options->ny, dims[0], coords[0], &grid->first_y);
  grid->nx = share(options->nx, dims[1], coords[1], &grid->first_x);
  grid->first_x++;
  grid->first_y++;
  MPI_Type_contiguous(grid->nx, MPI_DOUBLE, &grid->row);
  MPI_Type_vector(grid->ny, 1, grid->nx + 2, MPI_DOUBLE, &grid->column);
  MPI_Type_commit(&grid->row);
  MPI_Type_commit(&grid->column);
  grid->u = allocate(grid);
  grid->next = allocate(grid);
}

static void free_grid(struct grid* grid) {
  free(grid->u);
  free(grid->next);
  MPI_Type_free(&grid->row);
  MPI_Type_free(&grid->column);
  MPI_Comm_free(&grid->cart);
}

static double initial(const struct options* options, int global_x, int global_y) {
  return sin(kPi * global_x / (options->nx + 1)) * sin(kPi * global_y / (options->ny + 1));
}

static void set_initial(const struct options* options, struct grid* grid) {
  for (int j = 1; j <= grid->ny; j++)
    for (int i = 1; i <= grid->nx; i++)
      grid->u[j * (grid->nx + 2) + i] = initial(options, grid->first_x + i - 1, grid->first_y + j - 1);
}

/* Fills the halo of u with the neighbours' boundary points. At the boundary of the domain the neighbour is
 * MPI_PROC_NULL: the halo keeps its zeros. */
static void exchange(struct grid* grid) {
  int w = grid->nx + 2, top = grid->ny * w, far = grid->nx;
  double* u = grid->u;
  MPI_Request requests[8];
  MPI_Irecv(&u[1], 1, grid->row, grid->down, 0, grid->cart, &requests[0]);
  MPI_Irecv(&u[top + w + 1], 1, grid->row, grid->up, 1, grid->cart, &requests[1]);
  MPI_Irecv(&u[w], 1, grid->column, grid->left, 2, grid->cart, &requests[2]);
  MPI_Irecv(&u[w + far + 1], 1, grid->column, grid->right, 3, grid->cart, &requests[3]);
  MPI_Isend(&u[top + 1], 1, grid->row, grid->up, 0, grid->cart, &requests[4]);
  MPI_Isend(&u[w + 1], 1, grid->row, grid->down, 1, grid->cart, &requests[5]);
  MPI_Isend(&u[w + far], 1, grid->column, grid->right, 2, grid->cart, &requests[6]);
  MPI_Isend(&u[w + 1], 1, grid->column, grid->left, 3, grid->cart, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* One explicit step with weights rx = dt/dx^2 and ry = dt/dy^2; returns the largest change of a point (the
 * residual). */
static double step(struct grid* grid, double rx, double ry) {
  int w = grid->nx + 2;
  double largest = 0;
  for (int j = 1; j <= grid->ny; j++) {
    const double *here = &grid->u[j * w], *below = here - w, *above = here + w;
    double* out = &grid->next[j * w];
    for (int i = 1; i <= grid->nx; i++) {
      double change =
          rx * (here[i - 1] - 2 * here[i] + here[i + 1]) + ry * (below[i] - 2 * here[i] + above[i]);
      out[i] = here[i] + change;
      if (fabs(change) > largest) largest = fabs(change);
    }
  }
  double* swap = grid->u;
  grid->u = grid->next;
  grid->next = swap;
  return largest;
}

/* Largest difference between u and factor * u(0), over all ranks. */
static double largest_error(const struct options* options, const struct grid* grid, double factor) {
  double local = 0, global;
  for (int j = 1; j <= grid->ny; j++)
    for (int i = 1; i <= grid->nx; i++) {
      double exact = factor * initial(options, grid->first_x + i - 1, grid->first_y + j - 1);
      double error = fabs(grid->u[j * (grid->nx + 2) + i] - exact);
      if (error > local) local = error;
    }
  MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_MAX, grid->cart);
  return global;
}

int main(int argc, char** argv) {
  int rank, size;
  struct options options;
  struct grid grid;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int code = parse(argc, argv, rank, &options);
  if (code >= 0) {
    MPI_Finalize();
    return code;
  }

  create_grid(&options, &grid);
  set_initial(&options, &grid);
  double dx = 1.0 / (options.nx + 1), dy = 1.0 / (options.ny + 1);
  double dt = 0.2 * (dx < dy ? dx * dx : dy * dy); /* stable: dt (1/dx^2 + 1/dy^2) <= 1/2 */
  double rx = dt / (dx * dx), ry = dt / (dy * dy);

  MPI_Barrier(grid.cart);
  double start = MPI_Wtime(), residual = 0;
  for (int n = 1; n <= options.steps; n++) {
    exchange(&grid);
    residual = step(&grid, rx, ry);
    if (options.check_every > 0 && n % options.check_every == 0) {
      double largest;
      MPI_Allreduce(&residual, &largest, 1, MPI_DOUBLE, MPI_MAX, grid.cart);
      if (rank == 0) printf("step %d: residual %.6e\n", n, largest);
    }
  }
  double elapsed = MPI_Wtime() - start, slowest, largest;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, grid.cart);
  MPI_Allreduce(&residual, &largest, 1, MPI_DOUBLE, MPI_MAX, grid.cart);

  /* Each step multiplies the start by 1 - 4 rx sin^2(pi dx / 2) - 4 ry sin^2(pi dy / 2); the continuous
   * solution is exp(-2 pi^2 t). */
  double sx = sin(kPi * dx / 2), sy = sin(kPi * dy / 2);
  double discrete =
      largest_error(&options, &grid, pow(1 - 4 * rx * sx * sx - 4 * ry * sy * sy, options.steps));
  double continuous = largest_error(&options, &grid, exp(-2 * kPi * kPi * dt * options.steps));
  int passed = discrete < 1e-10;
  if (rank == 0) {
    printf("heat2d: %d x %d points, %d steps, %d ranks: %.3f s, %.1f Mpoints/s\n", options.nx, options.ny,
           options.steps, size, slowest, 1e-6 * options.nx * options.ny * options.steps / slowest);
    printf("result residual %.12e\n", largest);
    printf("result error_against_analytic_solution %.9e\n", continuous);
    printf("check  %s (error against the exact discrete solution: %.1e)\n", passed ? "passed" : "FAILED",
           discrete);
  }
  free_grid(&grid);
  MPI_Finalize();
  return passed ? 0 : 1;
}
