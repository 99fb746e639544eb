#include "msgq/communicators.hpp"

#include <algorithm>
#include <unordered_set>

namespace tmpi::msgq {

namespace {

// More are nothing but memory that is written to just now.
constexpr std::size_t kMostComms = 100'000, kMostMembers = 100'000'000;
constexpr std::size_t kName = sizeof(mqs_communicator::name) - 1;

std::string shown_name(const std::string& name, int world_rank) {
  const std::string whose = " [rank " + std::to_string(world_rank) + "]";
  return name.substr(0, kName - whose.size()) + whose;
}

class Reader {
 public:
  Reader(Memory& memory, Facts& facts) : memory_(memory), facts_(facts) {}

  void add_rank(Address rank, std::vector<View>& views) {
    add(rank, rank + facts_["Rank.world"], "MPI_COMM_WORLD", views);
    add(rank, rank + facts_["Rank.self"], "MPI_COMM_SELF", views);
    const std::vector<Address> made = made_by(rank);
    std::unordered_set<Address> halves;  // an intercommunicator's own one, of its local group
    for (const Address comm : made) halves.insert(memory_.word(comm + facts_["Comm.local"]));
    for (const Address comm : made) {
      if (halves.count(comm) == 0 && memory_.word(comm + facts_["Comm.stands_for"]) == 0)
        add(rank, comm, nullptr, views);
    }
  }

 private:
  std::vector<Address> made_by(Address rank) {
    std::vector<Address> made;
    for (Address comm = memory_.word(rank + facts_["Rank.comms"]); comm != 0 && made.size() < kMostComms;
         comm = memory_.word(comm + facts_["Comm.next_made"]))
      made.push_back(comm);
    std::reverse(made.begin(), made.end());
    return made;
  }

  void add(Address rank, Address comm, const char* name, std::vector<View>& views) {
    const Address shared = memory_.word(comm + facts_["Comm.shared"]);
    if (shared == 0) return;  // it comes to be just now, or MPI_Init has not been called
    View view;
    view.rank = rank;
    view.world_rank = memory_.integer(rank + facts_["Rank.world_rank"]);
    view.comm = comm;
    view.context = memory_.word(comm + facts_["Comm.context"]);
    view.rank_in_comm = memory_.integer(comm + facts_["Comm.rank"]);
    view.size = memory_.integer(comm + facts_["Comm.size"]);
    view.group = memory_.word(shared + facts_["CommShared.group"]);
    view.peers = memory_.word(shared + facts_["CommShared.peers"]);
    view.self = comm == rank + facts_["Rank.self"];
    std::string given = memory_.text(comm + facts_["Comm.name"], kName);
    if (given.empty()) given = name != nullptr ? name : "without a name";
    view.name = shown_name(given, view.world_rank);
    views.push_back(std::move(view));
  }

  Memory& memory_;
  Facts& facts_;
};

}  // namespace

GroupView::GroupView(Memory& memory, Facts& facts, Address group)
    : first_(memory.integer(group + facts["Group.first_"])),
      stride_(memory.integer(group + facts["Group.stride_"])),
      size_(memory.integer(group + facts["Group.size_"])) {
  const Memory::Range range = memory.range(group + facts["Group.members_"]);
  if (range.end <= range.begin) return;
  members_.resize(std::min((range.end - range.begin) / sizeof(int), kMostMembers));
  memory.read(range.begin, members_.data(), members_.size() * sizeof(int));
}

int GroupView::world_rank(int rank) const noexcept {
  if (rank < 0 || rank >= size_) return -1;
  if (members_.empty()) return first_ + rank * stride_;
  return static_cast<std::size_t>(rank) < members_.size() ? members_[static_cast<std::size_t>(rank)] : -1;
}

int GroupView::rank_of(int world_rank) const noexcept {
  if (!members_.empty()) {
    const auto found = std::find(members_.begin(), members_.end(), world_rank);
    return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
  }
  if (stride_ == 0 || (world_rank - first_) % stride_ != 0) return -1;
  const int rank = (world_rank - first_) / stride_;
  return rank >= 0 && rank < size_ ? rank : -1;
}

std::vector<Address> ranks_of(Memory& memory, Facts& facts, Address job) {
  const Address first = memory.word(job + facts["Job.local_"]);
  const int count = memory.integer(job + facts["Job.local_count_"]);
  std::vector<Address> ranks;
  for (int i = 0; i < count && memory.ok(); ++i)
    ranks.push_back(memory.word(first + static_cast<Address>(i) * sizeof(Address)));
  return ranks;
}

std::vector<View> communicators_of(Memory& memory, Facts& facts, const std::vector<Address>& ranks) {
  std::vector<View> views;
  Reader reader(memory, facts);
  for (const Address rank : ranks) reader.add_rank(rank, views);
  return views;
}

}  // namespace tmpi::msgq
