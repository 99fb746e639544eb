// The matcher against a naive list, on random traffic.
#include "mpi/match/matcher.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <deque>
#include <list>
#include <new>
#include <random>

#include "sched/waiter.hpp"

using namespace tmpi::mpi;

namespace {

// What the matcher's tables are made of fails: always, or but for every n-th.
bool allocation_fails = false;
int allocation_period = 0;
long allocations_failed = 0;

}  // namespace

void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  static int calls = 0;
  if (allocation_fails || (allocation_period != 0 && ++calls % allocation_period != 0)) {
    ++allocations_failed;
    return nullptr;
  }
  return std::malloc(size);
}
// The plain form too, so that malloc has given whatever is deleted (AddressSanitizer looks).
void* operator new[](std::size_t size) {
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

// What MPI says, literally: first posted receive that accepts the message; first arrived message that the
// receive accepts.
struct NaiveMatcher {
  std::list<PostedReceive*> posted;
  std::list<Message*> unexpected;

  PostedReceive* take_posted(const MatchKey& key) {
    for (auto it = posted.begin(); it != posted.end(); ++it) {
      if ((*it)->key.accepts(key)) {
        PostedReceive* found = *it;
        posted.erase(it);
        return found;
      }
    }
    return nullptr;
  }
  Message* take_unexpected(const MatchKey& key) {
    for (auto it = unexpected.begin(); it != unexpected.end(); ++it) {
      if (key.accepts((*it)->key)) {
        Message* found = *it;
        unexpected.erase(it);
        return found;
      }
    }
    return nullptr;
  }
};

struct Traffic {
  explicit Traffic(unsigned seed, int sources, int tags, double wildcards)
      : random(seed), source(0, sources - 1), tag(0, tags - 1), wild(wildcards) {}

  MatchKey message() { return {context(random), source(random), tag(random)}; }
  MatchKey receive() {
    MatchKey key = message();
    if (wild(random)) key.source = MPI_ANY_SOURCE;
    if (wild(random)) key.tag = MPI_ANY_TAG;
    return key;
  }

  std::mt19937 random;
  std::uniform_int_distribution<std::uint64_t> context{1, 2};
  std::uniform_int_distribution<int> source;
  std::uniform_int_distribution<int> tag;
  std::bernoulli_distribution wild;
};

// A receive's request is what arrive() tells of it: here that is the receive itself.
PostedReceive& new_receive(std::deque<PostedReceive>& receives) {
  receives.push_back({});
  receives.back().request = reinterpret_cast<Request*>(&receives.back());
  return receives.back();
}
PostedReceive* posted_by(const MatchResult& arrival) {
  return reinterpret_cast<PostedReceive*>(arrival.receive);
}

bool leave_to(Matcher& matcher, const MatchKey& key, Message& message) {
  return matcher.arrive(key, [&]() noexcept { return &message; }).left;
}

void compare(Traffic traffic, int steps, double send_share, int bias_period) {
  Matcher matcher;
  NaiveMatcher model;
  std::deque<PostedReceive> receives;
  std::deque<Message> messages;
  std::bernoulli_distribution mostly_sends(send_share);
  for (int step = 0; step < steps; ++step) {
    // Phases of many sends and of many receives, so that both queues grow and shrink.
    const bool flip = (step / bias_period) % 2 == 1;
    if (mostly_sends(traffic.random) != flip) {
      const MatchKey key = traffic.message();
      PostedReceive* expected = model.take_posted(key);
      // Now and then it cannot be left at first, and comes again.
      if (step % 5 == 0 && expected == nullptr) {
        const MatchResult declined = matcher.arrive(key, []() noexcept -> Message* { return nullptr; });
        REQUIRE(declined.receive == nullptr);
        REQUIRE_FALSE(declined.left);
      }
      const MatchResult arrival = matcher.arrive(key, [&]() noexcept {
        messages.push_back({});
        messages.back().bytes = 8;
        messages.back().payload = &messages;  // lies in a cell
        return &messages.back();
      });
      REQUIRE(posted_by(arrival) == expected);
      REQUIRE(arrival.left == (expected == nullptr));
      if (expected != nullptr) {
        REQUIRE_FALSE(expected->queued);
      } else {
        REQUIRE(messages.back().key == key);
        model.unexpected.push_back(&messages.back());
      }
    } else {
      const MatchKey key = traffic.receive();
      REQUIRE(matcher.find_unexpected(key) == (model.unexpected.empty() ? nullptr : [&]() -> Message* {
                for (Message* m : model.unexpected)
                  if (key.accepts(m->key)) return m;
                return nullptr;
              }()));
      Message* expected = model.take_unexpected(key);
      Message* const message =
          matcher.receive(key, [&]() noexcept -> PostedReceive& { return new_receive(receives); });
      REQUIRE(message == expected);
      if (expected == nullptr) model.posted.push_back(&receives.back());
    }
    if (step % 7 == 0 && !model.posted.empty()) {  // cancel a receive somewhere in the middle
      auto victim =
          std::next(model.posted.begin(), static_cast<long>(traffic.random() % model.posted.size()));
      REQUIRE((*victim)->queued);
      matcher.remove(**victim);
      REQUIRE_FALSE((*victim)->queued);
      model.posted.erase(victim);
    }
    if (step % 11 == 0 && !model.unexpected.empty()) {
      auto victim =
          std::next(model.unexpected.begin(), static_cast<long>(traffic.random() % model.unexpected.size()));
      matcher.remove(**victim);
      model.unexpected.erase(victim);
    }
    REQUIRE(matcher.posted_count() == model.posted.size());
    REQUIRE(matcher.unexpected_count() == model.unexpected.size());
    REQUIRE(matcher.buffered_bytes() == 8 * model.unexpected.size());
  }
}

}  // namespace

TEST_CASE("matches like a naive list: few keys, many wildcards") {
  for (unsigned seed = 0; seed < 20; ++seed) compare(Traffic(seed, 3, 3, 0.3), 4000, 0.6, 200);
}

TEST_CASE("matches like a naive list: many receives with the same key one after the other") {
  for (unsigned seed = 0; seed < 20; ++seed) compare(Traffic(seed, 1, 2, seed % 2 * 0.1), 4000, 0.6, 200);
}

TEST_CASE("matches like a naive list: many peers, no wildcards") {
  for (unsigned seed = 0; seed < 5; ++seed) compare(Traffic(seed, 500, 4, 0.0), 8000, 0.8, 2000);
}

TEST_CASE("matches like a naive list: many peers, some wildcards") {
  for (unsigned seed = 0; seed < 5; ++seed) compare(Traffic(seed, 100, 10, 0.05), 8000, 0.8, 1500);
}

TEST_CASE("messages of one sender with one tag are received in order") {
  Matcher matcher;
  std::deque<Message> messages(100);
  for (Message& message : messages) CHECK(leave_to(matcher, {1, 4, 7}, message));
  for (Message& message : messages) CHECK(matcher.take_unexpected({1, MPI_ANY_SOURCE, 7}) == &message);
}

TEST_CASE("many unexpected messages, none, a few, many again") {
  Matcher matcher;
  std::deque<Message> messages(300);
  for (int round = 0; round < 4; ++round) {
    for (const int count : {3, 17, 100, 5, 300, 16}) {
      for (int i = 0; i < count; ++i)
        CHECK(leave_to(matcher, {1, i % 7, i}, messages[static_cast<std::size_t>(i)]));
      CHECK(matcher.take_unexpected({1, 8, 0}) == nullptr);
      for (int i = count - 1; i >= 0; --i)
        CHECK(matcher.take_unexpected({1, i % 7, i}) == &messages[static_cast<std::size_t>(i)]);
      CHECK(matcher.take_unexpected({1, MPI_ANY_SOURCE, MPI_ANY_TAG}) == nullptr);
    }
  }
}

TEST_CASE("contexts are kept apart, also from wildcards") {
  Matcher matcher;
  std::deque<PostedReceive> receives;
  REQUIRE(matcher.receive({5, MPI_ANY_SOURCE, MPI_ANY_TAG},
                          [&]() noexcept -> PostedReceive& { return new_receive(receives); }) == nullptr);
  Message first, second, third;
  CHECK(leave_to(matcher, {6, 0, 0}, first));
  CHECK(leave_to(matcher, {5 | (std::uint64_t{1} << 63), 0, 0}, second));
  const MatchResult arrival = matcher.arrive({5, 0, 0}, [&]() noexcept { return &third; });
  CHECK(posted_by(arrival) == &receives.back());
  CHECK_FALSE(arrival.left);
  CHECK_FALSE(receives.back().queued);
}

TEST_CASE("without memory for its tables it matches as well") {
  allocation_fails = true;
  for (unsigned seed = 0; seed < 3; ++seed) compare(Traffic(seed, 100, 10, 0.05), 4000, 0.8, 1000);
  allocation_fails = false;
  CHECK(allocations_failed > 1000);
  // And where memory comes and goes.
  for (allocation_period = 2; allocation_period < 6; ++allocation_period)
    compare(Traffic(static_cast<unsigned>(allocation_period), 100, 10, 0.05), 8000, 0.8, 1500);
  allocation_period = 0;
}
