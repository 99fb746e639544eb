#include "launch/spec/job_spec.hpp"

#include <doctest/doctest.h>

namespace tmpi::launch {
namespace {

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
  job.default_stack = 654321;
  job.bind = false;
  job.cores.assign(8, {1, 2});
  job.cores[3] = {-1, 3};
  job.policy = "random:9";
  job.balance = "refine";
  job.file_io = "threads";
  job.file_limit = 5;
  job.other_jobs = true;
  job.input_rank = kInputToAll;
  job.options = {{"--vratio", "3", "ranks of a worker"}, {"-q", "", "no warnings"}};
  const Result<JobSpec> copy = unpack_job(pack(job));
  REQUIRE(copy);
  CHECK(copy->apps.size() == 2);
  CHECK(copy->apps[0].arguments == app.arguments);
  CHECK(copy->apps[0].environment == app.environment);
  CHECK(copy->total_ranks() == 8);
  CHECK(copy->app_of(6) == 0);
  CHECK(copy->app_of(7) == 1);
  CHECK(copy->stack_size == 123456);
  CHECK(copy->default_stack == 654321);
  CHECK_FALSE(copy->bind);
  CHECK(copy->cores == job.cores);
  CHECK(copy->policy == "random:9");
  CHECK(copy->balance == "refine");
  CHECK(copy->file_io == "threads");
  CHECK(copy->file_limit == 5);
  CHECK(copy->other_jobs);
  CHECK(copy->input_rank == kInputToAll);
  REQUIRE(copy->options.size() == 2);
  CHECK(copy->options[0].name == "--vratio");
  CHECK(copy->options[0].value == "3");
  CHECK(copy->options[1].help == "no warnings");
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
