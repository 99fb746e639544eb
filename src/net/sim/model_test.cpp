#include "net/sim/model.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "net/sim/arrivals.hpp"

namespace tmpi::net::sim {
namespace {

constexpr Model kModel{.latency = 1000, .overhead = 10, .gap = 50, .per_byte = 2};

TEST_CASE("an interface serves in order") {
  Interface interface;
  CHECK(interface.reserve(100, 30) == 100);
  CHECK(interface.reserve(100, 30) == 130);
  CHECK(interface.reserve(500, 1) == 500);
}

TEST_CASE("messages keep an interface for their bytes, but at least for a gap") {
  Interface interface;
  CHECK(Departure().piece(interface, kModel, 0, 8, true) == 0);
  CHECK(Departure().piece(interface, kModel, 0, 100, true) == 50);
  CHECK(Departure().piece(interface, kModel, 0, 1, true) == 250);
}

TEST_CASE("pieces of a message follow each other without a gap") {
  Interface interface;
  Departure departure;
  CHECK(departure.piece(interface, kModel, 0, 10, false) == 0);
  CHECK(departure.piece(interface, kModel, 0, 10, true) == 20);
  CHECK(Departure().piece(interface, kModel, 0, 10, true) >= 50);
}

TEST_CASE("what arrives from several nodes comes in one after the other") {
  Arrivals arrivals;
  const Arrivals::Piece piece{.source = 0, .arrives = 1000, .bytes = 100};
  CHECK(arrivals.estimate(kModel, piece) == 1200);
  CHECK(arrivals.admit(kModel, piece, 0) == 1000);
  CHECK(arrivals.busy());
  CHECK(arrivals.complete() == 1200);
  arrivals.finish();
  const Arrivals::Piece other{.source = 1, .arrives = 1010, .bytes = 1};
  CHECK(arrivals.admit(kModel, other, 0) == 1200);
  CHECK(arrivals.complete() == 1202);
  arrivals.finish();
  CHECK(arrivals.admit(kModel, other, 0) == 1250);  // the gap
}

TEST_CASE("random delays: within bounds, the same for the same seed, different for another") {
  Model model = kModel;
  CHECK(Jitter(model, 1).next() == 0);
  model.jitter = 1000;
  std::vector<Nanoseconds> first, again, other;
  Jitter a(model, 1), b(model, 1), c(model, 2);
  for (int i = 0; i < 1000; ++i) {
    first.push_back(a.next());
    again.push_back(b.next());
    other.push_back(c.next());
  }
  CHECK(first == again);
  CHECK(first != other);
  double sum = 0;
  for (const Nanoseconds delay : first) {
    REQUIRE(delay >= 0);
    REQUIRE(delay <= 1000);
    sum += static_cast<double>(delay);
  }
  CHECK(sum / 1000 == doctest::Approx(500).epsilon(0.1));
}

}  // namespace
}  // namespace tmpi::net::sim
