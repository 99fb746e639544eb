// Channels between workers without workers: one thread that plays all of them, where every step can be seen,
// and threads that sleep as workers do, where a message that is lost or overtaken shows.
#include "mpi/p2p/worker_channels.hpp"

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/process_barrier.hpp"
#include "base/sanitized.hpp"

using namespace tmpi::mpi;

namespace {

// Stands for a Rank: who receives, and notes what comes. Messages are numbered by their tag.
struct Receiver {
  std::mutex lock;        // senders deliver too, when they flush
  std::vector<int> next;  // by sending worker: the number that its next message must have
  std::atomic<long> received{0};
  bool full = false;  // nothing can be delivered
  bool in_order = true;
  long outside = 0;  // with their payload outside of the slot

  explicit Receiver(int workers) : next(static_cast<std::size_t>(workers), 0) {}
};

std::deque<Receiver> make_receivers(int workers) {
  std::deque<Receiver> receivers;
  for (int i = 0; i < workers; ++i) receivers.emplace_back(workers);
  return receivers;
}

// The payload of message `number`: its size, of which every third is more than fits the slot, and its bytes.
MPI_Count size_of(int number) {
  return number % 3 == 0 ? kSlotBytes + 1 + number * 7 % 900 : 8;
}
char fill_of(int number) {
  return static_cast<char>(number * 31);
}

// Where there was no room for it only 8 bytes have come.
bool intact(const Slot& slot) {
  if (slot.bytes <= kSlotBytes) return slot.bytes == 8;
  const char* const payload = static_cast<const char*>(slot.outside.payload);
  return slot.outside.cell == nullptr && slot.bytes == size_of(slot.key.tag) &&
         std::all_of(payload, payload + slot.bytes, [&](char c) { return c == fill_of(slot.key.tag); });
}

bool note(Slot& slot) noexcept {
  Receiver& receiver = *reinterpret_cast<Receiver*>(slot.target);
  if (receiver.full) return false;
  const std::lock_guard guard(receiver.lock);
  int& next = receiver.next[static_cast<std::size_t>(slot.key.source)];
  receiver.in_order = receiver.in_order && slot.key.tag == next && intact(slot);
  receiver.outside += slot.bytes > kSlotBytes;
  ++next;
  ++receiver.received;
  return true;
}

bool post(WorkerChannels& channels, int from, int to, Receiver& receiver, int number) {
  Channel* const channel = channels.to(from, to);
  REQUIRE(channel != nullptr);
  Slot* const slot = channels.free_slot(from, *channel);
  if (slot == nullptr) return false;
  slot->target = reinterpret_cast<Rank*>(&receiver);
  slot->key = {1, from, number};
  slot->bytes = 8;
  const MPI_Count bytes = size_of(number);
  std::byte* const room = bytes > kSlotBytes ? channels.room(from, *channel, bytes) : nullptr;
  if (room != nullptr) {
    std::memset(room, fill_of(number), static_cast<std::size_t>(bytes));
    slot->bytes = static_cast<std::uint16_t>(bytes);
    slot->outside = {room, nullptr};
  }
  channels.publish(from, *channel, *slot, to);
  return true;
}

// Messages until the ring is full.
int fill(WorkerChannels& channels, int from, int to, Receiver& receiver, int& number) {
  int posted = 0;
  while (post(channels, from, to, receiver, number)) ++number, ++posted;
  return posted;
}

}  // namespace

TEST_CASE("a channel delivers in order, grows when it is found full, and tells what came") {
  WorkerChannels channels(2);
  Receiver receiver(2);
  int number = 0;
  CHECK_FALSE(channels.drain<note>(1));
  CHECK(channels.flush<note>(0, 1));  // nothing has ever been sent
  CHECK(fill(channels, 0, 1, receiver, number) == 4);
  CHECK(channels.drain<note>(1));
  CHECK(receiver.received == 4);
  CHECK_FALSE(channels.drain<note>(1));
  for (int lap = 0; lap < 3; ++lap) {
    fill(channels, 0, 1, receiver, number);
    CHECK(channels.flush<note>(0, 1));
    CHECK(receiver.received == number);
  }
  CHECK(fill(channels, 0, 1, receiver, number) == 256);
  CHECK_FALSE(channels.drain<note>(0));
  CHECK(channels.drain<note>(1));
  CHECK(receiver.received == number);
  CHECK(receiver.in_order);
  CHECK(channels.polled(1) == 1);
}

TEST_CASE("who wants one message takes what is in front of it, and no more") {
  WorkerChannels channels(3);
  Receiver receiver(3);
  for (int i = 0; i < 3; ++i) REQUIRE(post(channels, 0, 1, receiver, i));
  REQUIRE(post(channels, 2, 1, receiver, 0));
  const auto take = [&](long enough) {
    return channels.drain_until<note>(1, [&] { return receiver.received >= enough; });
  };
  CHECK(take(1));
  CHECK(receiver.received == 1);
  CHECK(take(2));
  CHECK(receiver.received == 2);
  CHECK(take(100));
  CHECK(receiver.received == 4);
  CHECK_FALSE(take(100));
  // One that is stuck is not forgotten by it.
  receiver.full = true;
  REQUIRE(post(channels, 0, 1, receiver, 3));
  REQUIRE(post(channels, 0, 1, receiver, 4));
  CHECK(take(5));
  CHECK(channels.stuck() == 1);
  receiver.full = false;
  CHECK(take(5));
  CHECK(receiver.received == 5);
  CHECK(channels.stuck() == 0);
  CHECK(take(6));
  CHECK(receiver.in_order);
}

TEST_CASE("what cannot be delivered stays, in order, and nobody waits for it") {
  WorkerChannels channels(2);
  Receiver receiver(2);
  REQUIRE(post(channels, 0, 1, receiver, 0));
  REQUIRE(post(channels, 0, 1, receiver, 1));
  receiver.full = true;
  CHECK_FALSE(channels.flush<note>(0, 1));
  CHECK(channels.stuck() == 1);
  CHECK_FALSE(channels.drain<note>(1));
  CHECK(channels.stuck() == 1);
  CHECK(receiver.received == 0);
  receiver.full = false;
  CHECK(channels.drain<note>(1));
  CHECK(channels.stuck() == 0);
  CHECK(receiver.received == 2);
  CHECK(receiver.in_order);
  CHECK(channels.flush<note>(0, 1));
}

TEST_CASE("who is stuck is known per channel, whoever has tried last") {
  WorkerChannels channels(3);
  Receiver full(3), other(3);
  full.full = true;
  REQUIRE(post(channels, 0, 2, full, 0));
  REQUIRE(post(channels, 1, 2, other, 0));
  CHECK(channels.drain<note>(2));  // one is delivered, one is stuck
  CHECK(other.received == 1);
  CHECK(channels.stuck() == 1);
  CHECK_FALSE(channels.drain<note>(2));
  REQUIRE(post(channels, 1, 2, other, 1));
  CHECK(channels.drain<note>(2));
  CHECK(channels.stuck() == 1);  // still, though the other channel has delivered
  // Delivered by the sender: the reader need not look for it to be known.
  full.full = false;
  CHECK(channels.flush<note>(0, 2));
  CHECK(channels.stuck() == 0);
  CHECK_FALSE(channels.drain<note>(2));
  CHECK(full.received == 1);
  // A worker whose only message is stuck looks once more before it sleeps, and then sleeps.
  full.full = true;
  REQUIRE(post(channels, 0, 2, full, 1));
  CHECK(channels.drain<note>(2));
  CHECK_FALSE(channels.drain<note>(2));
  full.full = false;
  CHECK(channels.drain<note>(2));
  CHECK(channels.stuck() == 0);
}

TEST_CASE("128 workers: silent channels are not looked at, and heard at once when they talk again") {
  constexpr int kWorkers = 128, kPolls = 1000;
  WorkerChannels channels(kWorkers, kPolls);
  std::deque<Receiver> receivers = make_receivers(kWorkers);
  for (int round = 0; round < 4; ++round) {
    for (int from = 0; from < kWorkers; ++from) {
      for (int to = 0; to < kWorkers; ++to) {
        if (from != to) REQUIRE(post(channels, from, to, receivers[static_cast<std::size_t>(to)], round));
      }
    }
    for (int to = 0; to < kWorkers; ++to) {
      CHECK(channels.drain<note>(to));
      CHECK(receivers[static_cast<std::size_t>(to)].received == (round + 1) * (kWorkers - 1));
      if (round == 0) CHECK(channels.polled(to) == kWorkers - 1);
      // Two rounds of polls that find nothing: one to see who is silent, one to make them dormant.
      for (int polls = 0; polls <= 2 * (kPolls + kWorkers) && channels.polled(to) > 1;
           polls += channels.polled(to))
        CHECK_FALSE(channels.drain<note>(to));
      CHECK(channels.polled(to) == 1);
    }
  }
  for (const Receiver& receiver : receivers) CHECK(receiver.in_order);
}

namespace {

// For the calling thread from now on; false: the system has no filters.
bool filter_process_barrier() {
  sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(steps)), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

TEST_CASE("no channel becomes dormant where the process barrier fails") {
  if (!tmpi::enable_process_barrier()) return;
  std::thread([] {
    if (!filter_process_barrier()) return;
    CHECK_FALSE(tmpi::process_barrier());
    WorkerChannels channels(3, 10, true);
    Receiver receiver(3);
    for (int from : {1, 2}) REQUIRE(post(channels, from, 0, receiver, 0));
    CHECK(channels.drain<note>(0));
    for (int i = 0; i < 100; ++i) CHECK_FALSE(channels.drain<note>(0));
    CHECK(channels.polled(0) == 2);
    for (int from : {1, 2}) REQUIRE(post(channels, from, 0, receiver, 1));
    CHECK(channels.drain<note>(0));
    CHECK(receiver.received == 4);
  }).join();
}

TEST_CASE("a channel that talks does not become dormant with those that do not") {
  WorkerChannels channels(4, 100);
  Receiver receiver(4);
  for (int from = 1; from < 4; ++from) REQUIRE(post(channels, from, 0, receiver, 0));
  for (int i = 1; i < 1000; ++i) {
    REQUIRE(post(channels, 2, 0, receiver, i));
    CHECK(channels.drain<note>(0));
  }
  CHECK(channels.polled(0) == 1);
  REQUIRE(post(channels, 3, 0, receiver, 1));
  CHECK(channels.drain<note>(0));
  CHECK(receiver.next == std::vector<int>{0, 1, 1000, 2});
  CHECK(receiver.in_order);
}

TEST_CASE("large rings are few, and go from who rests to who talks") {
  constexpr int kWorkers = 128;
  WorkerChannels channels(kWorkers, 10);
  Receiver receiver(kWorkers), other(kWorkers);
  const auto stream = [&](int to, Receiver& whom, int& number) {
    for (int lap = 0; lap < 2; ++lap) {
      fill(channels, 0, to, whom, number);
      CHECK(channels.flush<note>(0, to));
    }
    const int room = fill(channels, 0, to, whom, number);
    CHECK(channels.drain<note>(to));
    return room;
  };
  int first = 0, second = 0;
  CHECK(stream(1, receiver, first) == 256);
  CHECK(stream(2, other, second) == 4);  // the worker's only one is taken
  // Worker 1 hears of somebody else, and channel 0 -> 1 falls silent.
  REQUIRE(post(channels, 3, 1, receiver, 0));
  for (int i = 1; i < 50; ++i) {
    CHECK(channels.drain<note>(1));
    REQUIRE(post(channels, 3, 1, receiver, i));
  }
  CHECK(channels.polled(1) == 1);
  CHECK(stream(2, other, second) == 256);
  CHECK(stream(1, receiver, first) == 4);
  CHECK(receiver.in_order);
  CHECK(other.in_order);
}

TEST_CASE("a payload ring: whole lines, none twice before it is delivered, and room again afterwards") {
  const auto ring = std::make_unique<PayloadRing>();
  constexpr std::uint32_t kBytes = 200;                     // four lines
  std::uint32_t sent = 0xffffffff - 100, delivered = sent;  // numbers go round
  std::deque<std::byte*> lying;
  std::set<std::byte*> places;
  for (int lap = 0; lap < 10; ++lap) {
    std::byte* room;
    while ((room = ring->take(sent + 1, kBytes)) != nullptr) {
      ++sent;
      CHECK(reinterpret_cast<std::uintptr_t>(room) % tmpi::kCacheLine == 0);
      for (const std::byte* other : lying) CHECK(std::abs(other - room) >= 4 * 64);
      lying.push_back(room);
      places.insert(room);
    }
    CHECK(lying.size() == PayloadRing::kLines / 4);
    for (int i = 0; i < 37; ++i) lying.pop_front();
    ring->delivered(delivered += 37);
  }
  CHECK(places.size() == PayloadRing::kLines / 4);
  // A large one does not go around the end, and finds no room while something lies there.
  ring->delivered(sent);
  REQUIRE(ring->take(++sent, 64) != nullptr);
  std::byte* const large = ring->take(++sent, PayloadRing::kMost);
  REQUIRE(large != nullptr);
  int more = 0;
  while (ring->take(++sent, PayloadRing::kMost) != nullptr) ++more;
  CHECK(more == 6);  // the line before them has cost the eighth
  ring->clear();
  CHECK(ring->take(sent + 1, PayloadRing::kMost) != nullptr);
  // Many small ones: no more than slots.
  ring->clear();
  int small = 0;
  while (ring->take(++sent, 8) != nullptr) ++small;
  CHECK(small == 256);
}

TEST_CASE("payloads travel in the ring of a channel that is used, and only in so many") {
  for (int workers : {2, 128}) {
    WorkerChannels channels(workers);
    Receiver receiver(workers);
    int number = 0;
    for (int lap = 0; lap < 20; ++lap) {
      fill(channels, 0, 1, receiver, number);
      CHECK(channels.drain<note>(1));
    }
    CHECK(receiver.in_order);
    CHECK(receiver.received == number);
    CHECK((receiver.outside > 100) == (workers == 2));
  }
}

// Workers' threads: they post, drain, and sleep when nothing comes, in the way of sched::Worker: announce
// that, look once more, sleep; who posts wakes those who have announced it.
namespace {

class Threads {
 public:
  static constexpr int kWorkers = 4, kMessages = tmpi::kSanitized ? 5000 : 20000;
  static constexpr long kExpected = long{kWorkers - 1} * kMessages;

  Threads(unsigned seed, bool quick) : seed_(seed), quick_(quick) {}

  void run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kWorkers; ++i) threads.emplace_back([this, i] { work(i); });
    for (std::thread& thread : threads) thread.join();
    for (const Receiver& receiver : receivers_) {
      CHECK(receiver.in_order);
      CHECK(receiver.received == kExpected);
    }
  }

 private:
  struct alignas(64) State {
    std::atomic<int> asleep{0};
    std::atomic<bool> last{false};  // sends its last messages now
  };

  void work(int me) {
    std::mt19937 random(seed_ * 100 + static_cast<unsigned>(me));
    int number = 0;
    const Receiver& mine = receivers_[static_cast<std::size_t>(me)];
    while (number < kMessages || mine.received < kExpected) {
      for (auto burst = random() % 12; burst > 0 && number < kMessages; --burst) {
        if (number == kMessages - 1) states_[static_cast<std::size_t>(me)].last.store(true);
        for (int to = 0; to < kWorkers; ++to) {
          if (to != me) send(me, to, number, random() % 64 == 0);
        }
        ++number;
      }
      for (auto looks = random() % 20; looks > 0; --looks) {
        if (random() % 2 == 0) {
          (void)channels_.drain<note>(me);
        } else {
          const long enough = mine.received + 1 + random() % 4;
          (void)channels_.drain_until<note>(me, [&] { return mine.received >= enough; });
        }
      }
      if (random() % 8 == 0 || number == kMessages) sleep(me);
    }
  }

  void send(int me, int to, int number, bool flush) {
    if (flush) REQUIRE(channels_.flush<note>(me, to));
    while (!post(channels_, me, to, receivers_[static_cast<std::size_t>(to)], number))
      REQUIRE(channels_.flush<note>(me, to));
    std::atomic<int>& asleep = states_[static_cast<std::size_t>(to)].asleep;
    if (asleep.load() == 0) return;
    asleep.store(0);
    asleep.notify_all();
  }

  void sleep(int me) {
    std::atomic<int>& asleep = states_[static_cast<std::size_t>(me)].asleep;
    asleep.store(1);
    if (quick_) REQUIRE(tmpi::process_barrier());
    if (!channels_.drain<note>(me) && sure_to_be_woken(me)) asleep.wait(1);
    asleep.store(0);
  }

  // Somebody has still to post to us: not only those who may sleep until we do.
  bool sure_to_be_woken(int me) {
    for (int i = 0; i < me; ++i) {
      if (!states_[static_cast<std::size_t>(i)].last.load()) return true;
    }
    for (const State& state : states_) {
      if (!state.last.load()) return false;
    }
    return receivers_[static_cast<std::size_t>(me)].received < kExpected;
  }

  const unsigned seed_;
  const bool quick_;
  WorkerChannels channels_{kWorkers, 20, quick_};  // dormant after a few looks
  std::deque<Receiver> receivers_ = make_receivers(kWorkers);
  std::vector<State> states_{kWorkers};
};

}  // namespace

TEST_CASE("nothing is lost or overtaken between threads that fall asleep all the time") {
  const bool quick = tmpi::enable_process_barrier();
  for (unsigned seed = 0; seed < 5; ++seed) Threads(seed, quick && seed % 2 == 0).run();
}
