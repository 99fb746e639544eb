// spdlog: a registry of loggers by name, with a default level and pattern, and a pool of threads.
#include <spdlog/async.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <string>

#include "steps.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const std::string rank = std::to_string(world_rank);
  std::ostringstream text;
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(text);
  spdlog::register_logger(std::make_shared<spdlog::logger>("mine", sink));
  spdlog::set_pattern(rank + " %v");
  spdlog::set_level(world_rank % 2 ? spdlog::level::warn : spdlog::level::info);
  std::string want;
  for (int round = 0; round < 20; round++) {
    next_step();
    auto logger = spdlog::get("mine");
    CHECK(logger != nullptr && logger->sinks().front() == sink);
    logger->debug("round {}", round);
    logger->info("round {}", round);
    logger->error("round {}", round);
    for (int i = world_rank % 2; i < 2; i++) want += rank + " round " + std::to_string(round) + "\n";
  }
  next_step();
  CHECK_STRING(text.str().c_str(), want.c_str());
  spdlog::drop("mine");
  next_step();

  auto printer = spdlog::create_async<spdlog::sinks::stdout_sink_mt>("printer");
  for (int i = 0; i < 5; i++) printer->error("line {}", i);
  next_step();
  printer.reset();
  spdlog::shutdown();
  return end_with(static_cast<double>(text.str().size()));
}
