#include "mpi/shm/keyed_barrier.hpp"

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mpi/comm/group_ops.hpp"
#include "mpi/comm/packing.hpp"
#include "mpi/request/blocked.hpp"

namespace tmpi::mpi {
namespace {

struct KeyedBarrier {
  BarrierKey key;
  GroupArrivals arrivals;
  std::vector<void*> records;
};

bool same_group(const std::shared_ptr<const Group>& a, const std::shared_ptr<const Group>& b) {
  return a == b || (a != nullptr && b != nullptr && compare(*a, *b) == MPI_IDENT);
}

bool same_key(const BarrierKey& a, const BarrierKey& b) {
  return a.purpose == b.purpose && a.stage == b.stage && a.context == b.context && a.tag == b.tag &&
         same_group(a.group, b.group);
}

std::size_t hash_of(const BarrierKey& key) {
  std::size_t hash = std::hash<std::string>{}(key.tag) + static_cast<std::size_t>(key.purpose) * 3 +
                     static_cast<std::size_t>(key.stage);
  hash = hash * 31 + key.context;
  if (key.group != nullptr && key.group->size() > 0)
    hash = (hash * 31 + static_cast<std::size_t>(key.group->size())) * 31 +
           static_cast<std::size_t>(key.group->world_rank(0));
  return hash;
}

// All barriers of the node process that some member has come to.
std::mutex g_mutex;
using Barriers = std::list<KeyedBarrier>;
std::unordered_map<std::size_t, Barriers>& by_hash() {
  static std::unordered_map<std::size_t, Barriers> barriers;
  return barriers;
}

// The barrier with this key; made if nobody has come yet.
Barriers::iterator find_or_make(Barriers& alike, const BarrierKey& key, int members) {
  for (auto barrier = alike.begin(); barrier != alike.end(); ++barrier) {
    if (same_key(barrier->key, key)) return barrier;
  }
  return alike.insert(alike.end(),
                      KeyedBarrier{.key = key,
                                   .arrivals = {.expected = members},
                                   .records = std::vector<void*>(static_cast<std::size_t>(members))});
}

}  // namespace

std::string text_of(const BarrierKey& key) {
  Packer packer;
  packer.value(key.purpose);
  packer.value(key.context);
  packer.text(key.tag);
  packer.name_of_group(key.group);
  const auto& bytes = packer.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool arrive_at(const BarrierKey& key, int members, int index, void* record, const ForAll& for_all,
               WaitingContinuation* continuation) {
  const std::size_t hash = hash_of(key);
  std::unique_lock lock(g_mutex);
  Barriers& alike = by_hash()[hash];
  const auto barrier = find_or_make(alike, key, members);
  barrier->records[static_cast<std::size_t>(index)] = record;
  if (!barrier->arrivals.count()) {
    std::optional<WaitingForOthers> note;
    if (continuation == nullptr) note.emplace();
    return barrier->arrivals.waiting.wait(continuation, [&] { lock.unlock(); });
  }
  Barriers complete;
  complete.splice(complete.end(), alike, barrier);
  if (alike.empty()) by_hash().erase(hash);
  lock.unlock();
  for_all(barrier->records.data());
  barrier->arrivals.waiting.resume_all();
  return true;
}

}  // namespace tmpi::mpi
