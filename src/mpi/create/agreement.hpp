// Agreement: how communicators are made. Every member concerned brings a record of what it wants; `fulfil`
// looks at all records and writes into each what its member gets. It runs once in each node process, on one
// of the members there, and must come to the same results in all of them: it sees the same records in the
// same order and takes context ids from the source it is given. What it gives members of other node processes
// is lost there, and made there by their own process; so members of one process share what is given to them.
//
// In one process all records are the members' own and nothing is sent. Between processes records travel,
// packed, between one member of each, on a context that is derived without agreement. docs/design/communicators.md.
// All SUSPEND.
#pragma once

#include <functional>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/packing.hpp"
#include "mpi/rank/new_context.hpp"
#include "mpi/shm/keyed_barrier.hpp"

namespace tmpi::mpi {

/// Context ids that an agreement takes at most, beyond which it ends the process: so many in all, and so many
/// for each member that comes.
struct ContextDemand {
  int in_all = 0;
  int for_each = 0;
};

namespace detail {

/// How records of one type are made and packed.
struct RecordType {
  void* (*make)();
  void (*destroy)(void* record) noexcept;
  void (*pack)(const void* record, Packer& packer);
  void (*unpack)(void* record, Unpacker& unpacker);
};

template <class Record>
inline constexpr RecordType kRecordType = {
    .make = []() -> void* { return new Record; },
    .destroy = [](void* record) noexcept { delete static_cast<Record*>(record); },
    .pack = [](const void* record, Packer& packer) { static_cast<const Record*>(record)->pack(packer); },
    .unpack = [](void* record, Unpacker& unpacker) { static_cast<Record*>(record)->unpack(unpacker); }};

using FulfilRecords = std::function<void(void** records, ContextSource& contexts)>;

void agree(Comm& parent, void* record, const RecordType& type, ContextDemand demand,
           const FulfilRecords& fulfil);
void agree(const BarrierKey& key, void* record, const RecordType& type, ContextDemand demand,
           const FulfilRecords& fulfil);

}  // namespace detail

/// All members of `parent`, on an intercommunicator those of both sides, come with their records.
/// fulfil(Record** records, ContextSource&): records[Comm::member_index()]. Must not suspend. Record has
/// pack(Packer&) const and unpack(Unpacker&) for what it brings.
template <class Record, class Fulfil>
void agree(Comm& parent, Record& mine, ContextDemand demand, Fulfil&& fulfil) {
  detail::agree(parent, &mine, detail::kRecordType<Record>, demand,
                [&](void** records, ContextSource& contexts) {
                  fulfil(reinterpret_cast<Record**>(records), contexts);
                });
}

/// The members of key.group come, who find each other by the key alone; records[rank in the group].
template <class Record, class Fulfil>
void agree(const BarrierKey& key, Record& mine, ContextDemand demand, Fulfil&& fulfil) {
  detail::agree(key, &mine, detail::kRecordType<Record>, demand,
                [&](void** records, ContextSource& contexts) {
                  fulfil(reinterpret_cast<Record**>(records), contexts);
                });
}

}  // namespace tmpi::mpi
