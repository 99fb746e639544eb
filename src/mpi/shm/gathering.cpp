#include "mpi/shm/gathering.hpp"

#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/comm/group_ops.hpp"
#include "mpi/comm/packing.hpp"
#include "mpi/request/blocked.hpp"

namespace tmpi::mpi {
namespace {

struct Gathering {
  GatheringName name;
  int missing;
  std::vector<void*> orders;
  std::vector<Request*> requests;
};

bool same_group(const std::shared_ptr<const Group>& a, const std::shared_ptr<const Group>& b) {
  return a == b || (a != nullptr && b != nullptr && compare(*a, *b) == MPI_IDENT);
}

bool same_name(const GatheringName& a, const GatheringName& b) {
  return a.purpose == b.purpose && a.stage == b.stage && a.context == b.context && a.tag == b.tag &&
         same_group(a.group, b.group);
}

std::size_t hash_of(const GatheringName& name) {
  std::size_t hash = std::hash<std::string>{}(name.tag) + static_cast<std::size_t>(name.purpose) * 3 +
                     static_cast<std::size_t>(name.stage);
  hash = hash * 31 + name.context;
  if (name.group != nullptr && name.group->size() > 0)
    hash = (hash * 31 + static_cast<std::size_t>(name.group->size())) * 31 +
           static_cast<std::size_t>(name.group->world_rank(0));
  return hash;
}

// Everything that is under way in the node process.
std::mutex g_mutex;
std::unordered_map<std::size_t, std::list<Gathering>>& under_way() {
  static std::unordered_map<std::size_t, std::list<Gathering>> gatherings;
  return gatherings;
}

// The gathering with this name; opened if nobody has come yet.
std::list<Gathering>::iterator find_or_open(std::list<Gathering>& alike, const GatheringName& name,
                                            int seats) {
  for (auto gathering = alike.begin(); gathering != alike.end(); ++gathering) {
    if (same_name(gathering->name, name)) return gathering;
  }
  const auto places = static_cast<std::size_t>(seats);
  return alike.insert(alike.end(),
                      Gathering{name, seats, std::vector<void*>(places), std::vector<Request*>(places)});
}

// Counts a member in; if it is the last, the gathering is taken off the books into `complete`.
bool enter(const GatheringName& name, int seats, int seat, void* order, Request& request,
           std::list<Gathering>& complete) {
  const std::size_t hash = hash_of(name);
  const std::scoped_lock lock(g_mutex);
  std::list<Gathering>& alike = under_way()[hash];
  const auto gathering = find_or_open(alike, name, seats);
  gathering->orders[static_cast<std::size_t>(seat)] = order;
  gathering->requests[static_cast<std::size_t>(seat)] = &request;
  if (--gathering->missing > 0) return false;
  complete.splice(complete.end(), alike, gathering);
  if (alike.empty()) under_way().erase(hash);
  return true;
}

}  // namespace

std::string text_of(const GatheringName& name) {
  Packer packer;
  packer.value(name.purpose);
  packer.value(name.context);
  packer.text(name.tag);
  packer.group(name.group);
  const auto& bytes = packer.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void gather(const GatheringName& name, int seats, int seat, void* order, Request& request,
            const Fulfil& fulfil) {
  std::list<Gathering> complete;
  if (!enter(name, seats, seat, order, request, complete)) return;
  Gathering& gathering = complete.front();
  fulfil(gathering.orders.data());
  for (Request* member : gathering.requests) member->complete();
}

void gather_and_wait(const GatheringName& name, int seats, int seat, void* order, const Fulfil& fulfil) {
  Request request;
  sched::Waiter waiter(1);
  request.kind = RequestKind::kExtended;
  request.reset(waiter);
  gather(name, seats, seat, order, request, fulfil);
  wait_for_others(waiter);
}

}  // namespace tmpi::mpi
