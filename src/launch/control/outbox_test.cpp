#include "launch/control/outbox.hpp"

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "launch/control/input.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

TEST_CASE("many threads append, nothing is lost, the order of each is kept, memory stays bounded") {
  constexpr int kThreads = 4;
  constexpr int kLines = 20000;
  const int wake = eventfd(0, EFD_CLOEXEC);
  Outbox outbox(wake);
  std::vector<std::jthread> writers;
  for (int rank = 0; rank < kThreads; ++rank) {
    writers.emplace_back([&outbox, rank] {
      for (int i = 0; i < kLines; ++i) {
        outbox.append(FrameType::kOutput, rank, 1, std::to_string(i) + std::string(100, '.') + "\n");
      }
      outbox.append(FrameType::kDone, rank, 0, {});
    });
  }
  std::map<int, std::string> texts;
  FrameReader reader;
  std::string bytes;
  for (int done = 0; done < kThreads;) {
    std::uint64_t count = 0;
    REQUIRE(read(wake, &count, sizeof(count)) == sizeof(count));  // every non-empty outbox has said so
    bytes.clear();
    outbox.take(bytes);
    CHECK(bytes.size() < (2 << 20));
    std::memcpy(reader.room(bytes.size()), bytes.data(), bytes.size());
    reader.filled(bytes.size());
    for (Frame frame{}; reader.next(frame) == FrameReader::Status::kFrame;) {
      if (frame.header.type == FrameType::kDone) ++done;
      texts[frame.header.rank] += frame.payload;
    }
  }
  std::string wanted;
  for (int i = 0; i < kLines; ++i) wanted += std::to_string(i) + std::string(100, '.') + "\n";
  for (int rank = 0; rank < kThreads; ++rank) CHECK(texts[rank] == wanted);
  writers.clear();
  close(wake);
}

TEST_CASE("output of one rank and exits share frames, other things do not") {
  const int wake = eventfd(0, EFD_CLOEXEC);
  Outbox outbox(wake);
  outbox.append(FrameType::kOutput, 1, 1, "a");
  outbox.append(FrameType::kOutput, 1, 1, "b");
  outbox.append(FrameType::kOutput, 1, 2, "c");
  outbox.append(FrameType::kExits, -1, 0, "d");
  outbox.append(FrameType::kExits, -1, 0, "e");
  outbox.append(FrameType::kNotice, -1, 0, "f");
  outbox.append(FrameType::kNotice, -1, 0, "g");
  std::string bytes;
  outbox.take(bytes);
  FrameReader reader;
  std::memcpy(reader.room(bytes.size()), bytes.data(), bytes.size());
  reader.filled(bytes.size());
  std::vector<std::string> payloads;
  for (Frame frame{}; reader.next(frame) == FrameReader::Status::kFrame;)
    payloads.emplace_back(frame.payload);
  CHECK(payloads == std::vector<std::string>{"ab", "c", "de", "f", "g"});
  close(wake);
}

int questions = 0;

TEST_CASE("input is asked for once per answer, and a helper thread may wait for it") {
  Input input([](int) { __atomic_add_fetch(&questions, 1, __ATOMIC_SEQ_CST); });
  input.set_readers({0});
  char buffer[8];
  std::jthread reader([&] {
    CHECK(input.read(0, buffer, 4) == 4);
    CHECK(input.read(0, buffer + 4, 4) == 1);  // what is there, without asking
    CHECK(input.read(0, buffer, 4) == 0);
  });
  while (__atomic_load_n(&questions, __ATOMIC_SEQ_CST) < 1) usleep(100);
  input.deliver("12345");
  while (__atomic_load_n(&questions, __ATOMIC_SEQ_CST) < 2) usleep(100);
  input.deliver("");
  reader.join();
  CHECK(questions == 2);
  CHECK(std::string_view(buffer, 5) == "12345");
}

}  // namespace
}  // namespace tmpi::launch
