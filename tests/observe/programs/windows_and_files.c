/* One-sided operations and files whose number and bytes the test knows; "@name" marks the line of a call. Each rank's
 * target is its right neighbour. Arguments: the path of the file, and how many seconds the last rank has to wait for a
 * lock. Prints lines "what RANK BEGIN END": when each rank has used the window and the file, when the last one has asked
 * for the lock, and until when the other has kept it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 5, kWords = 1000, kBlock = 4096, kLarge = 8 << 20 };

static int rank, size, right;
static int words[kWords], others[kWords];
static char block[2 * kBlock], large[kLarge];

static void epochs(MPI_Win win) {
  MPI_Datatype every_third;
  MPI_Request requests[2];
  MPI_Type_vector(7, 1, 3, MPI_INT, &every_third);
  MPI_Type_commit(&every_third);
  MPI_Win_fence(0, win); /* @fence */
  for (int i = 0; i < kRounds; i++)
    MPI_Put(words, 100 + rank, MPI_INT, right, 0, 100 + rank, MPI_INT, win);        /* @put */
  MPI_Put_c(words, 1, every_third, right, 0, 7, MPI_INT, win);                      /* @vector */
  MPI_Put(words, 10, MPI_INT, MPI_PROC_NULL, 0, 10, MPI_INT, win);                  /* @nobody */
  MPI_Accumulate(words, 20, MPI_INT, right, 200, 20, MPI_INT, MPI_SUM, win);        /* @accumulate */
  MPI_Win_fence(0, win);                                                            /* @refence */
  MPI_Win_lock_all(0, win);                                                         /* @lock_all */
  MPI_Get(others, 50, MPI_INT, right, 0, 50, MPI_INT, win);                         /* @get */
  MPI_Get_accumulate(words, 6, MPI_INT, others, 6, MPI_INT, right, 300, 6, MPI_INT, /* @getacc */
                     MPI_SUM, win);
  MPI_Fetch_and_op(words, others, MPI_LONG, right, 400, MPI_SUM, win);           /* @fetch */
  MPI_Compare_and_swap(words, words, others, MPI_SHORT, right, 450, win);        /* @swap */
  MPI_Win_flush(right, win);                                                     /* @flush */
  MPI_Rput(words, 30, MPI_INT, right, 500, 30, MPI_INT, win, &requests[0]);      /* @rput */
  MPI_Rget(others, 40, MPI_SHORT, right, 600, 40, MPI_SHORT, win, &requests[1]); /* @rget */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(win); /* @unlock_all */
  MPI_Type_free(&every_third);
}

static void stamp(const char* what, double begin) {
  printf("%s %d %.9f %.9f\n", what, rank, begin, MPI_Wtime());
}

/* The one before the last rank keeps the last one's memory locked for some time after that has been about to ask. */
static void one_waits(MPI_Win win, double seconds) {
  const int holder = size - 2, asker = size - 1;
  if (rank == holder) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, asker, 0, win); /* @hold */
    MPI_Send(NULL, 0, MPI_INT, asker, 1, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, asker, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (double since = MPI_Wtime(); MPI_Wtime() - since < seconds;) {
    }
    stamp("kept", 0);
    MPI_Win_unlock(asker, win); /* @release */
  } else if (rank == asker) {
    MPI_Recv(NULL, 0, MPI_INT, holder, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, holder, 1, MPI_COMM_WORLD);
    stamp("asked", MPI_Wtime());
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, asker, 0, win); /* @ask */
    MPI_Win_unlock(asker, win);                      /* @give */
  }
}

static void file(const char* path) {
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  double begin = MPI_Wtime();
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  const MPI_Offset mine = (MPI_Offset)rank * kBlock;
  MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file); /* @open */
  memset(block, rank, sizeof block);
  for (int i = 0; i < kRounds; i++)
    MPI_File_write_at(file, mine, block, kBlock - rank, MPI_CHAR, MPI_STATUS_IGNORE); /* @write */
  MPI_File_write_at_all(file, mine, block, kBlock / 4, MPI_INT, MPI_STATUS_IGNORE);   /* @write_all */
  MPI_File_iwrite_at(file, mine, block, 100, MPI_INT, &request);                      /* @iwrite */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_set_view(file, mine, MPI_SHORT, MPI_SHORT, "native", MPI_INFO_NULL); /* @view */
  MPI_File_read(file, block, 11, MPI_SHORT, MPI_STATUS_IGNORE);                 /* @read */
  MPI_File_read_all_begin(file, block, 12, MPI_SHORT);                          /* @begin */
  MPI_File_read_all_end(file, block, MPI_STATUS_IGNORE);                        /* @end */
  MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
  MPI_File_write_ordered(file, block, 13, MPI_CHAR, MPI_STATUS_IGNORE);  /* @ordered */
  MPI_File_write_shared_c(file, block, 14, MPI_CHAR, MPI_STATUS_IGNORE); /* @shared */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);                                                                           /* @sync */
  MPI_File_read_at(file, (size - 1) * (MPI_Offset)kBlock, block, 2 * kBlock, MPI_CHAR, &status); /* @short */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_write_at(file, mine << 12, large, kLarge, MPI_CHAR, MPI_STATUS_IGNORE); /* @large */
  MPI_File_close(&file);                                                           /* @close */
  stamp("file", begin);
}

int main(int argc, char** argv) {
  MPI_Win win;
  int* memory;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  double begin = MPI_Wtime();
  MPI_Win_allocate(sizeof words, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win); /* @allocate */
  epochs(win);
  MPI_Barrier(MPI_COMM_WORLD);
  one_waits(win, atof(argv[2]));
  MPI_Win_free(&win); /* @free */
  stamp("window", begin);
  file(argv[1]);
  MPI_Finalize();
  return 0;
}
