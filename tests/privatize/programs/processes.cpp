// std::thread (started inside libstdc++) and fork(2) in a rank.
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"

static thread_local int per_thread = 1;
static thread_local std::vector<int> object{1, 2, 3};
static int shared = 0;

int main() {
  const int rank = test_rank();
  per_thread = 100 + rank;
  object.push_back(rank);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([i, rank] {
      CHECK(test_rank() == rank && per_thread == 1 && object.size() == 3);
      per_thread += i;
      object.push_back(i);
      try {
        throw std::runtime_error(std::to_string(i));
      } catch (const std::exception& error) {
        CHECK(std::stoi(error.what()) == i && per_thread == 1 + i);
      }
      __atomic_add_fetch(&shared, per_thread, __ATOMIC_RELAXED);
    });
  }
  test_yield();
  for (std::thread& thread : threads) thread.join();
  CHECK(shared == 6 && per_thread == 100 + rank && object.back() == rank);
  auto future = std::async(std::launch::async, [] { return per_thread; });
  CHECK(future.get() == 1);
  const pid_t child = fork();
  if (child == 0) {
    shared = 77;
    exit(shared - 77 + rank % 100);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == rank % 100);
  CHECK(shared == 6);
  return 0;
}
