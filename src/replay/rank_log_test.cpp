#include "replay/rank_log.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "mpi.h"
#include "replay/clocks.hpp"
#include "replay/logs.hpp"
#include "replay/replay.hpp"

namespace tmpi::replay {
namespace {

Choice receive(int source, int tag) {
  Choice choice{ChoiceKind::kReceive};
  choice.source = source;
  choice.tag = tag;
  return choice;
}

/// What a rank may do: a receive, tests in vain, two receives that complete in the other order, a time.
struct Run {
  Envelope first, second;
  std::int64_t time = 0;
  int noes = 0;
};

Run run(RankLog& log, std::int64_t now) {
  Run run{};
  if (const Choice* recorded = log.ahead(ChoiceKind::kReceive, "MPI_Recv")) CHECK(recorded->source == 3);
  log.note(receive(3, 5), "MPI_Recv");
  run.first = run.second = {MPI_ANY_SOURCE, MPI_ANY_TAG};
  int requests[2];
  log.posted(&requests[0], {log.post(run.first), {}});
  log.posted(&requests[1], {log.post(run.second), {}});
  for (Answer answer; (answer = log.poll("MPI_Test", nullptr)) != Answer::kYes;) {
    if (answer == Answer::kFree && run.noes == 1000) break;
    ++run.noes;
    log.polled(false, "MPI_Test");
  }
  log.polled(true, "MPI_Test");
  log.completed(&requests[1], Envelope{1, 9}, "MPI_Wait");
  log.completed(&requests[0], Envelope{2, 9}, "MPI_Wait");
  CHECK_FALSE(log.any_open());
  run.time = log.time(0, now, "MPI_Wtime");
  log.end();
  return run;
}

struct EmptyRecord {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tmpi_log_" + std::to_string(getpid()))).string();
  EmptyRecord() { REQUIRE(create_record(path, {1, 1, "", {}})); }
  ~EmptyRecord() { std::filesystem::remove(path); }
};

struct Recorded : EmptyRecord {
  std::string choices;
  Recorded() {
    const std::unique_ptr<ChunkFile> file = *ChunkFile::open(path, 0);
    RankLog log(0, file.get(), nullptr);
    const Run first = run(log, 123456789);
    CHECK(first.first.source == MPI_ANY_SOURCE);
    choices = read_record(path)->ranks.at(0);
  }
};

struct Departed {
  std::string call, recorded, asked;
  std::uint64_t choice;
};
void throw_departure(RankLog&, const char* call, const Departure& where) {
  throw Departed{call, where.recorded, where.asked, where.choice};
}

TEST_CASE("what was recorded is given back") {
  const Recorded recorded;
  RankLog log(0, nullptr, &recorded.choices);
  CHECK(log.more_recorded());
  const Run again = run(log, 5);
  CHECK(again.first.source == 2);
  CHECK(again.second.source == 1);
  CHECK(again.first.tag == 9);
  CHECK(again.noes == 1000);
  CHECK(again.time == 123456789);
  CHECK_FALSE(log.more_recorded());
}

TEST_CASE("many tests in vain take a few bytes") {
  CHECK(Recorded().choices.find('\0') < 30);
}

TEST_CASE("behind what finds no room nothing is written") {
  const EmptyRecord record;
  const std::unique_ptr<ChunkFile> file = *ChunkFile::open(record.path, 0);
  ChunkWriter one(*file, 0), other(*file, 1);
  const std::string most(kChunkRoom - 3, 'a');
  one.append(most);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit limit{2 * kChunkSize, before.rlim_max};  // header and first chunk
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  other.append("b");
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(file->full());
  one.append("cccc");
  one.append("d");
  CHECK(read_record(record.path)->ranks.at(0) == most + std::string(3, '\0'));
}

TEST_CASE("a damaged record takes no memory for receives that it does not have") {
  Choice late{ChoiceKind::kLate, zigzag(1 << 30)};
  std::string record;
  int tag = 0;
  encode(late, tag, record);
  RankLog log(0, nullptr, &record);
  Envelope wanted{MPI_ANY_SOURCE, MPI_ANY_TAG};
  CHECK(log.post(wanted) == 0);
  CHECK(wanted.source == 0);
}

TEST_CASE("what a rank's log is open for is seen from inside") {
  RankLog log(0, nullptr, nullptr);
  CHECK_FALSE(log.noting());
  {
    const OpenLog noting(log);
    CHECK(log.noting());
  }
  CHECK_FALSE(log.noting());
}

TEST_CASE("a rank's clocks are those that it would have otherwise") {
  const Clocks before = clocks();
  call_for_times([](const char* name) -> const void* {
    constexpr time_t (*kTime)(time_t*) = [](time_t*) { return time_t{42}; };
    return std::string_view(name) == "time" ? reinterpret_cast<const void*>(kTime) : nullptr;
  });
  CHECK(clocks().time(nullptr) == 42);
  CHECK((clocks().getrandom == before.getrandom));
  clocks() = before;
}

TEST_CASE("a replay that departs says where") {
  RankLog::depart = &throw_departure;
  const Recorded recorded;
  RankLog log(0, nullptr, &recorded.choices);
  log.note(receive(3, 5), "MPI_Recv");
  std::optional<Departed> departed;
  try {
    (void)log.ahead(ChoiceKind::kIndex, "MPI_Waitany");
  } catch (const Departed& where) {
    departed = where;
  }
  REQUIRE(departed);
  CHECK(departed->call == "MPI_Waitany");
  CHECK(departed->choice == 2);
  CHECK(departed->recorded == "a test or probe that said no");
  CHECK(departed->asked == "which request is complete");
}

TEST_CASE("where a record ends the run goes on by itself; behind the rank's end it does not") {
  RankLog::depart = &throw_departure;
  const Recorded recorded;
  const std::string cut = recorded.choices.substr(0, 2);
  RankLog log(0, nullptr, &cut);
  log.note(receive(3, 5), "MPI_Recv");
  CHECK(log.ahead(ChoiceKind::kIndex, "MPI_Waitany") == nullptr);
  CHECK(log.poll("MPI_Test", nullptr) == Answer::kFree);
  RankLog whole(0, nullptr, &recorded.choices);
  (void)run(whole, 0);
  CHECK_THROWS_AS((void)whole.ahead(ChoiceKind::kReceive, "MPI_Recv"), Departed);
}

}  // namespace
}  // namespace tmpi::replay
