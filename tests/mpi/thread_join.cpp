// Joining a thread is a scheduling point: threads wait for messages of other ranks, which share the worker,
// while their rank waits for them, or computes. std::thread, pthread_join; threads that end long before they
// are joined, that are detached, that never call MPI.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.h"

namespace {

using namespace std::chrono_literals;

int exchange(int value, int tag) {
  int got = -1;
  const int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, to, tag, &got, 1, MPI_INT, from, tag, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
  return got;
}

// A ping-pong between a thread of each even rank and one of its odd neighbour.
void ping_pong(int rounds) {
  const int peer = world_rank ^ 1;
  if (peer >= world_size) return;
  for (int i = 0; i < rounds; ++i) {
    int number = i;
    if (world_rank % 2 == 0) CHECK_OK(MPI_Ssend(&number, 1, MPI_INT, peer, 77, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(&number, 1, MPI_INT, peer, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(number, i);
    if (world_rank % 2 == 1) CHECK_OK(MPI_Ssend(&number, 1, MPI_INT, peer, 77, MPI_COMM_WORLD));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided;
  CHECK_OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const int left = (world_rank + world_size - 1) % world_size;

  for (int round = 0; round < 10; ++round) {
    int got = -1;
    std::thread thread([&] { got = exchange(world_rank * 100 + round, 1); });
    thread.join();
    CHECK_EQ(got, left * 100 + round);
  }
  {
    std::thread thread(ping_pong, 100);
    thread.join();
  }
  {  // Joined long after its end; one that never calls MPI.
    std::thread done([] {});
    std::thread silent([] { std::this_thread::sleep_for(5ms); });
    CHECK_EQ(exchange(world_rank, 2), left);
    std::this_thread::sleep_for(10ms);
    done.join();
    silent.join();
  }
  {  // A thread blocks in MPI while its rank computes and other ranks come and go.
    std::atomic<bool> received{false};
    std::thread receiver([&] {
      int got = -1;
      CHECK_OK(MPI_Recv(&got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(got, left);
      received = true;
    });
    for (int i = 0; i < 20; ++i) CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(!received);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(&world_rank, 1, MPI_INT, (world_rank + 1) % world_size, 3, MPI_COMM_WORLD));
    receiver.join();
    CHECK(received);
  }
  {  // Detached; says by a message that it has done.
    std::thread([] {
      int token = 9;
      CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 4, MPI_COMM_SELF));
    }).detach();
    int token = 0;
    CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_EQ(token, 9);
  }
  {  // Threads that create and join threads.
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        std::thread inner([&] { CHECK_EQ(exchange(world_rank, 10 + i), left); });
        inner.join();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  return check_end();
}
