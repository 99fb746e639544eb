// Calls on files by io_uring: what the kernel answers, who is woken by it, and what happens where it refuses.
#include "sched/file_calls.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sched/offload.hpp"
#include "sched/task.hpp"
#include "sched/test_support.hpp"
#include "sched/thread_task.hpp"
#include "sched/waiter.hpp"

namespace tmpi::sched {
namespace {

using test::Job;

struct Temporary {
  std::FILE* stream = std::tmpfile();
  ~Temporary() { std::fclose(stream); }
  int fd() const { return fileno(stream); }
};

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { REQUIRE(pipe(ends) == 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
};

struct Done {
  ssize_t result = -2;
  int error = 0;
};

Done by_ring(FileCall::Kind kind, int fd, void* data, std::size_t bytes, off_t offset) {
  const iovec vector{data, bytes};
  Done done;
  REQUIRE(call_by_ring({kind, fd, &vector, 1, offset}, done.result));
  done.error = done.result < 0 ? errno : 0;
  return done;
}

// Machines on which this runs without io_uring (containers refuse it) have nothing to show.
bool refused() {
  bool there = false;
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false});
  job.spawn(0, [&] { there = has_file_ring(); });
  job.run();
  if (!there) MESSAGE("not shown here: " << why_no_ring());
  return !there;
}

// Many at a time, on workers that sleep as soon as nobody is ready, or look for a while.
void check_write_and_read(int spin_microseconds, const char* balance) {
  constexpr int kTasks = 40, kBytes = 5000, kRounds = 10;
  const Temporary file;
  const std::uint64_t before = calls_by_ring();
  Job job({.workers = 2,
           .tasks = kTasks,
           .stack_size = 64 * 1024,
           .balance = balance,
           .bind = false,
           .spin_microseconds = spin_microseconds});
  std::atomic<int> fine{0};
  for (int i = 0; i < kTasks; ++i) {
    job.spawn(i % 2, [&, i] {
      for (int round = 0; round < kRounds; ++round) {
        std::vector<char> data(kBytes, static_cast<char>(i + round)), got(kBytes);
        const off_t offset = i * kBytes;
        const Done written = by_ring(FileCall::Kind::kWrite, file.fd(), data.data(), kBytes, offset);
        const Done read = by_ring(FileCall::Kind::kRead, file.fd(), got.data(), kBytes, offset);
        fine += written.result == kBytes && read.result == kBytes && got == data;
      }
      const Done synced = by_ring(FileCall::Kind::kSync, file.fd(), nullptr, 0, 0);
      fine += synced.result == 0;
    });
  }
  job.run();
  CHECK(fine == kTasks * (kRounds + 1));
  CHECK(calls_by_ring() - before == kTasks * (2 * kRounds + 1));
  CHECK(offloaded() == 0);
}

TEST_CASE("what tasks write by io_uring they read") {
  if (refused()) return;
  check_write_and_read(0, "none");
  check_write_and_read(50, "none");
  check_write_and_read(0, "rotate");
}

TEST_CASE("the kernel's answers are those of the system calls") {
  if (refused()) return;
  const Temporary file;
  REQUIRE(pwrite(file.fd(), "0123456789", 10, 0) == 10);
  const int read_only = open("/proc/self/exe", O_RDONLY), full = open("/dev/full", O_RDWR);
  REQUIRE(read_only >= 0);
  REQUIRE(full >= 0);
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false});
  job.spawn(0, [&] {
    char data[20] = {};
    CHECK(by_ring(FileCall::Kind::kRead, file.fd(), data, 20, 4).result == 6);  // up to the file's end
    CHECK(std::memcmp(data, "456789", 7) == 0);
    CHECK(by_ring(FileCall::Kind::kRead, file.fd(), data, 20, 10).result == 0);
    REQUIRE(ftruncate(file.fd(), 5) == 0);  // it shrinks
    CHECK(by_ring(FileCall::Kind::kRead, file.fd(), data, 20, 4).result == 1);
    const auto fails = [&](FileCall::Kind kind, int fd, void* at, off_t offset, int error) {
      const Done done = by_ring(kind, fd, at, 20, offset);
      CHECK(done.result == -1);
      CHECK(done.error == error);
    };
    fails(FileCall::Kind::kWrite, read_only, data, 0, EBADF);
    fails(FileCall::Kind::kWrite, full, data, 0, ENOSPC);
    fails(FileCall::Kind::kRead, -1, data, 0, EBADF);
    fails(FileCall::Kind::kRead, file.fd(), nullptr, 0, EFAULT);
    fails(FileCall::Kind::kSync, -1, nullptr, 0, EBADF);
    // A limit on the size of files is an answer, not a signal.
    rlimit limit{}, before{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = {.rlim_cur = 100, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const Done partly = by_ring(FileCall::Kind::kWrite, file.fd(), data, 20, 90);
    fails(FileCall::Kind::kWrite, file.fd(), data, 100, EFBIG);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(partly.result == 10);
  });
  job.run();
  close(read_only);
  close(full);
}

// A read from a pipe takes as long as the test wants it to.
TEST_CASE("a worker that sleeps is woken by the answer, and by whatever else comes before it") {
  if (refused()) return;
  const Pipe slow;
  Job job({.workers = 1, .tasks = 2, .stack_size = 64 * 1024, .bind = false, .spin_microseconds = 0});
  std::atomic<Waiter*> other{nullptr};
  std::atomic<bool> other_woken{false}, read{false};
  job.spawn(0, [&] {
    char letter = 0;
    CHECK(by_ring(FileCall::Kind::kRead, slow.ends[0], &letter, 1, 0).result == 1);
    CHECK(letter == 'x');
    CHECK(other_woken);
    read = true;
  });
  job.spawn(0, [&] {
    CHECK(offloaded() == 1);  // the other one's: no stall, however long it takes
    Waiter waiter(1);
    other = &waiter;
    waiter.wait();
    CHECK_FALSE(read);
    other_woken = true;
  });
  std::thread outside([&] {
    while (other == nullptr) usleep(1000);
    usleep(20'000);
    other.load()->complete();
    while (!other_woken) usleep(1000);
    usleep(20'000);
    CHECK(write(slow.ends[1], "x", 1) == 1);
  });
  job.run();
  outside.join();
  CHECK(read);
}

// The last worker to fall asleep wakes after a while, to see whether this is a stall, and sleeps on.
TEST_CASE("an answer that comes just before the look for a stall is not slept through") {
  if (refused()) return;
  const Pipe slow;
  constexpr int kFirst = 226, kStep = 6, kLast = 250;  // ms; kStallPeriod is 250
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false, .spin_microseconds = 0});
  job->set_stall_hook([]() noexcept {});
  std::atomic<int> read{0};
  job.spawn(0, [&] {
    for (int delay = kFirst; delay <= kLast; delay += kStep) {
      char letter = 0;
      read += static_cast<int>(by_ring(FileCall::Kind::kRead, slow.ends[0], &letter, 1, 0).result);
    }
  });
  std::thread outside([&] {
    for (int delay = kFirst; delay <= kLast; delay += kStep) {
      while (offloaded() == 0) usleep(100);
      usleep(1000u * static_cast<unsigned>(delay));
      CHECK(write(slow.ends[1], "x", 1) == 1);
      while (offloaded() != 0 && read <= (delay - kFirst) / kStep) usleep(100);
    }
  });
  job.run();
  outside.join();
  CHECK(read == (kLast - kFirst) / kStep + 1);
}

TEST_CASE("while others run, the answer is found at a switch") {
  if (refused()) return;
  const Pipe slow;
  Job job({.workers = 1, .tasks = 3, .stack_size = 64 * 1024, .bind = false});
  std::atomic<bool> read{false};
  job.spawn(0, [&] {
    char letter = 0;
    CHECK(by_ring(FileCall::Kind::kRead, slow.ends[0], &letter, 1, 0).result == 1);
    read = true;
  });
  for (int i = 0; i < 2; ++i) {
    job.spawn(0, [&, i] {
      if (i == 0) REQUIRE(write(slow.ends[1], "x", 1) == 1);
      while (!read) yield();
    });
  }
  job.run();
  CHECK(read);
}

TEST_CASE("more calls than the ring has room for go elsewhere") {
  if (refused()) return;
  constexpr int kTasks = 150;  // the ring holds 128
  const Pipe slow;
  Job job({.workers = 1, .tasks = kTasks + 1, .stack_size = 64 * 1024, .bind = false});
  int through = 0, elsewhere = 0;
  for (int i = 0; i < kTasks; ++i) {
    job.spawn(0, [&] {
      char letter;
      const iovec vector{&letter, 1};
      ssize_t result = 0;
      if (call_by_ring({FileCall::Kind::kRead, slow.ends[0], &vector, 1, 0}, result)) {
        CHECK(result == 1);
        ++through;
      } else {
        ++elsewhere;
      }
    });
  }
  job.spawn(0, [&] {
    const std::vector<char> letters(kTasks, 'x');
    CHECK(write(slow.ends[1], letters.data(), kTasks) == kTasks);
  });
  job.run();
  CHECK(through == 128);
  CHECK(elsewhere == kTasks - 128);
}

// The worker's own thread stays in user code meanwhile; a thread of a rank parks at the inbox in its place.
TEST_CASE("what is under way when threads are let in is answered, new calls are not taken") {
  if (refused()) return;
  const Pipe slow;
  Job job({.workers = 1, .tasks = 2, .stack_size = 64 * 1024, .bind = false, .spin_microseconds = 0});
  Waiter* waits = nullptr;
  std::atomic<bool> admitted{false}, answered{false}, thread_parks{false};
  Task& reader = job.spawn(0, [&] {
    const Inside inside(current());
    char letter = 0;
    CHECK(by_ring(FileCall::Kind::kRead, slow.ends[0], &letter, 1, 0).result == 1);
    CHECK(admitted);
    CHECK_FALSE(has_file_ring());
    if (waits != nullptr) waits->complete();
    answered = true;
  });
  job.spawn(0, [&] {
    scheduler()->admit_threads();
    admitted = true;
    std::thread thread([&] {
      const Inside inside(&thread_task(reader));
      Waiter waiter(1);
      waits = &waiter;
      thread_parks = true;
      waiter.wait();
    });
    while (!thread_parks) usleep(1000);
    usleep(20'000);
    CHECK(write(slow.ends[1], "x", 1) == 1);
    {
      const Inside inside(current());
      while (!answered) yield();
    }
    thread.join();
  });
  job.run();
}

// Of the kernel's threads that make this process's calls: on how many CPUs they may run.
std::vector<int> cpus_of_kernel_threads() {
  std::vector<int> cpus;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    cpu_set_t mask;
    if (name.find("iou-wrk-") == 0 &&
        sched_getaffinity(std::stoi(task.path().filename().string()), sizeof mask, &mask) == 0)
      cpus.push_back(CPU_COUNT(&mask));
  }
  return cpus;
}

TEST_CASE("calls run where the job may, not on the core of the worker alone, which keeps it") {
  if (refused()) return;
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  const Temporary file;
  Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = true});
  std::vector<int> cpus;
  int own = 0;
  job.spawn(0, [&] {
    char data[10] = {};
    CHECK(by_ring(FileCall::Kind::kWrite, file.fd(), data, sizeof data, 0).result == sizeof data);
    cpus = cpus_of_kernel_threads();
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) own = CPU_COUNT(&mask);
  });
  std::thread([&] { job.run(); }).join();  // one that has made no calls yet, hence has no such threads
  CHECK(own == 1);
  CHECK(std::ranges::find(cpus, CPU_COUNT(&all)) != cpus.end());
}

TEST_CASE("so they do if a signal comes while a call is given") {
  if (refused()) return;
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  sigaction(SIGUSR1, &action, &before);
  const Temporary file;
  for (int round = 0; round < 40; ++round) {
    Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = true});
    std::vector<int> cpus;
    std::atomic<bool> begun{false}, over{false};
    pthread_t worker{};
    job.spawn(0, [&] {
      CHECK(has_file_ring());
      worker = pthread_self();
      begun = true;
      usleep(100);
      char data[10] = {};
      CHECK(by_ring(FileCall::Kind::kWrite, file.fd(), data, sizeof data, 0).result == sizeof data);
      cpus = cpus_of_kernel_threads();
      over = true;
    });
    std::thread runs([&] { job.run(); });
    while (!begun) std::this_thread::yield();
    while (!over) pthread_kill(worker, SIGUSR1);
    runs.join();
    REQUIRE_FALSE(cpus.empty());
    for (const int many : cpus) REQUIRE(many == CPU_COUNT(&all));
  }
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("threads, if they are asked for") {
  Job job({.workers = 1,
           .tasks = 1,
           .stack_size = 64 * 1024,
           .file_io = {.way = FileWay::kThreads},
           .bind = false});
  bool there = true;
  job.spawn(0, [&] { there = has_file_ring(); });
  job.run();
  CHECK_FALSE(there);
}

// As containers do it, for this thread and those it starts.
bool forbid_io_uring(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_CASE("where the kernel refuses, nothing is tried again, and the reason is known") {
  for (const int error : {EPERM, ENOSYS, ENOMEM}) {
    std::thread([error] {
      if (!forbid_io_uring(error)) {
        MESSAGE("not shown here: no seccomp");
        return;
      }
      Job job({.workers = 1, .tasks = 1, .stack_size = 64 * 1024, .bind = false});
      bool called = true;
      job.spawn(0, [&] {
        ssize_t result = 0;
        called = call_by_ring({}, result);
      });
      job.run();
      CHECK_FALSE(called);
      CHECK(why_no_ring() == std::string("io_uring_setup: ") + std::strerror(error));
    }).join();
  }
}

}  // namespace
}  // namespace tmpi::sched
