// The table of ways at each of its limits.
#include "mpi/p2p/way.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <string>

namespace tmpi::mpi {
namespace {

constexpr MPI_Count kLargest = WayRow::kAnySize;

constexpr Way way(ReceiverPlace place, MPI_Count bytes, DataLayout layout = DataLayout::kRuns,
                  SendMode mode = SendMode::kStandard) {
  return choose_way(place, bytes, layout, mode);
}

TEST_CASE("to a rank of another worker: slot, ring, eager, rendezvous") {
  CHECK(way(ReceiverPlace::kWorker, 0) == Way::kSlot);
  CHECK(way(ReceiverPlace::kWorker, 96) == Way::kSlot);
  CHECK(way(ReceiverPlace::kWorker, 97) == Way::kRing);
  CHECK(way(ReceiverPlace::kWorker, 1024) == Way::kRing);
  CHECK(way(ReceiverPlace::kWorker, 1025) == Way::kEager);
  CHECK(way(ReceiverPlace::kWorker, 4096) == Way::kEager);
  CHECK(way(ReceiverPlace::kWorker, 4097) == Way::kRendezvous);
  CHECK(way(ReceiverPlace::kWorker, kLargest) == Way::kRendezvous);
}

TEST_CASE("scattered data are packed up to the largest size that a slot can name") {
  const auto scattered = [](ReceiverPlace place, MPI_Count bytes) {
    return way(place, bytes, DataLayout::kScattered);
  };
  CHECK(scattered(ReceiverPlace::kWorker, 96) == Way::kSlot);
  CHECK(scattered(ReceiverPlace::kWorker, 1024) == Way::kRing);
  CHECK(scattered(ReceiverPlace::kWorker, 1025) == Way::kPacked);
  CHECK(scattered(ReceiverPlace::kWorker, 65535) == Way::kPacked);
  CHECK(scattered(ReceiverPlace::kWorker, 65536) == Way::kRendezvous);
  CHECK(scattered(ReceiverPlace::kMatcher, 96) == Way::kEager);
  CHECK(scattered(ReceiverPlace::kMatcher, 65535) == Way::kRendezvous);
  CHECK(scattered(ReceiverPlace::kOtherNode, 65535) == Way::kNetwork);
}

TEST_CASE("at the matcher, and to another node process") {
  CHECK(way(ReceiverPlace::kMatcher, 0) == Way::kEager);
  CHECK(way(ReceiverPlace::kMatcher, 4096) == Way::kEager);
  CHECK(way(ReceiverPlace::kMatcher, 4097) == Way::kRendezvous);
  CHECK(way(ReceiverPlace::kMatcher, kLargest) == Way::kRendezvous);
  CHECK(way(ReceiverPlace::kOtherNode, 0) == Way::kNetwork);
  CHECK(way(ReceiverPlace::kOtherNode, kLargest) == Way::kNetwork);
}

TEST_CASE("a synchronous message is never copied before its receive; other modes are like the standard one") {
  for (const DataLayout layout : {DataLayout::kRuns, DataLayout::kScattered}) {
    for (const MPI_Count bytes : {MPI_Count{0}, MPI_Count{96}, MPI_Count{1024}, MPI_Count{5000}, kLargest}) {
      CHECK(way(ReceiverPlace::kMatcher, bytes, layout, SendMode::kSynchronous) == Way::kRendezvous);
      CHECK(way(ReceiverPlace::kWorker, bytes, layout, SendMode::kSynchronous) == Way::kRendezvous);
      CHECK(way(ReceiverPlace::kOtherNode, bytes, layout, SendMode::kSynchronous) == Way::kNetwork);
      for (const ReceiverPlace place :
           {ReceiverPlace::kMatcher, ReceiverPlace::kWorker, ReceiverPlace::kOtherNode})
        for (const SendMode mode : {SendMode::kReady, SendMode::kBuffered})
          CHECK(way(place, bytes, layout, mode) == way(place, bytes, layout));
    }
  }
}

TEST_CASE("each way has its row, and three of them go by a channel") {
  for (int i = 0; i < int(std::size(kWays)); ++i) {
    const Way each = kWays[i].way;
    CHECK(int(each) == i);
    CHECK(goes_by_channel(each) == (each == Way::kSlot || each == Way::kRing || each == Way::kPacked));
  }
}

TEST_CASE("two workers copy from 64 KiB on, and in pieces above 512 KiB") {
  CHECK(choose_copiers(0) == Copiers::kOne);
  CHECK(choose_copiers(65535) == Copiers::kOne);
  CHECK(choose_copiers(65536) == Copiers::kHalves);
  CHECK(kLeastShared == 65536);
  CHECK(choose_copiers(524288) == Copiers::kHalves);
  CHECK(choose_copiers(524289) == Copiers::kPieces);
  CHECK(choose_copiers(kLargest) == Copiers::kPieces);
}

TEST_CASE("the table in words has a line for each way") {
  const std::string text = describe_ways();
  for (const WayRow& row : kWays)
    CHECK(text.find("\n    " + std::string(row.name) + " ") != std::string::npos);
  CHECK(text.find("65535 B") != std::string::npos);
  CHECK(text.find("512 KiB") != std::string::npos);
}

}  // namespace
}  // namespace tmpi::mpi
