#include "observe/profile.hpp"

#include <doctest/doctest.h>

namespace tmpi::observe {
namespace {

ProfiledCall call(const char* function, const char* object, std::size_t offset, int rank, double wall) {
  ProfiledCall call;
  call.function = function;
  call.site = {.object = object, .offset = offset, .caller = "main", .file = "a.c", .line = 12};
  call.total = {
      .calls = 2, .bytes = 10, .wall = wall, .waiting = wall / 2, .idle = wall / 4, .longest = wall * 0.75};
  call.ranks = {{rank, call.total}};
  return call;
}

Profile part(int node) {
  Profile profile;
  profile.node = node;
  profile.program = "heat";
  profile.hosts = {node == 0 ? "a" : "b"};
  profile.seconds = 3 + node;
  profile.ranks = {{.rank = node, .worker = 0, .wall = 2, .computing = 1, .mpi = 0.5, .waiting = 0.5}};
  profile.workers = {{.name = "worker 0: core 1",
                      .busy = 1.5,
                      .idle = 0.5,
                      .computing = 1,
                      .mpi = 0.5,
                      .switches = 7,
                      .ranks = {node}}};
  profile.network = {"sim",
                     1e-6 * (1 + node),
                     {.eager = 3,
                      .eager_bytes = 24,
                      .one_sided = 5,
                      .one_sided_bytes = 80,
                      .deferred = 1,
                      .limits_raised = 2,
                      .largest_limit = 66560,
                      .moving = 700,
                      .receive_buffers = 1 << 20,
                      .rate = static_cast<std::uint64_t>(1000 + node),
                      .can_read = node == 0,
                      .step = static_cast<std::uint64_t>(20 + node),
                      .piece = 65536,
                      .waits = 2,
                      .waited = 900}};
  profile.foreign_calls = 4;
  return profile;
}

TEST_CASE("the profiles of two node processes become one") {
  Profile first = part(1);
  Profile second = part(0);
  first.calls = {call("MPI_Send", "/home/x/heat", 64, 1, 1.0)};
  second.calls = {call("MPI_Recv", "/opt/heat", 80, 0, 1.5), call("MPI_Send", "/opt/heat", 64, 0, 1.0)};
  second.ended_early = true;
  const Profile whole = merge_profiles({first, second});
  CHECK(whole.hosts == std::vector<std::string>{"b", "a"});
  CHECK(whole.seconds == 4);
  CHECK(whole.ended_early);
  CHECK(whole.foreign_calls == 8);
  REQUIRE(whole.ranks.size() == 2);
  CHECK(whole.ranks[0].rank == 0);
  CHECK(whole.ranks[0].worker == 1);
  CHECK(whole.workers[1].name == "node 0 worker 0: core 1");
  CHECK(whole.workers[1].ranks == std::vector{0});
  CHECK(whole.network.protocols.eager_bytes == 48);
  CHECK(whole.network.protocols.limits_raised == 4);
  CHECK(whole.network.protocols.largest_limit == 66560);
  CHECK(whole.network.protocols.moving == 1400);
  CHECK(whole.network.protocols.receive_buffers == 1 << 20);
  CHECK(whole.network.wake_up == 2e-6);
  CHECK(whole.network.protocols.rate == 1001);
  CHECK(whole.network.protocols.can_read);
  CHECK(whole.network.protocols.step == 20);
  CHECK(whole.network.protocols.piece == 65536);
  CHECK(whole.network.protocols.waits == 4);
  CHECK(whole.network.protocols.waited == 1800);
  CHECK(whole.network.protocols.one_sided == 10);
  CHECK(whole.network.protocols.one_sided_bytes == 160);
  CHECK(whole.network.protocols.deferred == 2);
  // Wherever the program lies, the call site is the same.
  REQUIRE(whole.calls.size() == 2);
  CHECK(whole.calls[0].function == "MPI_Send");
  CHECK(whole.calls[0].total.calls == 4);
  CHECK(whole.calls[0].total.wall == 2);
  CHECK(whole.calls[0].total.longest == 0.75);
  REQUIRE(whole.calls[0].ranks.size() == 2);
  CHECK(whole.calls[0].ranks[0].rank == 0);

  const std::string text = profile_text(whole);
  CHECK(text.find(
            "profile of heat: 2 ranks on 2 workers of 2 node processes, hosts a, b, 4.00 s, ended early") ==
        0);
  CHECK(text.find("node 1 worker 0: core 1") != std::string::npos);
}

TEST_CASE("calls that a compiler has made of one line are one call site") {
  Profile first = part(0);
  Profile second = part(1);
  first.calls = {call("MPI_Send", "/heat", 64, 0, 1.0)};
  second.calls = {call("MPI_Send", "/heat", 96, 1, 1.0)};
  SUBCASE("one, where the line is known") {
    CHECK(merge_profiles({first, second}).calls.size() == 1);
  }
  SUBCASE("two, where nothing but addresses is") {
    for (Profile* profile : {&first, &second}) profile->calls[0].site.file.clear();
    CHECK(merge_profiles({first, second}).calls.size() == 2);
  }
}

TEST_CASE("a profile arrives as it was sent") {
  Profile profile = part(0);
  profile.calls = {call("MPI_Send", "/heat", 64, 0, 1.0)};
  profile.calls[0].total.unfinished = true;
  profile.ranks[0].traffic = {{1, 5}, {{2, 3}, {20, 30}}, 4, 40};
  profile.workers[0].over_time = {0.5, {0.25, 0.5}, {0.125, 0}};
  profile.processes = {{0, {}, {{"eager", {{0, 2}, {0, 3}}}}}};
  const Result<Profile> arrived = unpack_profile(pack_profile(profile));
  REQUIRE(arrived);
  CHECK(profile_json(*arrived) == profile_json(profile));
  CHECK(profile_text(*arrived) == profile_text(profile));
  CHECK(arrived->ranks[0].traffic.peers == std::vector{1, 5});
  CHECK(arrived->ranks[0].traffic.sent.bytes == std::vector<std::uint64_t>{20, 30});
  CHECK(arrived->ranks[0].traffic.other_bytes == 40);
  CHECK(arrived->workers[0].over_time.mpi == std::vector{0.125, 0.0});
  CHECK(arrived->processes[0].sizes.at("eager").messages == std::vector<std::uint64_t>{0, 2});
}

TEST_CASE("what is no profile is refused") {
  const std::string whole = pack_profile(part(0));
  CHECK_FALSE(unpack_profile(""));
  CHECK_FALSE(unpack_profile("\x01"));
  CHECK_FALSE(unpack_profile(std::string(100, '\xff')));
  Profile uneven = part(0);
  uneven.ranks[0].traffic.peers = {1, 2};  // and no messages
  CHECK_FALSE(unpack_profile(pack_profile(uneven)));
  uneven = part(0);
  uneven.workers[0].over_time = {0.5, {1}, {}};
  CHECK_FALSE(unpack_profile(pack_profile(uneven)));
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(unpack_profile(whole.substr(0, length)));
}

}  // namespace
}  // namespace tmpi::observe
