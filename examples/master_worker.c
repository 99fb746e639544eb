/* master_worker: the area of the Mandelbrot set by self-scheduling.
 *
 * Rows of the picture cost very different amounts of time, so a master hands out one row at a time to whoever
 * asks (MPI_ANY_SOURCE) and collects the results. With one rank the master does all rows itself. The result
 * does not depend on who computed what.
 *
 *   mpirun -n 8 ./master_worker [--width N] [--height N] [--iterations N] [--picture FILE]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTagRow = 1, kTagStop = 2, kTagResult = 3 };

struct options {
  int width, height, iterations;
  const char* picture; /* PGM file to write, or NULL */
};

/* What the master knows in the end. */
struct outcome {
  int* rows_done_by; /* rows that each rank computed */
  int* seen;         /* how often each row came back */
  long long inside;  /* points that never escaped */
  long long total;   /* iterations of all points */
  unsigned char* picture;
};

static void usage(const char* program) {
  printf(
      "usage: %s [--width N] [--height N] [--iterations N] [--picture FILE]\n"
      "  --width, --height N   points of the picture of [-2, 0.5] x [-1.25, 1.25] (default 400 x 400)\n"
      "  --iterations N        iterations after which a point counts as inside (default 500)\n"
      "  --picture FILE        write the picture as PGM\n",
      program);
}

static int parse(int argc, char** argv, int rank, struct options* options) {
  *options = (struct options){400, 400, 500, NULL};
  for (int i = 1; i < argc; i++) {
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (value != NULL && strcmp(argv[i], "--width") == 0) {
      options->width = atoi(value);
    } else if (value != NULL && strcmp(argv[i], "--height") == 0) {
      options->height = atoi(value);
    } else if (value != NULL && strcmp(argv[i], "--iterations") == 0) {
      options->iterations = atoi(value);
    } else if (value != NULL && strcmp(argv[i], "--picture") == 0) {
      options->picture = value;
    } else {
      if (rank == 0) usage(argv[0]);
      return strcmp(argv[i], "--help") == 0 ? 0 : 2;
    }
    i++;
  }
  if (options->width < 1 || options->height < 1 || options->iterations < 1) {
    if (rank == 0) fprintf(stderr, "%s: every number must be positive\n", argv[0]);
    return 2;
  }
  return -1;
}

/* Iterations that each point of a row took, into row[0..width). */
static void compute_row(const struct options* options, int y, int* row) {
  double ci = -1.25 + 2.5 * (y + 0.5) / options->height;
  for (int x = 0; x < options->width; x++) {
    double cr = -2.0 + 2.5 * (x + 0.5) / options->width, zr = 0, zi = 0;
    int n = 0;
    while (n < options->iterations && zr * zr + zi * zi <= 4.0) {
      double t = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = t;
      n++;
    }
    row[x] = n;
  }
}

/* Message of a result: the row's number, then its points. */
static void account(const struct options* options, struct outcome* outcome, const int* message, int worker) {
  int y = message[0];
  outcome->rows_done_by[worker]++;
  outcome->seen[y]++;
  for (int x = 0; x < options->width; x++) {
    int n = message[1 + x];
    outcome->total += n;
    outcome->inside += n == options->iterations;
    outcome->picture[(size_t)y * (size_t)options->width + (size_t)x] =
        (unsigned char)(255 - 255 * (long)n / options->iterations);
  }
}

static void worker(const struct options* options) {
  int* message = malloc((size_t)(options->width + 1) * sizeof(int));
  MPI_Status status;
  for (;;) {
    int y;
    MPI_Recv(&y, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kTagStop) break;
    message[0] = y;
    compute_row(options, y, message + 1);
    MPI_Send(message, options->width + 1, MPI_INT, 0, kTagResult, MPI_COMM_WORLD);
  }
  free(message);
}

static void master(const struct options* options, int size, struct outcome* outcome) {
  int* message = malloc((size_t)(options->width + 1) * sizeof(int));
  int next = 0, working = 0;
  for (int rank = 1; rank < size; rank++) {
    int tag = next < options->height ? kTagRow : kTagStop;
    MPI_Send(&next, 1, MPI_INT, rank, tag, MPI_COMM_WORLD);
    if (tag == kTagRow) next++, working++;
  }
  while (working > 0) {
    MPI_Status status;
    MPI_Recv(message, options->width + 1, MPI_INT, MPI_ANY_SOURCE, kTagResult, MPI_COMM_WORLD, &status);
    account(options, outcome, message, status.MPI_SOURCE);
    int tag = next < options->height ? kTagRow : kTagStop;
    MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD);
    if (tag == kTagRow) {
      next++;
    } else {
      working--;
    }
  }
  for (; next < options->height; next++) { /* only with a single rank */
    message[0] = next;
    compute_row(options, next, message + 1);
    account(options, outcome, message, 0);
  }
  free(message);
}

static void write_picture(const struct options* options, const struct outcome* outcome) {
  FILE* file = fopen(options->picture, "wb");
  if (file == NULL) {
    perror(options->picture);
    return;
  }
  fprintf(file, "P5\n%d %d\n255\n", options->width, options->height);
  fwrite(outcome->picture, 1, (size_t)options->width * (size_t)options->height, file);
  fclose(file);
}

static int report(const struct options* options, const struct outcome* outcome, int size, double elapsed) {
  double area = 6.25 * (double)outcome->inside / ((double)options->width * options->height);
  int complete = 1, least = options->height, most = 0;
  for (int y = 0; y < options->height; y++) complete &= outcome->seen[y] == 1;
  for (int rank = size > 1; rank < size; rank++) {
    if (outcome->rows_done_by[rank] < least) least = outcome->rows_done_by[rank];
    if (outcome->rows_done_by[rank] > most) most = outcome->rows_done_by[rank];
  }
  /* The area of the set is 1.5066; a coarse picture and few iterations make it larger. */
  int accurate = options->iterations < 300 || options->width < 200 || options->height < 200 ||
                 fabs(area - 1.5066) < 0.05;
  printf("master_worker: %d x %d points, %d ranks: %.3f s, %.1f Miterations/s; %d to %d rows per worker\n",
         options->width, options->height, size, elapsed, 1e-6 * (double)outcome->total / elapsed, least,
         most);
  printf("result iterations %lld\nresult inside %lld\nresult area %.9f\n", outcome->total, outcome->inside,
         area);
  printf("check  %s\n", complete && accurate ? "passed"
                        : complete           ? "FAILED (area)"
                                             : "FAILED (a row is missing or came twice)");
  return complete && accurate ? 0 : 1;
}

int main(int argc, char** argv) {
  struct options options;
  int rank, size, code;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  code = parse(argc, argv, rank, &options);
  if (code >= 0) {
    MPI_Finalize();
    return code;
  }

  code = 0;
  if (rank == 0) {
    struct outcome outcome = {calloc((size_t)size, sizeof(int)), calloc((size_t)options.height, sizeof(int)),
                              0, 0, malloc((size_t)options.width * (size_t)options.height)};
    double start = MPI_Wtime();
    master(&options, size, &outcome);
    code = report(&options, &outcome, size, MPI_Wtime() - start);
    if (options.picture != NULL) write_picture(&options, &outcome);
    free(outcome.rows_done_by);
    free(outcome.seen);
    free(outcome.picture);
  } else {
    worker(&options);
  }
  MPI_Finalize();
  return code;
}
