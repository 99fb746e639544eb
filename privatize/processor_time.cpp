#include "privatize/processor_time.hpp"
#include "base/of_thread.hpp"

#include <pthread.h>
#include <time.h>

#include <atomic>

#include "privatize/live_threads.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/switch_duties.hpp"

namespace tmpi::privatize {
namespace {

constexpr std::uint64_t kNotRunning = UINT64_MAX;

/// Of a rank's own flow of control. Written on the thread that runs it; a thread of the rank may read meanwhile.
struct Account {
  std::atomic<std::uint64_t> spent{0};            // ns, up to the last switch
  std::atomic<std::uint64_t> since{kNotRunning};  // what the thread's clock showed when it went on
  std::atomic<clockid_t> clock{0};                // of the thread that it runs on
  std::atomic<std::uint64_t> ended{0};            // ns of its threads that have ended
};
RankTable<Account> accounts;

std::uint64_t time_of(clockid_t clock) noexcept {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

clockid_t own_clock() noexcept {
  __attribute__((tls_model("initial-exec"))) thread_local clockid_t clock_of_thread =
      0;  // never a thread's: they are negative
  clockid_t& clock = of_thread(clock_of_thread);
  if (clock == 0 && pthread_getcpuclockid(pthread_self(), &clock) != 0) clock = CLOCK_THREAD_CPUTIME_ID;
  return clock;
}

// release pairs with read(): who sees that it runs, or does not, sees what it had spent until then.
void go_on(Account& account, std::uint64_t now) noexcept {
  account.clock.store(own_clock(), std::memory_order_relaxed);
  account.since.store(now, std::memory_order_release);
}

void stop(Account& account, std::uint64_t now) noexcept {
  const std::uint64_t since = account.since.load(std::memory_order_relaxed);
  if (since == kNotRunning) return;  // it has run since before anybody asked
  account.since.store(kNotRunning, std::memory_order_relaxed);
  account.spent.store(account.spent.load(std::memory_order_relaxed) + now - since, std::memory_order_release);
}

// Again if a switch has come between.
std::uint64_t read(const Account& account) noexcept {
  for (;;) {
    const std::uint64_t spent = account.spent.load(std::memory_order_acquire);
    const std::uint64_t since = account.since.load(std::memory_order_acquire);
    const std::uint64_t now =
        since == kNotRunning ? 0 : time_of(account.clock.load(std::memory_order_relaxed));
    if (account.spent.load(std::memory_order_acquire) != spent ||
        account.since.load(std::memory_order_acquire) != since)
      continue;
    return since == kNotRunning ? spent : spent + now - since;
  }
}

}  // namespace

void count_processor_time() noexcept {
  demand(kCountTime);
}

void switch_processor_time(int from, int to) noexcept {
  const std::uint64_t now = time_of(CLOCK_THREAD_CPUTIME_ID);
  if (Account* const account = accounts.find(from)) stop(*account, now);
  if (to < 0) return;
  if (Account* const account = accounts.get(to)) go_on(*account, now);
}

void keep_processor_time(int rank) noexcept {
  if ((switch_duties.load(std::memory_order_relaxed) & kCountTime) == 0) return;
  if (Account* const account = accounts.get(rank))
    account->ended.fetch_add(time_of(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
}

std::uint64_t kept_processor_time(int rank) noexcept {
  const Account* const account = accounts.find(rank);
  return account == nullptr ? 0 : account->ended.load(std::memory_order_relaxed);
}

std::uint64_t processor_time_of_flow(int rank) noexcept {
  count_processor_time();
  Account* const account = accounts.get(rank);
  if (account == nullptr) return time_of(CLOCK_PROCESS_CPUTIME_ID);
  // The first to ask, in the middle of what it runs.
  if (on_own_flow(rank) && account->since.load(std::memory_order_relaxed) == kNotRunning)
    go_on(*account, time_of(CLOCK_THREAD_CPUTIME_ID));
  return read(*account);
}

std::uint64_t processor_time_of_rank(int rank) noexcept {
  const std::uint64_t flow = processor_time_of_flow(rank);
  return threads_have_been_created() ? flow + processor_time_of_threads(rank) : flow;
}

}  // namespace tmpi::privatize
