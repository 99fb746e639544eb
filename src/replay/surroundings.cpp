// What a program sees of where it runs: names, which ranks share a node, workers, the time, random bytes of the system.
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mpix.h"
#include "replay/clocks.hpp"
#include "replay/explored_log.hpp"
#include "replay/logs.hpp"

namespace tmpi::replay {
namespace {

std::int64_t number(RankLog& log, std::int64_t actual, const char* call) {
  Choice choice{ChoiceKind::kNumber, zigzag(actual)};
  if (const Choice* recorded = log.ahead(ChoiceKind::kNumber, call)) choice.number = recorded->number;
  log.note(choice, call);
  return unzigzag(choice.number);
}

/// `text` becomes what is recorded.
void give_back(RankLog& log, std::string& text, const char* call) {
  Choice choice{ChoiceKind::kText};
  const Choice* recorded = log.ahead(ChoiceKind::kText, call);
  choice.text = recorded != nullptr ? recorded->text : text;
  choice.number = choice.text.size();
  log.note(choice, call);
  text = std::move(choice.text);
}

int get_processor_name(char* name, int* length) {
  const int result = PMPI_Get_processor_name(name, length);
  const OpenLog log = result == MPI_SUCCESS ? log_of_caller() : OpenLog();
  if (!log) return result;
  std::string text(name, static_cast<std::size_t>(*length));
  give_back(*log, text, "MPI_Get_processor_name");
  text.resize(std::min<std::size_t>(text.size(), MPI_MAX_PROCESSOR_NAME - 1));
  std::memcpy(name, text.c_str(), text.size() + 1);
  *length = static_cast<int>(text.size());
  return result;
}

/// In the place of a rank: the call was refused.
constexpr std::int64_t kSplitRefused = -2;

/// The members of a communicator made by MPI_Comm_split_type are known by the lowest of their ranks in the one that was
/// split; -1: none was made for this rank.
int lowest_member(MPI_Comm comm, MPI_Comm part) {
  if (part == MPI_COMM_NULL) return -1;
  int mine = 0, lowest = 0;
  if (PMPI_Comm_rank(comm, &mine) != MPI_SUCCESS ||
      PMPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, part) != MPI_SUCCESS)
    return -1;
  return lowest;
}

int comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  constexpr const char* kCall = "MPI_Comm_split_type";
  const OpenLog log = part == nullptr ? OpenLog() : log_of_caller();
  if (!log) return PMPI_Comm_split_type(comm, type, key, info, part);
  const Choice* const recorded = log->ahead(ChoiceKind::kNumber, kCall);
  if (recorded != nullptr && unzigzag(recorded->number) != kSplitRefused) {
    const std::int64_t lowest = number(*log, unzigzag(recorded->number), kCall);
    return PMPI_Comm_split(comm, lowest < 0 ? MPI_UNDEFINED : static_cast<int>(lowest), key, part);
  }
  const int result = PMPI_Comm_split_type(comm, type, key, info, part);
  (void)number(*log, result == MPI_SUCCESS ? lowest_member(comm, *part) : kSplitRefused, kCall);
  return result;
}

int get_worker(int* worker, int* workers) {
  const int result = PMPIX_Get_worker(worker, workers);
  const OpenLog log = result == MPI_SUCCESS ? log_of_caller() : OpenLog();
  if (!log) return result;
  for (int* const asked : {worker, workers}) {
    if (asked != nullptr) *asked = static_cast<int>(number(*log, *asked, "MPIX_Get_worker"));
  }
  return result;
}

/// To a worker that there may not be in the replay.
int migrate(int worker) {
  const OpenLog log = log_of_caller();
  if (!log) return PMPIX_Migrate(worker);
  const bool repeats = log->ahead(ChoiceKind::kNumber, "MPIX_Migrate") != nullptr;
  const int result = repeats ? PMPIX_Yield() : PMPIX_Migrate(worker);
  return static_cast<int>(number(*log, result, "MPIX_Migrate"));
}

enum : unsigned { kWtime = 0, kRtime = 1, kPtime = 2, kFirstOfSystem = 3 };

/// Whole nanoseconds, so that the program gets the same number in both runs.
double seconds(unsigned clock, double now, const char* call) {
  const OpenLog log = log_of_caller();
  if (!log) return now;
  return static_cast<double>(log->time(clock, std::llround(now * 1e9), call)) * 1e-9;
}

double wtime() {
  return seconds(kWtime, PMPI_Wtime(), "MPI_Wtime");
}
double rtime() {
  return seconds(kRtime, PMPIX_Rtime(), "MPIX_Rtime");
}
double ptime() {
  return seconds(kPtime, PMPIX_Ptime(), "MPIX_Ptime");
}

constexpr std::int64_t kBillion = 1'000'000'000;

/// `now` becomes what is recorded of this clock.
void give_back(clockid_t clock, timespec& now, const char* call) {
  const OpenLog log = log_of_caller();
  if (!log) return;
  const std::int64_t time =
      log->time(kFirstOfSystem + static_cast<unsigned>(clock), now.tv_sec * kBillion + now.tv_nsec, call);
  now = {time / kBillion, time % kBillion};
}

int system_clock_gettime(clockid_t clock, timespec* now) {
  const int result = clocks().clock_gettime(clock, now);
  if (result == 0) give_back(clock, *now, "clock_gettime");
  return result;
}

int system_timespec_get(timespec* now, int base) {
  const int result = clocks().timespec_get(now, base);
  if (result == TIME_UTC) give_back(CLOCK_REALTIME, *now, "timespec_get");
  return result;
}

int system_gettimeofday(timeval* now, void* zone) {
  const int result = clocks().gettimeofday(now, zone);
  const OpenLog log = result == 0 && now != nullptr ? log_of_caller() : OpenLog();
  if (!log) return result;
  const std::int64_t time = log->time(kFirstOfSystem + CLOCK_REALTIME,
                                      now->tv_sec * kBillion + now->tv_usec * 1000, "gettimeofday");
  now->tv_sec = time / kBillion;
  now->tv_usec = time % kBillion / 1000;
  return result;
}

time_t system_time(time_t* where) {
  time_t now = clocks().time(nullptr);
  if (const OpenLog log = log_of_caller())
    now = log->time(kFirstOfSystem + CLOCK_REALTIME, now * kBillion, "time") / kBillion;
  if (where != nullptr) *where = now;
  return now;
}

ssize_t system_getrandom(void* buffer, std::size_t length, unsigned flags) {
  const ssize_t got = clocks().getrandom(buffer, length, flags);
  const OpenLog log = got > 0 ? log_of_caller() : OpenLog();
  if (!log) return got;
  std::string text(static_cast<const char*>(buffer), static_cast<std::size_t>(got));
  if (log->explored_log() != nullptr)
    std::ranges::generate(text, [&] { return static_cast<char>(log->explored_log()->random()); });
  give_back(*log, text, "getrandom");
  const std::size_t given = std::min(text.size(), length);
  std::memcpy(buffer, text.data(), given);
  return static_cast<ssize_t>(given);
}

}  // namespace

const std::vector<Version>& surroundings() {
  static const std::vector<Version> all{
      version("MPI_Get_processor_name", &get_processor_name),
      version("MPI_Comm_split_type", &comm_split_type),
      version("MPIX_Get_worker", &get_worker),
      version("MPIX_Migrate", &migrate),
      version("MPI_Wtime", &wtime),
      version("MPIX_Rtime", &rtime),
      version("MPIX_Ptime", &ptime),
  };
  return all;
}

const std::vector<Version>& system_functions() {
  static const std::vector<Version> all{
      version("clock_gettime", &system_clock_gettime), version("gettimeofday", &system_gettimeofday),
      version("timespec_get", &system_timespec_get),   version("time", &system_time),
      version("getrandom", &system_getrandom),
  };
  return all;
}

}  // namespace tmpi::replay
