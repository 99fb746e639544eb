#include "launch/attach/node_keys.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>

using namespace tmpi::launch;

namespace {

struct Pipe {
  Pipe() { REQUIRE(pipe2(ends.data(), O_NONBLOCK) == 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int fd : ends) close(fd);
  }
  void put(std::string_view text) const {
    REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  std::string all() const {
    std::array<char, 65536> buffer{};
    const ssize_t got = read(ends[0], buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
  }
  std::array<int, 2> ends{};
};

tmpi::net::PublicKey some_key() {
  return tmpi::net::KeyPair::draw()->public_key();
}

}  // namespace

TEST_CASE("announcements are found among other lines, which go on") {
  const Pipe printed;
  const Pipe others;
  AnnouncedKeys keys(3, printed.ends[0], others.ends[1]);
  const auto first = some_key();
  const auto second = some_key();
  const std::string line = announcement(2, first);
  printed.put("prolog says hello\n" + line.substr(0, 30));
  keys.read_more();
  CHECK(keys.of(2) == nullptr);
  printed.put(line.substr(30) + announcement(0, second) + "no end");
  keys.read_more();
  REQUIRE(keys.of(2) != nullptr);
  CHECK(*keys.of(2) == first);
  REQUIRE(keys.of(0) != nullptr);
  CHECK(*keys.of(0) == second);
  CHECK(keys.of(1) == nullptr);
  CHECK(keys.of(3) == nullptr);
  keys.finish();
  CHECK(others.all() == "prolog says hello\nno end");
}

TEST_CASE("the first key counts, and what is none is somebody's output") {
  const Pipe printed;
  const Pipe others;
  AnnouncedKeys keys(1, printed.ends[0], others.ends[1]);
  const auto first = some_key();
  printed.put(announcement(0, first) + announcement(0, first));
  keys.read_more();
  CHECK(others.all().empty());
  const std::string impostor = announcement(0, some_key());
  const std::string nobody = announcement(7, first);
  printed.put(impostor + nobody + "tmpi-node-key 0 short\ntmpi-node-key \ntmpi-node-key x y\n");
  keys.read_more();
  CHECK(*keys.of(0) == first);
  CHECK(others.all() == impostor + nobody + "tmpi-node-key 0 short\ntmpi-node-key \ntmpi-node-key x y\n");
  printed.put(std::string(5000, 'x'));  // no line: nobody waits for its end
  keys.read_more();
  keys.read_more();
  CHECK(others.all().size() >= 4096);
}
