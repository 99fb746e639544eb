// One-sided communication that races, or does not, by its name; for tests/check. The marks "@name" say where.
// A call and its mark stay on one line.
// clang-format off
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static int* memory;  // of the window: 16 ints of each of three ranks
static MPI_Win win;
static int one = 1, got[8];

static void put(int target, int place) { MPI_Put(&one, 1, MPI_INT, target, place, 1, MPI_INT, win); }          // @put
static void get(int target, int place) { MPI_Get(&got[place % 8], 1, MPI_INT, target, place, 1, MPI_INT, win); }  // @get

// ---- Races: of rank 1 (or what it does twice) and rank 2, about place 3 of rank 0.

static void no_order(void) {
  MPI_Win_lock_all(0, win);
  if (rank != 0) put(0, 3);
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);
}

static void shared_locks(void) {
  if (rank == 0) return;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  if (rank == 1) put(0, 3); else get(0, 3);
  MPI_Win_unlock(0, win);
}

static void not_flushed(void) {
  MPI_Win_lock_all(0, win);
  if (rank == 1) put(0, 3);
  MPI_Win_flush(2, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) get(0, 3);
  MPI_Win_unlock_all(win);
}

static void flushed_here_only(void) {
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    put(0, 3);
    MPI_Win_flush_local(0, win);
    get(0, 3);
  }
  MPI_Win_unlock_all(win);
}

static void put_by_request(void) {
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    MPI_Request request;
    MPI_Rput(&one, 1, MPI_INT, 0, 3, 1, MPI_INT, win, &request);  // @rput
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    get(0, 3);
  }
  MPI_Win_unlock_all(win);
}

static void one_exposure(void) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int zero[] = {0}, others[] = {1, 2};
  if (rank == 0) {
    MPI_Group_incl(world, 2, others, &group);
    MPI_Win_post(group, 0, win);
    MPI_Win_wait(win);
  } else {
    MPI_Group_incl(world, 1, zero, &group);
    MPI_Win_start(group, 0, win);
    put(0, 3);
    MPI_Win_complete(win);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

static void message_too_early(void) {
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    MPI_Send(&one, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    put(0, 3);
    MPI_Win_flush(0, win);
  } else if (rank == 2) {
    MPI_Recv(got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    get(0, 3);
    MPI_Win_flush(0, win);
  }
  MPI_Win_unlock_all(win);
}

static void barrier_of_others(void) {
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &pair);
  MPI_Win_lock_all(0, win);
  if (rank == 1) put(0, 3);
  MPI_Win_flush_all(win);
  MPI_Barrier(pair);  // ranks 0 and 1
  if (rank == 2) get(0, 3);
  MPI_Win_unlock_all(win);
  MPI_Comm_free(&pair);
}

static void buffer_in_use(void) {
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    MPI_Get(got, 1, MPI_INT, 0, 3, 1, MPI_INT, win);      // @first_get
    MPI_Get(got, 1, MPI_INT, 2, 5, 1, MPI_INT, win);      // @second_get
  }
  MPI_Win_unlock_all(win);
}

// ---- What is in order: rank 1 puts, in some way rank 2 knows, and then gets.

static void by_barriers(void) {
  for (int i = 0; i < 3; ++i) {
    MPI_Win_lock_all(0, win);
    if (rank == 1) put(0, 3);
    MPI_Win_flush(0, win);
    if (i == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (i == 1) {
      MPI_Request request;
      MPI_Ibarrier(MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Allreduce(MPI_IN_PLACE, &got[7], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 2) get(0, 3);
    MPI_Win_unlock_all(win);
    MPI_Bcast(got, 1, MPI_INT, 2, MPI_COMM_WORLD);
  }
}

// Through rank 0, which is elsewhere with two node processes.
static void by_messages(void) {
  MPI_Request requests[2];
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    put(0, 3);
    MPI_Win_flush(0, win);
    MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Ssend(&one, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
  } else if (rank == 0) {
    MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(&one, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
  } else {
    int which;
    MPI_Irecv(got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Probe(1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    get(0, 3);
    MPI_Win_flush(0, win);
    MPI_Recv(got + 1, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitany(1, requests, &which, MPI_STATUS_IGNORE);
    put(0, 3);
  }
  MPI_Win_unlock_all(win);
}

static void by_locks(void) {
  if (rank != 0) {
    for (int i = 0; i < 5; ++i) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      put(0, 3);
      MPI_Win_flush(0, win);
      get(0, 3);
      MPI_Win_unlock(0, win);
    }
  }
}

static void by_exposures(void) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int zero[] = {0};
  for (int turn = 1; turn <= 2; ++turn) {
    if (rank == 0) {
      MPI_Group_incl(world, 1, &turn, &group);
      MPI_Win_post(group, 0, win);
      int done = 0;
      while (turn == 2 && !done) MPI_Win_test(win, &done);
      if (turn == 1) MPI_Win_wait(win);
      MPI_Group_free(&group);
    } else if (rank == turn) {
      MPI_Group_incl(world, 1, zero, &group);
      MPI_Win_start(group, 0, win);
      put(0, 3);
      MPI_Win_complete(win);
      MPI_Group_free(&group);
    }
  }
  MPI_Group_free(&world);
}

static void by_atomics(void) {
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    put(0, 3);
    MPI_Win_flush(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
  } else if (rank == 2) {
    int flag = 0;
    while (flag == 0) {
      MPI_Fetch_and_op(NULL, &flag, MPI_INT, 0, 5, MPI_NO_OP, win);
      MPI_Win_flush(0, win);
    }
    get(0, 3);
  }
  MPI_Win_unlock_all(win);
}

// Rank 2 looks at its own memory.
static void by_memory(void) {
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    put(0, 3);
    MPI_Win_flush(0, win);
    put(2, 5);
    MPI_Win_flush(2, win);
  } else if (rank == 2) {
    volatile int* flag = memory + 5;
    while (*flag == 0) MPI_Win_sync(win);
    MPI_Win_sync(win);
    get(0, 3);
  }
  MPI_Win_unlock_all(win);
}

static void by_requests(void) {
  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    MPI_Request request;
    MPI_Rget(got, 1, MPI_INT, 0, 3, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    put(0, 3);
    MPI_Rput(got, 1, MPI_INT, 0, 4, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get(got, 1, MPI_INT, 2, 3, 1, MPI_INT, win);
  }
  MPI_Win_unlock_all(win);
}

static void many(void) {
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 3000; ++i) {
    MPI_Accumulate(&one, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM, win);
    put(0, 4 + rank);
    MPI_Win_flush(0, win);
  }
  MPI_Win_unlock_all(win);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"no_order", no_order}, {"shared_locks", shared_locks}, {"not_flushed", not_flushed}, {"flushed_here_only", flushed_here_only},
      {"put_by_request", put_by_request}, {"one_exposure", one_exposure}, {"message_too_early", message_too_early},
      {"barrier_of_others", barrier_of_others}, {"buffer_in_use", buffer_in_use}, {"by_barriers", by_barriers}, {"by_messages", by_messages},
      {"by_locks", by_locks}, {"by_exposures", by_exposures}, {"by_atomics", by_atomics}, {"by_memory", by_memory}, {"by_requests", by_requests},
      {"many", many},
  };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int argument = 1; argument < argc; ++argument) {
    MPI_Barrier(MPI_COMM_WORLD);
    memset(memory, 0, 16 * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
      if (strcmp(cases[i].name, argv[argument]) == 0) cases[i].run();
    }
  }
  MPI_Win_free(&win);
  return MPI_Finalize();
}
