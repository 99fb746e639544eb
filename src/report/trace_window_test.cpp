#include "report/trace_window.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tmpi::report {
namespace {

TEST_CASE("the window is the middle of a trace, with what reaches into it") {
  const std::string path = fmt::format("/tmp/tmpi-trace-window-{}", getpid());
  {
    std::ofstream file(path);
    file << "{\"traceEvents\":[\n"
         << R"({"ph":"M","name":"thread_name","pid":2,"tid":1,"args":{"name":"rank 0"}})"
         << ",\n"
         << R"({"ph":"C","pid":1,"ts":5,"name":"ready","args":{"ranks":1}})"
         << ",\n"
         << R"({"ph":"X","pid":2,"tid":1,"ts":1,"dur":499,"name":"MPI_Recv","cat":"mpi","args":{}})";
    for (int i = 0; i < 1000; ++i)
      file << ",\n"
           << fmt::format(R"({{"ph":"X","pid":1,"tid":2,"ts":{}.000,"dur":0.5,"name":"rank 0","cat":"run"}})",
                          i);
    file << "\n],\n\"otherData\":{}}\n";
  }
  const auto window = nlohmann::json::parse(trace_window(path, 100));
  const auto whole = nlohmann::json::parse(trace_window(path, 5000));
  std::remove(path.c_str());
  const auto& events = window["traceEvents"];
  CHECK(events.size() == 102);  // a name, a hundred, and one that began before
  CHECK(events[0]["args"]["name"] == "rank 0");
  CHECK(events[1]["name"] == "MPI_Recv");
  CHECK(events[2]["ts"] == 449);
  CHECK(events.back()["ts"] == 548);
  CHECK(whole["traceEvents"].size() == 1002);
}

TEST_CASE("no window of what is no trace") {
  CHECK(trace_window("/nowhere").empty());
  CHECK(trace_window("/proc/self/cmdline").empty());
}

}  // namespace
}  // namespace tmpi::report
