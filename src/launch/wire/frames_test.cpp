#include "launch/wire/frames.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "launch/spec/job_spec.hpp"

namespace tmpi::launch {
namespace {

void feed(FrameReader& reader, std::string_view bytes) {
  std::memcpy(reader.room(bytes.size()), bytes.data(), bytes.size());
  reader.filled(bytes.size());
}

TEST_CASE("frames survive any division of the stream") {
  std::string stream;
  for (int i = 0; i < 500; ++i)
    append_frame(stream, FrameType::kOutput, i, 1, std::string(static_cast<std::size_t>(i * 7 % 300), 'x'));
  std::mt19937 random(1);
  FrameReader reader;
  int seen = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t piece = std::min<std::size_t>(1 + random() % 97, stream.size() - at);
    feed(reader, std::string_view(stream).substr(at, piece));
    at += piece;
    for (Frame frame{}; reader.next(frame) == FrameReader::Status::kFrame; ++seen) {
      REQUIRE(frame.header.rank == seen);
      REQUIRE(frame.payload == std::string(static_cast<std::size_t>(seen * 7 % 300), 'x'));
    }
  }
  CHECK(seen == 500);
}

TEST_CASE("a foreign stream is refused, without a large allocation") {
  FrameReader reader;
  feed(reader, "GET / HTTP/1.1\r\n");
  Frame frame{};
  CHECK(reader.next(frame) == FrameReader::Status::kGarbage);
}

TEST_CASE("a job description comes back as it was") {
  JobSpec job;
  AppSpec app;
  app.ranks = 7;
  app.program = "/bin/a b";
  app.arguments = {"a b", "", "--x=1", std::string("zero\0byte", 9)};
  app.environment = {"A=1"};
  app.wdir = "/tmp";
  job.apps = {app, AppSpec{}};
  job.vratio = 3;
  job.stack_size = 123456;
  job.bind = false;
  job.policy = "random:9";
  const Result<JobSpec> copy = unpack_job(pack(job));
  REQUIRE(copy);
  CHECK(copy->apps.size() == 2);
  CHECK(copy->apps[0].arguments == app.arguments);
  CHECK(copy->apps[0].environment == app.environment);
  CHECK(copy->total_ranks() == 8);
  CHECK(copy->app_of(6) == 0);
  CHECK(copy->app_of(7) == 1);
  CHECK(copy->stack_size == 123456);
  CHECK_FALSE(copy->bind);
  CHECK(copy->policy == "random:9");
}

TEST_CASE("a job description cut anywhere is refused") {
  JobSpec job;
  job.apps = {AppSpec{}};
  job.apps[0].arguments = {"prog", "argument"};
  const std::string bytes = pack(job);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(unpack_job(std::string_view(bytes).substr(0, length)));
}

}  // namespace
}  // namespace tmpi::launch
