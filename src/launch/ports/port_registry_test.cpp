#include "launch/ports/port_registry.hpp"

#include <doctest/doctest.h>

#include <string>

#include "launch/ports/port_wire.hpp"
#include "mpi.h"
#include "mpi/base/other_jobs.hpp"

namespace tmpi::launch {
namespace {

using Kind = mpi::PortCall::Kind;

struct Desk {
  PortRegistry registry{0x1234};
  std::int64_t requests = 0;

  std::vector<PortReply> call(int rank, Kind kind, const std::string& port = {},
                              const std::string& name = {}) {
    return registry.call({rank, requests++}, {.kind = kind, .port = port, .name = name});
  }
  /// Of a call that has one reply, to the caller itself.
  mpi::PortAnswer ask(int rank, Kind kind, const std::string& port = {}, const std::string& name = {}) {
    const auto replies = call(rank, kind, port, name);
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].to.rank == rank);
    CHECK(replies[0].to.request == requests - 1);
    CHECK_FALSE(replies[0].queued);
    return replies[0].answer;
  }
  std::string open(int rank) { return ask(rank, Kind::kOpen).port; }
  void wait(int rank, Kind kind, const std::string& port) {
    const auto replies = call(rank, kind, port);
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].queued);
  }
};

TEST_CASE("two ends meet, first come first served, whoever comes first") {
  Desk desk;
  const std::string port = desk.open(3), other = desk.open(3);
  CHECK(port != other);
  desk.wait(5, Kind::kConnect, port);
  desk.wait(6, Kind::kConnect, port);
  desk.wait(7, Kind::kConnect, other);
  const auto first = desk.call(3, Kind::kAccept, port);
  REQUIRE(first.size() == 2);
  CHECK(first[0].to.rank == 5);
  CHECK(first[0].answer.peer == 3);
  CHECK(first[1].to.rank == 3);
  CHECK(first[1].answer.peer == 5);
  CHECK(first[0].answer.pairing == first[1].answer.pairing);
  const auto second = desk.call(3, Kind::kAccept, port);
  REQUIRE(second.size() == 2);
  CHECK(second[1].answer.peer == 6);
  CHECK(second[1].answer.pairing != first[1].answer.pairing);
  desk.wait(3, Kind::kAccept, port);
  CHECK(desk.call(9, Kind::kConnect, port).at(0).to.rank == 3);
}

TEST_CASE("a rank cannot be connected with itself") {
  Desk desk;
  const std::string port = desk.open(0);
  desk.wait(0, Kind::kAccept, port);
  const auto replies = desk.call(0, Kind::kConnect, port);
  REQUIRE(replies.size() == 2);
  for (const PortReply& reply : replies) CHECK(reply.answer.error == MPI_ERR_COMM);
}

TEST_CASE("who waits at a port that is closed hears of it") {
  Desk desk;
  const std::string port = desk.open(0);
  desk.wait(1, Kind::kConnect, port);
  desk.wait(2, Kind::kConnect, port);
  CHECK(desk.ask(1, Kind::kClose, port).error == MPI_ERR_PORT);
  const auto replies = desk.call(0, Kind::kClose, port);
  REQUIRE(replies.size() == 3);  // the closing rank's own last
  CHECK(replies[0].answer.error == MPI_ERR_PORT);
  CHECK(replies[1].answer.error == MPI_ERR_PORT);
  CHECK(replies[2].to.rank == 0);
  CHECK(replies[2].answer.error == MPI_SUCCESS);
  for (const Kind kind : {Kind::kClose, Kind::kAccept, Kind::kConnect, Kind::kOwner})
    CHECK(desk.ask(0, kind, port).error == MPI_ERR_PORT);
}

TEST_CASE("who waits no longer") {
  Desk desk;
  const std::string port = desk.open(0);
  desk.wait(1, Kind::kConnect, port);
  desk.wait(2, Kind::kConnect, port);
  const auto gone = desk.registry.call({1, 1}, {.kind = Kind::kWithdraw, .port = port, .name = {}});
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].to.request == 1);
  CHECK(gone[0].answer.error == MPI_ERR_PORT);
  CHECK(desk.call(0, Kind::kAccept, port).at(0).to.rank == 2);
  // It comes too late.
  CHECK(desk.registry.call({2, 2}, {.kind = Kind::kWithdraw, .port = port, .name = {}}).empty());
}

TEST_CASE("ports that are none") {
  Desk desk;
  for (const char* port : {"", "x", "tmpi:", "tmpi:0000000000001234:0:1"})
    CHECK(desk.ask(0, Kind::kConnect, port).error == MPI_ERR_PORT);
  PortRegistry another(77);
  const std::string theirs =
      another.call({0, 0}, {.kind = Kind::kOpen, .port = {}, .name = {}})[0].answer.port;
  CHECK(desk.ask(0, Kind::kConnect, theirs).why.find("another job") != std::string::npos);
  CHECK(desk.ask(0, Kind::kPublish, theirs, "name").error == MPI_ERR_PORT);
}

TEST_CASE("ranks of other jobs come to ports that are wide, and go with their job") {
  PortRegistry registry(0x1234);
  const auto call = [&](int rank, Kind kind, const std::string& port, bool wide = true) {
    return registry.call({rank, 0}, {.kind = kind, .port = port, .name = {}, .wide = wide});
  };
  const std::string port = call(0, Kind::kOpen, {}).at(0).answer.port;
  const std::string narrow = call(0, Kind::kOpen, {}, false).at(0).answer.port;
  CHECK(PortRegistry::job_of_port(port) == 0x1234);
  for (const char* none :
       {"", "tmpi:", "tmpi:1234:0:1", "tmpi:000000000000123g:0:1", "other:0000000000001234:"})
    CHECK_FALSE(PortRegistry::job_of_port(none).has_value());
  const int first = mpi::number_here(1, 5), second = mpi::number_here(2, 5);
  CHECK(call(first, Kind::kConnect, narrow).at(0).answer.error == MPI_ERR_PORT);
  for (const int rank : {first, second}) {
    const auto replies = call(rank, Kind::kConnect, port);
    CHECK(replies.at(0).queued);
    CHECK(replies.at(0).answer.outside);
  }
  registry.forget_job(1);
  CHECK(call(0, Kind::kAccept, port).at(1).answer.peer == second);
  // Who accepts waits for others only if they can come.
  CHECK_FALSE(call(0, Kind::kAccept, port).at(0).answer.outside);
  registry.set_reachable();
  CHECK(call(1, Kind::kAccept, port).at(0).answer.outside);
  CHECK_FALSE(call(1, Kind::kAccept, narrow).at(0).answer.outside);
  CHECK_FALSE(call(0, Kind::kConnect, narrow).at(0).queued);
}

TEST_CASE("what other jobs may look up") {
  PortRegistry registry(1);
  const auto publish = [&](const std::string& name, bool wide) {
    registry.call({0, 0}, {.kind = Kind::kPublish, .port = "host:1", .name = name, .wide = wide});
  };
  publish("all", true);
  publish("own", false);
  using Names = std::vector<std::pair<std::string, std::string>>;
  CHECK(registry.wide_names() == Names{{"all", "host:1"}});
  registry.call({0, 0}, {.kind = Kind::kLeave, .port = {}, .name = {}});
  CHECK(registry.wide_names().empty());
}

TEST_CASE("names") {
  Desk desk;
  const std::string port = desk.open(1);
  CHECK(desk.ask(0, Kind::kLookup, {}, "ocean").error == MPI_ERR_NAME);
  CHECK(desk.ask(1, Kind::kPublish, port, "ocean").error == MPI_SUCCESS);
  CHECK(desk.ask(1, Kind::kPublish, port, "ocean").error == MPI_ERR_SERVICE);
  CHECK(desk.ask(2, Kind::kPublish, port, "ocean").error == MPI_ERR_SERVICE);
  CHECK(desk.ask(0, Kind::kLookup, {}, "ocean").port == port);
  CHECK(desk.ask(0, Kind::kLookup, {}, "Ocean").error == MPI_ERR_NAME);
  CHECK(desk.ask(0, Kind::kUnpublish, port, "ocean").error == MPI_ERR_SERVICE);
  CHECK(desk.ask(1, Kind::kUnpublish, "other", "ocean").error == MPI_ERR_SERVICE);
  CHECK(desk.ask(1, Kind::kUnpublish, port, "ocean").error == MPI_SUCCESS);
  CHECK(desk.ask(1, Kind::kUnpublish, port, "ocean").error == MPI_ERR_SERVICE);
  CHECK(desk.ask(0, Kind::kPublish, "host:4711", "socket").error == MPI_SUCCESS);
  CHECK(desk.ask(1, Kind::kLookup, {}, "socket").port == "host:4711");
}

TEST_CASE("a name may be taken back after its port has been closed, as programs do") {
  Desk desk;
  const std::string port = desk.open(1);
  CHECK(desk.ask(1, Kind::kPublish, port, "ocean").error == MPI_SUCCESS);
  CHECK(desk.ask(1, Kind::kClose, port).error == MPI_SUCCESS);
  CHECK(desk.ask(0, Kind::kConnect, desk.ask(0, Kind::kLookup, {}, "ocean").port).error == MPI_ERR_PORT);
  CHECK(desk.ask(1, Kind::kUnpublish, port, "ocean").error == MPI_SUCCESS);
  CHECK(desk.ask(0, Kind::kLookup, {}, "ocean").error == MPI_ERR_NAME);
}

TEST_CASE("what a rank has opened and published goes with it") {
  Desk desk;
  const std::string port = desk.open(1), kept = desk.open(2);
  desk.ask(1, Kind::kPublish, port, "a");
  desk.ask(2, Kind::kPublish, port, "b");
  desk.ask(1, Kind::kPublish, kept, "c");
  desk.ask(2, Kind::kPublish, kept, "d");
  desk.wait(0, Kind::kConnect, port);
  const auto replies = desk.call(1, Kind::kLeave);
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].to.rank == 0);
  CHECK(replies[0].answer.error == MPI_ERR_PORT);
  for (const char* gone : {"a", "b", "c"}) CHECK(desk.ask(0, Kind::kLookup, {}, gone).error == MPI_ERR_NAME);
  CHECK(desk.ask(0, Kind::kLookup, {}, "d").port == kept);
}

TEST_CASE("on the wire") {
  PortRequest request{.request = 1LL << 40, .call = {.kind = Kind::kPublish, .port = "port", .name = "name"}};
  const auto taken = unpack_port_request(pack(request));
  REQUIRE(taken);
  CHECK(taken->request == request.request);
  CHECK(taken->call.kind == Kind::kPublish);
  CHECK(taken->call.port == "port");
  CHECK(taken->call.name == "name");
  PortReply reply;
  reply.to = {7, 8};
  reply.queued = true;
  reply.answer = {.error = 3, .why = "why", .port = "port", .peer = 4, .pairing = 5};
  const std::string bytes = pack(reply);
  const auto back = unpack_port_reply(bytes);
  REQUIRE(back);
  CHECK(back->to.rank == 7);
  CHECK(back->to.request == 8);
  CHECK(back->queued);
  CHECK(back->answer.error == 3);
  CHECK(back->answer.why == "why");
  CHECK(back->answer.port == "port");
  CHECK(back->answer.peer == 4);
  CHECK(back->answer.pairing == 5);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK_FALSE(unpack_port_reply(bytes.substr(0, length)));
  CHECK_FALSE(unpack_port_reply(bytes + '\0'));
  CHECK_FALSE(unpack_port_request(pack(request) + '\0'));
  request.call.kind = static_cast<Kind>(99);
  CHECK_FALSE(unpack_port_request(pack(request)));
}

}  // namespace
}  // namespace tmpi::launch
