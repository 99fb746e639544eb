#include "mpi/create/agreement.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "mpi/coll/coll.hpp"
#include "mpi/coll/hierarchy/hierarchy.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

using detail::FulfilRecords;
using detail::RecordType;

// What the head of a node tells the others first.
struct Announcement {
  std::uint64_t bytes = 0;  // of its members' records, packed
  ContextBlock contexts;    // set aside for the communicators to be made
};

void allgather(Comm& heads, const void* mine, void* all, std::size_t bytes) {
  const Datatype* type = checked_type(MPI_BYTE);
  Args args{.collective = Collective::kAllgather};
  args.send = {.data = const_cast<void*>(mine), .count = static_cast<MPI_Count>(bytes), .type = type};
  args.recv = {.data = all, .count = static_cast<MPI_Count>(bytes), .type = type};
  (void)run_part(heads, args);  // chunks of one size: nothing can be cut off
}

// The part of a node's head: gets the records of the members elsewhere, and the context ids.
class HeadsExchange {
 public:
  HeadsExchange(Comm& heads, const NodeMap& map, const RecordType& type, void** records)
      : heads_(heads), map_(map), type_(type), records_(records) {}
  HeadsExchange(const HeadsExchange&) = delete;
  HeadsExchange& operator=(const HeadsExchange&) = delete;
  ~HeadsExchange() {
    for (void* record : foreign_) type_.destroy(record);
  }

  /// Fills the entries of members elsewhere, which last as long as this object.
  ContextSource exchange(ContextDemand demand) {
    Packer packer;
    for (const int seat : map_.members(map_.mine())) type_.pack(records_[seat], packer);
    const auto announced = announce(packer, demand);
    std::uint64_t longest = 0;
    std::vector<ContextBlock> blocks;
    for (const Announcement& each : announced) {
      longest = std::max(longest, each.bytes);
      blocks.push_back(each.contexts);
    }
    std::vector<std::byte> mine = packer.bytes(), all(longest * announced.size());
    mine.resize(longest);
    if (longest > 0) allgather(heads_, mine.data(), all.data(), longest);
    for (int node = 0; node < map_.nodes(); ++node) {
      const auto which = static_cast<std::size_t>(node);
      if (node != map_.mine()) unpack(node, std::span(all).subspan(which * longest, announced[which].bytes));
    }
    return ContextSource(std::move(blocks));
  }

 private:
  std::vector<Announcement> announce(const Packer& packer, ContextDemand demand) {
    const int wanted = (map_.mine() == 0 ? demand.in_all : 0) + demand.for_each * map_.count(map_.mine());
    Announcement mine{.bytes = packer.bytes().size(), .contexts = {}};
    if (wanted > 0) mine.contexts = reserve_contexts(wanted);
    std::vector<Announcement> all(static_cast<std::size_t>(map_.nodes()));
    allgather(heads_, &mine, all.data(), sizeof mine);
    return all;
  }

  void unpack(int node, std::span<const std::byte> bytes) {
    Unpacker unpacker(bytes);
    for (const int seat : map_.members(node)) {
      foreign_.push_back(type_.make());
      type_.unpack(foreign_.back(), unpacker);
      records_[seat] = foreign_.back();
    }
  }

  Comm& heads_;
  const NodeMap& map_;
  const RecordType& type_;
  void** const records_;
  std::vector<void*> foreign_;
};

void exchange_and_fulfil(Comm& heads, const NodeMap& map, const RecordType& type, void** records,
                         ContextDemand demand, const FulfilRecords& fulfil) {
  HeadsExchange exchange(heads, map, type, records);
  ContextSource contexts = exchange.exchange(demand);
  fulfil(records, contexts);
}

// A communicator of the heads of processes that share none, while they meet under a name.
Comm communicator_of_heads(const GatheringName& name, const NodeMap& map) {
  std::vector<int> heads;
  for (int node = 0; node < map.nodes(); ++node) heads.push_back(name.group->world_rank(map.head(node)));
  Comm comm;
  comm.rank = map.mine();
  comm.size = comm.peers = map.nodes();
  comm.context = named_context(text_of(name));
  comm.owner = &current_rank();
  comm.shared = make_comm_shared(comm.context, Group::list(std::move(heads)));
  return comm;
}

// What a member brings to the gathering of its node: its record, and where all of them shall be listed.
struct Arrival {
  void* record;
  std::vector<void*>* list;  // the head's; else null
};

void list_arrivals(void** arrivals, std::span<const int> seats) {
  std::vector<void*>& records = *static_cast<Arrival*>(arrivals[0])->list;
  for (std::size_t i = 0; i < seats.size(); ++i)
    records[static_cast<std::size_t>(seats[i])] = static_cast<Arrival*>(arrivals[i])->record;
}

}  // namespace

void detail::agree(Comm& parent, void* record, const RecordType& type, ContextDemand demand,
                   const FulfilRecords& fulfil) {
  const InCollective note(parent);
  Meeting& meeting = meeting_of(parent);
  void** records = meeting.records<void>(parent.coll_sequence++);
  records[parent.seat()] = record;
  if (meeting.layout().nodes == 1) {
    meeting.meet([&] {
      ContextSource contexts;
      fulfil(records, contexts);
    });
    return;
  }
  meeting.meet([] {});
  Hierarchy& parts = hierarchy_of(parent);
  if (parts.is_head()) exchange_and_fulfil(*parts.column, parts.map, type, records, demand, fulfil);
  ++parent.coll_sequence;
  meeting.meet([] {});
}

void detail::agree(const GatheringName& name, void* record, const RecordType& type, ContextDemand demand,
                   const FulfilRecords& fulfil) {
  const Group& group = *name.group;
  const int seat = group.rank_of(current_rank().world_rank);
  if (nodes_up_to_two(group) == 1) {
    gather_and_wait(name, group.size(), seat, record, [&](void** records) {
      ContextSource contexts;
      fulfil(records, contexts);
    });
    return;
  }
  const NodeMap map(group);
  const std::span<const int> here = map.members(map.mine());
  const int count = static_cast<int>(here.size()), index = map.index_of(seat);
  GatheringName stage = name;
  stage.stage = GatheringName::Stage::kArrived;
  std::vector<void*> records(index == 0 ? static_cast<std::size_t>(group.size()) : 0);
  Arrival arrival{record, index == 0 ? &records : nullptr};
  gather_and_wait(stage, count, index, &arrival, [&](void** arrivals) { list_arrivals(arrivals, here); });
  if (index == 0) {
    Comm heads = communicator_of_heads(name, map);
    exchange_and_fulfil(heads, map, type, records.data(), demand, fulfil);
  }
  stage.stage = GatheringName::Stage::kMade;
  gather_and_wait(stage, count, index, &arrival, [](void**) {});
}

}  // namespace tmpi::mpi
