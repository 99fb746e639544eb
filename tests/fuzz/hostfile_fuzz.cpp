// Files and lists of hosts, and Slurm's lists of counts: whatever the bytes are, the result is hosts that can be named on
// a command line, or a sentence; and written down again it gives the same.
#include <algorithm>
#include <set>

#include "launch/attach/slurm_allocation.hpp"
#include "launch/options/hosts.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace tmpi::launch;
using tmpi::fuzz::require;

using Hosts = std::vector<HostSlots>;

// For a terminal: one line, of a reasonable length.
void check_sentence(const std::string& sentence) {
  require(!sentence.empty() && sentence.size() < 300);
  for (const char c : sentence) require(static_cast<unsigned char>(c) >= ' ' && c != 127);
}

void check_hosts(const Hosts& hosts) {
  std::set<std::string> names;
  require(!hosts.empty());
  for (const HostSlots& one : hosts) {
    require(!one.host.empty() && one.host[0] != '-' && one.host.size() <= 512);
    require(one.slots >= 1 && one.slots <= 1'000'000);
    for (const char c : one.host) require(static_cast<unsigned char>(c) > ' ' && c != ',' && c != ']');
    require(names.insert(one.host).second);
  }
}

void check(const tmpi::Result<Hosts>& hosts) {
  if (!hosts) return check_sentence(hosts.message());
  check_hosts(*hosts);
  std::string list;
  std::string file;
  for (const HostSlots& one : *hosts) {
    list += (list.empty() ? "[" : ",[") + one.host + "]:" + std::to_string(one.slots);
    file += "[" + one.host + "] slots=" + std::to_string(one.slots) + " # again\n";
  }
  const auto from_list = parse_host_list(list);
  const auto from_file = parse_host_file(file);
  require(from_list && *from_list == *hosts);
  require(from_file && *from_file == *hosts);
}

void write_seed(int argc, char** argv, const char* name, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  tmpi::fuzz::write_seed(argc, argv, name, {bytes.begin(), bytes.end()});
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  write_seed(*argc, *argv, "openmpi",
             "# cluster\nnode1 slots=4 max_slots=8 # four\n\n me@node2\tslots=2\nnode3\r\n");
  write_seed(*argc, *argv, "mpich", "node1:4 ifname=eth1\nnode2:2\n[fe80::1]:3\nfe80::2\nnode1\n");
  write_seed(*argc, *argv, "list", "a:4,b,me@c.example:16,[::1]:2,a");
  write_seed(*argc, *argv, "counts", "2(x3),1,72(x2)");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tmpi::fuzz::Input input(data, size);
  const auto bytes = input.stream();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  check(parse_host_file(text));
  check(parse_host_list(text));
  const std::vector<int> counts = expand_counts(text);
  require(counts.size() <= 1'000'000 && std::ranges::all_of(counts, [](int count) { return count >= 1; }));
  return 0;
}
