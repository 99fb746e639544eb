#include "launch/options/hosts.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <random>

namespace tmpi::launch {
namespace {

using Hosts = std::vector<HostSlots>;

Hosts of(Result<Hosts> hosts) {
  REQUIRE_MESSAGE(static_cast<bool>(hosts), (hosts ? "" : hosts.message()));
  return *std::move(hosts);
}

std::string complaint(const Result<Hosts>& hosts) {
  REQUIRE_FALSE(static_cast<bool>(hosts));
  return hosts.message();
}

TEST_CASE("lists") {
  CHECK(of(parse_host_list("a:4,b")) == Hosts{{"a", 4}, {"b", 1}});
  CHECK(of(parse_host_list("a,b,a,a:2")) == Hosts{{"a", 4}, {"b", 1}});
  CHECK(of(parse_host_list("me@node-1.cluster:16")) == Hosts{{"me@node-1.cluster", 16}});
  CHECK(of(parse_host_list("[fe80::1]:2,fe80::2,10.0.0.1:3")) ==
        Hosts{{"fe80::1", 2}, {"fe80::2", 1}, {"10.0.0.1", 3}});
  CHECK(complaint(parse_host_list("")) == "'' is no name of a host");
  CHECK(complaint(parse_host_list("a,,b")) == "'' is no name of a host");
  CHECK(complaint(parse_host_list("a:x")) == "'x' is no number of slots (1 to 1000000)");
  CHECK(complaint(parse_host_list("a:0")).starts_with("'0' is no number"));
  CHECK(complaint(parse_host_list("a:")) == "there is no number behind ':' in 'a:'");
  CHECK(complaint(parse_host_list("-oProxyCommand=x")) == "'-oProxyCommand=x' is no name of a host");
  CHECK(complaint(parse_host_list("[::1")) == "'[::1' has no ']'");
}

TEST_CASE("files of Open MPI and MPICH") {
  CHECK(of(parse_host_file(
            "# the cluster\nnode1 slots=4 max_slots=8  # four\n\n  node2\tslots=2\nnode3\r\n")) ==
        Hosts{{"node1", 4}, {"node2", 2}, {"node3", 1}});
  CHECK(of(parse_host_file("node1 slots = 4\nnode2\tslots= 2 max_slots =8\nnode3 slots =3\n")) ==
        Hosts{{"node1", 4}, {"node2", 2}, {"node3", 3}});
  CHECK(of(parse_host_file("node1:4 ifname=eth1\nnode2:2\nnode1:1")) == Hosts{{"node1", 5}, {"node2", 2}});
  CHECK(complaint(parse_host_file("a\nb slots=none\n")) ==
        "line 2: 'none' is no number of slots (1 to 1000000)");
  CHECK(complaint(parse_host_file("a b c\n")).starts_with("line 1: 'b' is not understood"));
  CHECK(complaint(parse_host_file("# nobody\n")) == "there is no host in it");
  CHECK(complaint(read_host_file("/no/such/file")).starts_with("cannot read the file: No such file"));
  CHECK(complaint(parse_host_file("a,b slots=2\n")) == "line 1: 'a,b' is no name of a host");
  CHECK(complaint(parse_host_file("slots=2\n")) == "line 1: 'slots=2' is no name of a host");
}

TEST_CASE("what is no file of hosts is refused with a sentence") {
  CHECK(complaint(read_host_file("/tmp")) == "cannot read the file: Is a directory");
  CHECK(complaint(read_host_file("/proc/self/mem")) == "cannot read the file: Input/output error");
  CHECK(complaint(read_host_file("/dev/zero")) == "it is larger than 16 MiB: it is no file of hosts");
  CHECK(complaint(parse_host_file(std::string_view("a\0b\n", 4))) ==
        "there are zero bytes in it: it is no text file");
  CHECK(complaint(parse_host_file(std::string(600, 'x'))).ends_with("...' is no name of a host"));
  CHECK(complaint(parse_host_list("a\x1b[2J")) == "'a?[2J' is no name of a host");
  CHECK(complaint(parse_host_file("a slots=99999999999999999999")).find("no number of slots") !=
        std::string::npos);
  std::string many;
  for (int i = 0; i < 70'000; ++i) many += "h" + std::to_string(i) + "\n";
  CHECK(complaint(parse_host_file(many)) == "there are more than 65536 hosts");
  CHECK(of(parse_host_file("a:999999\na:999999\na:999999\n")) == Hosts{{"a", 1'000'000}});
}

TEST_CASE("any bytes give hosts or a sentence") {
  std::mt19937 random(11);
  const std::string_view alphabet = "ab:,[]=#- \n\t\rslots0129@";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto length = random() % 30; length > 0; --length) text += alphabet[random() % alphabet.size()];
    for (const auto& hosts : {parse_host_list(text), parse_host_file(text)}) {
      if (!hosts) {
        CHECK_FALSE(hosts.message().empty());
        continue;
      }
      for (const HostSlots& one : *hosts) {
        CHECK_FALSE(one.host.empty());
        CHECK_FALSE(one.host.starts_with('-'));
        CHECK(one.slots >= 1);
      }
    }
  }
}

TEST_CASE("this machine") {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  CHECK(is_here("localhost"));
  CHECK(is_here(name));
  CHECK_FALSE(is_here(std::string(name) + "-other"));
}

}  // namespace
}  // namespace tmpi::launch
