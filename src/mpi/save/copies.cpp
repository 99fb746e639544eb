#include "mpi/save/copies.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/whole_file.hpp"
#include "mpi.h"
#include "mpi/coll/messages/messages.hpp"
#include "mpi/init/lifetime.hpp"
#include "mpi/rank/callbacks.hpp"

namespace tmpi::mpi {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 20;  // bytes of one message
constexpr std::size_t kMostNumbers = 8;  // of a node process; more than two are left by accidents only

const Datatype& byte() {
  return *datatype_from(MPI_BYTE);
}

/// The world's ranks, by node process. Nothing here may make a communicator: there is one only when a rank is itself again.
class Nodes {
 public:
  Nodes(const Rank& rank, int copies) : here_(job()->node_of(rank.world_rank)) {
    ranks_.resize(static_cast<std::size_t>(job()->nodes()));
    for (int each = 0; each < rank.world.size; ++each) ranks_[node_of(each)].push_back(each);
    for (int node = 0; node < count(); ++node) holders_.push_back(find_holders(node, copies));
  }
  int count() const { return static_cast<int>(ranks_.size()); }
  int here() const { return here_; }
  const std::vector<int>& ranks(int node) const { return ranks_[static_cast<std::size_t>(node)]; }
  int speaker(int node) const { return ranks(node).front(); }
  /// The rank of `node` that has to do with the file of `rank`.
  int holder(int node, int rank) const {
    const auto& all = ranks(node);
    return all[static_cast<std::size_t>(rank) % all.size()];
  }

  /// Who keeps copies of this node process's: the next ones, those on other hosts first.
  const std::vector<int>& holders(int node) const { return holders_[static_cast<std::size_t>(node)]; }

 private:
  std::vector<int> find_holders(int node, int copies) const {
    std::vector<int> others;
    for (int step = 1; step < count(); ++step) others.push_back((node + step) % count());
    const auto host = [&](int which) -> const std::string& { return job()->host_of(speaker(which)); };
    std::ranges::stable_partition(others, [&](int other) { return host(other) != host(node); });
    others.resize(std::min(others.size(), static_cast<std::size_t>(copies)));
    return others;
  }
  static std::size_t node_of(int rank) { return static_cast<std::size_t>(job()->node_of(rank)); }
  int here_;
  std::vector<std::vector<int>> ranks_, holders_;
};

/// One file from one rank to another: its size, or -1 if it cannot be read, then its parts.
std::string send_file(Messages& messages, const std::string& path, int dest) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  const bool found = fd && fstat(fd.get(), &status) == 0;
  std::string problem = found ? "" : with_reason(path);
  std::int64_t left = found ? status.st_size : -1;
  messages.send({&left, sizeof left, &byte()}, dest);
  std::vector<std::byte> part(kPart);
  for (off_t at = 0; left > 0; at += static_cast<off_t>(part.size()), left = status.st_size - at) {
    part.resize(std::min<std::uint64_t>(static_cast<std::uint64_t>(left), kPart));
    // What cannot be read any more is sent all the same: the file's digest tells its reader.
    if (problem.empty() && !read_whole(fd.get(), part.data(), part.size(), at)) problem = with_reason(path);
    messages.send({part.data(), static_cast<MPI_Count>(part.size()), &byte()}, dest);
  }
  return problem;
}

std::string receive_file(Messages& messages, const std::string& whole, int source) {
  const std::string path = whole + ".part";  // its name says that it is whole
  unlink(path.c_str());
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  std::string problem = fd ? "" : with_reason(path);
  std::int64_t left = 0;
  messages.recv({&left, sizeof left, &byte()}, source);
  if (left < 0) problem = path + " does not come: it cannot be read where it lies";
  std::vector<std::byte> part(kPart);
  for (; left > 0; left -= static_cast<std::int64_t>(part.size())) {
    part.resize(std::min<std::uint64_t>(static_cast<std::uint64_t>(left), kPart));
    messages.recv({part.data(), static_cast<MPI_Count>(part.size()), &byte()}, source);
    if (problem.empty() && !write_whole(fd.get(), part.data(), part.size())) problem = with_reason(path);
  }
  if (problem.empty() && std::rename(path.c_str(), whole.c_str()) != 0) problem = with_reason(whole);
  if (!problem.empty()) unlink(path.c_str());
  return problem;
}

const MemoryCallbacks& memory() {
  return *callbacks().saving->memory;
}

/// The part of `rank` in bringing the file of `whose` from rank `from` to rank `to`.
std::string move_file(const Rank& rank, Messages& messages, std::uint64_t number, int whose, int from,
                      int to) {
  if (rank.world_rank == from) return send_file(messages, memory().find(number, whose), to);
  if (rank.world_rank == to) return receive_file(messages, memory().file(number, whose), from);
  return "";
}

/// What a node process's host has: checkpoints, the latest first, and of which ranks.
struct Holding {
  std::array<std::uint64_t, kMostNumbers> numbers{};
  std::vector<char> has;  // by number and rank

  bool of(std::size_t which, int ranks, int rank) const {
    return has[which * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(rank)] != 0;
  }
};

Holding holding_here(int ranks) {
  Holding held;
  const std::vector<std::uint64_t> numbers = memory().numbers();
  held.has.resize(kMostNumbers * static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < std::min(numbers.size(), kMostNumbers); ++i) {
    held.numbers[i] = numbers[i];
    for (int rank = 0; rank < ranks; ++rank)
      held.has[i * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(rank)] =
          memory().find(numbers[i], rank).empty() ? 0 : 1;
  }
  return held;
}

/// Which checkpoint, and from which node process each rank's file comes. Number 0: there is none that is complete.
struct Choice {
  std::uint64_t number = 0;
  std::vector<int> source;
};

/// Of checkpoint `number`: the rank's own node process if it has it. Empty: not all are there.
std::vector<int> sources_of(std::uint64_t number, const std::vector<Holding>& held, int ranks) {
  std::vector<int> source(static_cast<std::size_t>(ranks), -1);
  for (std::size_t node = 0; node < held.size(); ++node) {
    const auto which = std::ranges::find(held[node].numbers, number) - held[node].numbers.begin();
    if (which == kMostNumbers) continue;
    for (int rank = 0; rank < ranks; ++rank) {
      int& from = source[static_cast<std::size_t>(rank)];
      if (!held[node].of(static_cast<std::size_t>(which), ranks, rank)) continue;
      if (from < 0 || job()->node_of(rank) == static_cast<int>(node)) from = static_cast<int>(node);
    }
  }
  if (std::ranges::find(source, -1) != source.end()) source.clear();
  return source;
}

Choice choose(const std::vector<Holding>& held, int ranks) {
  std::vector<std::uint64_t> numbers;
  for (const Holding& one : held) numbers.insert(numbers.end(), one.numbers.begin(), one.numbers.end());
  std::ranges::sort(numbers, std::greater());
  for (const std::uint64_t number : numbers) {
    if (number == 0) break;
    if (std::vector<int> source = sources_of(number, held, ranks); !source.empty())
      return {number, std::move(source)};
  }
  return {0, std::vector<int>(static_cast<std::size_t>(ranks), -1)};
}

/// Rank 0 hears of all node processes' what they have, and tells everybody what it has chosen.
Choice agree_on_checkpoint(const Rank& rank, Messages& messages, const Nodes& nodes) {
  const int ranks = rank.world.size, me = rank.world_rank;
  const auto chunk = [](auto& list) {
    return Chunk{list.data(), static_cast<MPI_Count>(list.size() * sizeof list[0]), &byte()};
  };
  std::vector<Holding> held;
  if (me == nodes.speaker(nodes.here())) held.push_back(holding_here(ranks));
  if (me != 0 && !held.empty()) {
    messages.send(chunk(held[0].numbers), 0);
    messages.send(chunk(held[0].has), 0);
  }
  Choice choice{0, std::vector<int>(static_cast<std::size_t>(ranks))};
  if (me == 0) {
    const int own = nodes.here();
    held.resize(static_cast<std::size_t>(nodes.count()));
    std::swap(held[0], held[static_cast<std::size_t>(own)]);
    for (int node = 0; node < nodes.count(); ++node) {
      Holding& one = held[static_cast<std::size_t>(node)];
      if (node == own) continue;
      one.has.resize(kMostNumbers * static_cast<std::size_t>(ranks));
      messages.recv(chunk(one.numbers), nodes.speaker(node));
      messages.recv(chunk(one.has), nodes.speaker(node));
    }
    choice = choose(held, ranks);
  }
  // Down a binomial tree.
  int bit = 1;
  for (; bit < ranks; bit <<= 1) {
    if ((me & bit) == 0) continue;
    messages.recv({&choice.number, sizeof choice.number, &byte()}, me - bit);
    messages.recv(chunk(choice.source), me - bit);
    break;
  }
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (me + bit >= ranks) continue;
    messages.send({&choice.number, sizeof choice.number, &byte()}, me + bit);
    messages.send(chunk(choice.source), me + bit);
  }
  return choice;
}

}  // namespace

std::string spread_copies(Rank& rank, std::uint64_t number) {
  const Nodes nodes(rank, memory().copies);
  Messages messages(rank.world, Collective::kAlltoall);
  std::string problem;
  // In the order of ranks everywhere, so that nobody waits for one who waits for him.
  for (int whose = 0; whose < rank.world.size; ++whose) {
    for (const int node : nodes.holders(job()->node_of(whose))) {
      std::string moved = move_file(rank, messages, number, whose, whose, nodes.holder(node, whose));
      if (problem.empty()) problem = std::move(moved);
    }
  }
  return problem;
}

Result<std::uint64_t> gather_files(Rank& rank) {
  if (initialize(rank, MPI_THREAD_SINGLE)) return Failure{take_explanation()};
  const Nodes nodes(rank, 0);
  Messages messages(rank.world, Collective::kAlltoall);
  const Choice choice = agree_on_checkpoint(rank, messages, nodes);
  if (choice.number == 0)
    return Failure{
        "of no checkpoint in memory are the files of all ranks left; more copies are kept with --survive N"};
  std::string problem;
  for (int whose = 0; whose < rank.world.size; ++whose) {
    const int source = choice.source[static_cast<std::size_t>(whose)];
    if (source == job()->node_of(whose)) continue;
    std::string moved = move_file(rank, messages, choice.number, whose, nodes.holder(source, whose), whose);
    if (problem.empty()) problem = std::move(moved);
  }
  if (!problem.empty()) return Failure{problem};
  return choice.number;
}

}  // namespace tmpi::mpi
