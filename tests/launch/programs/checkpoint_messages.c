/* checkpoint_messages DIRECTORY: messages and requests under way when the ranks are saved: persistent ones, receives without a message, messages
 * without a receive, large and small, on two communicators. `checkpoint_messages why WHAT DIRECTORY`: with one that is in the way. */
#include <mpi.h>
#include <mpix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLarge = 1 << 19 };
static int rank, size, left, right;

static void fill(int* data, int count, int seed) {
  for (int i = 0; i < count; i++) data[i] = seed * 7919 + i;
}
static void check(const int* data, int count, int seed, const char* what) {
  for (int i = 0; i < count; i++) {
    if (data[i] == seed * 7919 + i) continue;
    printf("rank %d: %s: %d is %d, not %d\n", rank, what, i, data[i], seed * 7919 + i);
    return;
  }
}
static void right_if(int good, const char* what) {
  if (!good) printf("rank %d: %s is wrong\n", rank, what);
}

static void messages(const char* directory) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int* const sent = malloc(4 * kLarge * sizeof *sent);
  int* const received = malloc(4 * kLarge * sizeof *received);
  int small[8][10], into[8][10];
  for (int i = 0; i < 8; i++) fill(small[i], 10, 100 * rank + i);
  fill(sent, 4 * kLarge, rank + 1);
  memset(into, 0, sizeof into);
  /* Persistent: one pair is inactive, of the other the receive has been started. */
  MPI_Request inactive[2], started[2], waiting[3], sends[6], done, free_soon;
  for (int i = 0; i < 2; i++) {
    MPI_Request* const pair = i ? started : inactive;
    MPI_Send_init(small[i], 10, MPI_INT, right, 10 + i, MPI_COMM_WORLD, &pair[0]);
    MPI_Recv_init(into[i], 10, MPI_INT, left, 10 + i, MPI_COMM_WORLD, &pair[1]);
  }
  MPI_Startall(2, inactive);
  MPI_Waitall(2, inactive, MPI_STATUSES_IGNORE);
  MPI_Start(&started[1]);
  /* Receives: the order of posting counts. */
  MPI_Irecv(into[2], 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &waiting[0]);
  MPI_Irecv(into[3], 10, MPI_INT, left, 3, other, &waiting[1]);
  MPI_Irecv(into[4], 10, MPI_INT, left, MPI_ANY_TAG, other, &waiting[2]);
  /* Messages: the order of sending counts. */
  MPI_Datatype column;
  MPI_Type_vector(kLarge, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Isend(sent, 1, column, right, 20, MPI_COMM_WORLD, &sends[0]);
  MPI_Type_free(&column);
  MPI_Isend(small[5], 10, MPI_INT, right, 20, MPI_COMM_WORLD, &sends[1]);
  MPI_Isend(sent + 2 * kLarge, kLarge, MPI_INT, right, 20, MPI_COMM_WORLD, &sends[2]);
  MPI_Isend(small[6], 10, MPI_INT, rank, 21, MPI_COMM_WORLD, &sends[3]);
  MPI_Isend(sent + kLarge, kLarge, MPI_INT, rank, 21, MPI_COMM_WORLD, &sends[4]);
  MPI_Isend(NULL, 0, MPI_INT, right, 22, MPI_COMM_WORLD, &sends[5]);
  MPI_Isend(sent + 3 * kLarge, kLarge, MPI_INT, right, 23, MPI_COMM_WORLD, &free_soon);
  MPI_Request_free(&free_soon);
  const int place = kLarge * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
  void* const attached = malloc(place);
  MPI_Buffer_attach(attached, place);
  MPI_Bsend(sent, kLarge, MPI_INT, right, 24, MPI_COMM_WORLD);
  /* One that is done, and not waited for. */
  MPI_Irecv(into[7], 10, MPI_INT, rank, 25, MPI_COMM_WORLD, &done);
  MPI_Send(small[7], 10, MPI_INT, rank, 25, MPI_COMM_WORLD);

  MPIX_Checkpoint(directory);

  int restarted, flag, count;
  MPIX_Restarted(&restarted);
  if (rank == 0) printf("%s\n", restarted ? "restarted" : "saved");
  MPI_Status status;
  MPI_Wait(&done, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  right_if(status.MPI_SOURCE == rank && status.MPI_TAG == 25 && count == 10, "the status of what was done");
  check(into[7], 10, 100 * rank + 7, "what was done");
  MPI_Iprobe(left, 20, MPI_COMM_WORLD, &flag, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  right_if(flag && count == kLarge, "the first message");
  MPI_Recv(received, kLarge, MPI_INT, left, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kLarge; i++) right_if(received[i] == (left + 1) * 7919 + 2 * i, "a column");
  MPI_Recv(into[5], 10, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(into[5], 10, 100 * left + 5, "the second message");
  MPI_Recv(received, kLarge, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  right_if(status.MPI_TAG == 20 && received[5] == (left + 1) * 7919 + 2 * kLarge + 5, "the third message");
  MPI_Recv(into[6], 10, MPI_INT, rank, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(into[6], 10, 100 * rank + 6, "a message to itself");
  MPI_Recv(received, kLarge, MPI_INT, rank, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  right_if(received[1] == (rank + 1) * 7919 + kLarge + 1, "a large message to itself");
  MPI_Recv(NULL, 0, MPI_INT, left, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(received, kLarge, MPI_INT, left, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  right_if(received[2] == (left + 1) * 7919 + 3 * kLarge + 2, "what nobody waits for");
  MPI_Recv(received, kLarge, MPI_INT, left, 24, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(received, kLarge, left + 1, "a buffered message");
  MPI_Waitall(6, sends, MPI_STATUSES_IGNORE);
  void* detached;
  MPI_Bsend(sent, 10, MPI_INT, rank, 26, MPI_COMM_WORLD);
  MPI_Recv(received, 10, MPI_INT, rank, 26, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&detached, &count);
  right_if(detached == attached && count == place, "the buffer");
  /* Nothing has come to these. */
  MPI_Testall(3, waiting, &flag, MPI_STATUSES_IGNORE);
  right_if(!flag, "a receive without a message");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 2; i < 5; i++) MPI_Send(small[i], 10, MPI_INT, right, i == 2 ? 2 : 3, other);
  MPI_Waitall(3, waiting, MPI_STATUSES_IGNORE);
  for (int i = 2; i < 5; i++) check(into[i], 10, 100 * left + i, "a posted receive");
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 2; i++) fill(small[i], 10, 100 * rank + i + round);
    MPI_Start(&started[0]);
    if (round) MPI_Start(&started[1]);
    MPI_Startall(2, inactive);
    MPI_Waitall(2, started, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, inactive, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) check(into[i], 10, 100 * left + i + round, "a persistent receive");
  }
  for (int i = 0; i < 2; i++) MPI_Request_free(&started[i]), MPI_Request_free(&inactive[i]);
  MPI_Comm_free(&other);
  printf("rank %d: at the end\n", rank);
}

static void in_the_way(const char* what, const char* directory) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  int number = 1, got = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (!strcmp(what, "collective")) MPI_Ibarrier(MPI_COMM_WORLD, &request), MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(what, "persistent")) MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (!strcmp(what, "synchronous") && rank == 1)
    MPI_Issend(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
  if (!strcmp(what, "matched")) {
    MPI_Send(&number, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Mprobe(left, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  }
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(MPIX_Checkpoint(directory), text, &length);
  printf("rank %d: %s\n", rank, text);
  if (message != MPI_MESSAGE_NULL) MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  if (!strcmp(what, "synchronous") && rank == 0)
    MPI_Recv(&got, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!strcmp(what, "persistent"))
    MPI_Request_free(&request);
  else
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  if (!strcmp(argv[1], "why"))
    in_the_way(argv[2], argv[3]);
  else
    messages(argv[1]);
  MPI_Finalize();
  return 0;
}
