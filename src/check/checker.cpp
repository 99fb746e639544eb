#include "check/checker.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <tuple>

#include "mpi/base/no_memory.hpp"
#include "mpi/comm/context.hpp"
#include "mpi/diagnose/place.hpp"

namespace tmpi::check {
namespace {

Checker* the_checker = nullptr;  // written before any rank runs; lives as long as the process

}  // namespace

Checker::Checker(observe::DescribeCode describe)
    : ranks_(static_cast<std::size_t>(mpi::job()->most_local())), sites_(describe) {}

Checker* Checker::instance() noexcept {
  return the_checker;
}

void Checker::begin(observe::DescribeCode describe) {
  the_checker = new Checker(describe);
}

RankRecord& Checker::record(const mpi::Rank& rank) noexcept {
  std::atomic<RankRecord*>& place = ranks_[static_cast<std::size_t>(rank.local_index)];
  RankRecord* record = place.load(std::memory_order_acquire);
  if (record != nullptr) [[likely]]
    return *record;
  // Another rank may look at this one's for the first time, too.
  std::unique_ptr<RankRecord> fresh(new (std::nothrow) RankRecord);
  if (fresh == nullptr) mpi::end_for_no_memory("what --check keeps of a rank");
  fresh->rank = &rank;
  if (place.compare_exchange_strong(record, fresh.get(), std::memory_order_acq_rel)) record = fresh.release();
  return *record;
}

void Checker::collect_leaks(RankRecord& rank) {
  const std::lock_guard guard(mutex_);
  rank.lock.lock();
  std::erase_if(rank.handles, [&](const auto& entry) {
    const Tracked& tracked = entry.second;
    // These may be made and freed at any time (MPI report, 11.4.1).
    if (tracked.kind == HandleKind::kInfo || tracked.kind == HandleKind::kErrhandler) return false;
    if (tracked.live && !tracked.constant)
      left_.push_back({tracked.kind, tracked.made, rank.rank->world_rank});
    return true;
  });
  collect_messages(*rank.rank);
  rank.pending = {};
  rank.world = {};
  rank.self = {};
  rank.lock.unlock();
}

// The program's own; nobody sends any more, so that the matcher needs no lock.
void Checker::collect_messages(const mpi::Rank& rank) {
  for (const mpi::Message* message = rank.matcher.first_unexpected(); message != nullptr;
       message = message->next) {
    const mpi::MatchKey& key = message->key;
    if ((key.context & mpi::kCollective) != 0 || mpi::is_named(key.context)) continue;
    Unreceived& found = unreceived_[{key.context, key.tag}];
    if (found.count++ == 0) found.first_source = key.source;
    found.ranks.insert(rank.world_rank);
  }
}

std::vector<Finding> Checker::unreceived() {
  const std::lock_guard guard(mutex_);
  std::vector<Finding> findings;
  for (const auto& [what, found] : unreceived_) {
    const auto& [context, tag] = what;
    findings.push_back(
        {fmt::format("{} message{} with tag {} on {}, the first from its rank {}", found.count,
                     found.count == 1 ? "" : "s", tag, mpi::name_of_context(context), found.first_source),
         {found.ranks.begin(), found.ranks.end()}});
  }
  return findings;
}

int Checker::owner_of(const void* handle, HandleKind kind) {
  for (int i = 0; i < mpi::job()->local_count(); ++i) {
    RankRecord& rank = record(mpi::job()->local_at(i));
    rank.lock.lock();
    const Tracked* tracked = rank.find(handle);
    const bool found = tracked != nullptr && tracked->live && tracked->kind == kind;
    rank.lock.unlock();
    if (found) return rank.rank->world_rank;
  }
  return -1;
}

std::string Checker::readable(CallPlace place) {
  const std::lock_guard guard(mutex_);
  const std::size_t site = sites_.at(reinterpret_cast<std::uint64_t>(place.site));
  return fmt::format("{} at {}", place.function->name, sites_[site].label());
}

void Checker::note(Notes& notes, const mpi::Rank& rank, CallPlace call, const std::string& text) {
  const std::lock_guard guard(mutex_);
  notes.insert({{call.site, text}, {call.function, rank.world_rank}});
}

std::vector<Finding> Checker::findings_of(const Notes& notes) {
  Notes noted;
  {
    const std::lock_guard guard(mutex_);
    noted = notes;
  }
  std::map<std::string, std::set<int>> grouped;
  for (const auto& [what, who] : noted)
    grouped[fmt::format("{}: {}", readable({who.function, what.first}), what.second)].insert(who.rank);
  std::vector<Finding> findings;
  findings.reserve(grouped.size());
  for (const auto& [text, ranks] : grouped) findings.push_back({text, {ranks.begin(), ranks.end()}});
  return findings;
}

std::vector<Finding> Checker::leaks() {
  std::vector<Left> left;
  {
    const std::lock_guard guard(mutex_);
    left = left_;
  }
  // Requests and communicators first: those hold messages and contexts.
  const auto order = [](HandleKind kind) {
    return kind == HandleKind::kRequest ? -1 : static_cast<int>(kind);
  };
  struct Leak {
    HandleKind kind;
    std::size_t count = 0;
    std::set<int> ranks;
  };
  std::map<std::pair<int, std::string>, Leak> grouped;
  for (const Left& one : left) {
    Leak& leak = grouped[{order(one.kind), readable(one.made)}];
    leak.kind = one.kind;
    ++leak.count;
    leak.ranks.insert(one.rank);
  }
  std::vector<Finding> leaks;
  leaks.reserve(grouped.size());
  for (const auto& [key, leak] : grouped) {
    leaks.push_back({fmt::format("{} {}{} made by {}", leak.count, name_of(leak.kind),
                                 leak.count == 1 ? "" : "s", key.second),
                     {leak.ranks.begin(), leak.ranks.end()}});
  }
  return leaks;
}

}  // namespace tmpi::check
