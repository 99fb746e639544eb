#include "mpi/create/agreement.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "mpi/coll/coll.hpp"
#include "mpi/coll/hierarchy/hierarchy.hpp"
#include "mpi/coll/stamps.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"
#include "mpi/shm/coll_shared.hpp"

namespace tmpi::mpi {
namespace {

using detail::FulfilRecords;
using detail::RecordType;

// What the leader of a node tells the others first.
struct Announcement {
  std::uint64_t bytes = 0;  // of its members' records, packed
  ContextBlock contexts;    // set aside for the communicators to be made
};

void allgather(Comm& leaders, const void* mine, void* all, std::size_t bytes) {
  const Datatype* type = checked_type(MPI_BYTE);
  Args args{.collective = Collective::kAllgather};
  args.send = {.data = const_cast<void*>(mine), .count = static_cast<MPI_Count>(bytes), .type = type};
  args.recv = {.data = all, .count = static_cast<MPI_Count>(bytes), .type = type};
  (void)run_part(leaders, args);  // chunks of one size: nothing can be cut off
}

// The part of a node's leader: gets the records of the members elsewhere, and the context ids.
class LeadersExchange {
 public:
  LeadersExchange(Comm& leaders, const NodeMap& map, const RecordType& type, void** records)
      : leaders_(leaders), map_(map), type_(type), records_(records) {}
  LeadersExchange(const LeadersExchange&) = delete;
  LeadersExchange& operator=(const LeadersExchange&) = delete;
  ~LeadersExchange() {
    for (void* record : foreign_) type_.destroy(record);
  }

  /// Fills the entries of members elsewhere, which last as long as this object.
  ContextSource exchange(ContextDemand demand) {
    Packer packer;
    for (const int member : map_.members(map_.mine())) type_.pack(records_[member], packer);
    const auto announced = announce(packer, demand);
    std::uint64_t longest = 0;
    std::vector<ContextBlock> blocks;
    for (const Announcement& each : announced) {
      longest = std::max(longest, each.bytes);
      blocks.push_back(each.contexts);
    }
    std::vector<std::byte> mine = packer.bytes(), all(longest * announced.size());
    mine.resize(longest);
    if (longest > 0) allgather(leaders_, mine.data(), all.data(), longest);
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
    if (wanted > 0) mine.contexts = reserve_contexts(wanted, leaders_.shared->other_job != nullptr);
    std::vector<Announcement> all(static_cast<std::size_t>(map_.nodes()));
    allgather(leaders_, &mine, all.data(), sizeof mine);
    return all;
  }

  void unpack(int node, std::span<const std::byte> bytes) {
    Unpacker unpacker(bytes);
    for (const int member : map_.members(node)) {
      foreign_.push_back(type_.make());
      type_.unpack(foreign_.back(), unpacker);
      records_[member] = foreign_.back();
    }
  }

  Comm& leaders_;
  const NodeMap& map_;
  const RecordType& type_;
  void** const records_;
  std::vector<void*> foreign_;
};

void exchange_and_fulfil(Comm& leaders, const NodeMap& map, const RecordType& type, void** records,
                         ContextDemand demand, const FulfilRecords& fulfil) {
  LeadersExchange exchange(leaders, map, type, records);
  ContextSource contexts = exchange.exchange(demand);
  fulfil(records, contexts);
}

// A communicator of the leaders of nodes that share none, while they come together under a key.
Comm communicator_of_leaders(const BarrierKey& key, const NodeMap& map) {
  std::vector<int> leaders;
  for (int node = 0; node < map.nodes(); ++node) leaders.push_back(key.group->world_rank(map.leader(node)));
  Comm comm;
  comm.rank = map.mine();
  comm.size = comm.peers = map.nodes();
  comm.context = named_context(text_of(key));
  comm.owner = &current_rank();
  comm.shared = make_comm_shared(comm.context, Group::list(std::move(leaders)));
  return comm;
}

// What a member brings to the keyed barrier of its node: its record, and where all of them shall be listed.
struct Arrival {
  void* record;
  std::vector<void*>* list;  // the node leader's; else null
};

void list_arrivals(void** arrivals, std::span<const int> members) {
  std::vector<void*>& records = *static_cast<Arrival*>(arrivals[0])->list;
  for (std::size_t i = 0; i < members.size(); ++i)
    records[static_cast<std::size_t>(members[i])] = static_cast<Arrival*>(arrivals[i])->record;
}

}  // namespace

void detail::agree(Comm& parent, void* record, const RecordType& type, ContextDemand demand,
                   const FulfilRecords& fulfil) {
  const InCollective note(parent);
  SharedBarrier& barrier = barrier_of(parent);
  const Stamp stamp = stamp_of_making(parent, &type);
  void** records = barrier.records<void>(parent.coll_sequence++);
  records[parent.member_index()] = record;
  if (barrier.groups().nodes == 1) {
    barrier.arrive(parent, stamp, [&] {
      ContextSource contexts;
      fulfil(records, contexts);
    });
    return;
  }
  barrier.arrive(parent, stamp, [] {});
  Hierarchy& parts = hierarchy_of(parent);
  if (parts.is_node_leader())
    exchange_and_fulfil(*parts.inter_node, parts.map, type, records, demand, fulfil);
  ++parent.coll_sequence;
  barrier.arrive(parent, stamp, [] {});
}

void detail::agree(const BarrierKey& key, void* record, const RecordType& type, ContextDemand demand,
                   const FulfilRecords& fulfil) {
  const Group& group = *key.group;
  const int mine = group.rank_of(current_rank().world_rank);
  if (nodes_up_to_two(group) == 1) {
    arrive_at(key, group.size(), mine, record, [&](void** records) {
      ContextSource contexts;
      fulfil(records, contexts);
    });
    return;
  }
  const NodeMap map(group);
  const std::span<const int> here = map.members(map.mine());
  const int count = static_cast<int>(here.size()), index = map.index_of(mine);
  BarrierKey stage = key;
  stage.stage = BarrierKey::Stage::kArrived;
  std::vector<void*> records(index == 0 ? static_cast<std::size_t>(group.size()) : 0);
  Arrival arrival{record, index == 0 ? &records : nullptr};
  arrive_at(stage, count, index, &arrival, [&](void** arrivals) { list_arrivals(arrivals, here); });
  if (index == 0) {
    Comm leaders = communicator_of_leaders(key, map);
    exchange_and_fulfil(leaders, map, type, records.data(), demand, fulfil);
  }
  stage.stage = BarrierKey::Stage::kMade;
  arrive_at(stage, count, index, &arrival, [](void**) {});
}

}  // namespace tmpi::mpi
