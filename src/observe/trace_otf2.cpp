#include "observe/trace_otf2.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/comm/context.hpp"
#include "observe/otf2_library.hpp"

namespace tmpi::observe {
namespace {

constexpr std::uint64_t kEventChunk = 1 << 20, kDefinitionChunk = 4 << 20;

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

/// OTF2 tells its errors by a callback, with more words than the code has.
OTF2_ErrorCode note(void* text, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                    const char* format, va_list arguments) {
  char line[512] = "";
  if (format != nullptr) vsnprintf(line, sizeof line, format, arguments);
  auto& first = *static_cast<std::string*>(text);
  if (first.empty()) first = line;
  return code;
}

/// What a rank does at a time, in the order in which it is written.
struct Mark {
  enum Kind : std::uint8_t { kEnter, kLeave, kSend, kReceive };
  std::uint64_t time;
  Kind kind;
  std::size_t part;
  const Event* call = nullptr;
  const TracedMessage* message = nullptr;
};

struct RankMarks {
  std::size_t part = 0;
  std::vector<const Event*> calls;
  std::vector<Mark> messages;
};

struct Collective {
  std::string_view function;
  OTF2_CollectiveOp operation;
};
constexpr Collective kCollectives[] = {
    {"Barrier", OTF2_COLLECTIVE_OP_BARRIER},
    {"Bcast", OTF2_COLLECTIVE_OP_BCAST},
    {"Gather", OTF2_COLLECTIVE_OP_GATHER},
    {"Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
    {"Scatter", OTF2_COLLECTIVE_OP_SCATTER},
    {"Scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
    {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
    {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
    {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
    {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
    {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
    {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
    {"Reduce", OTF2_COLLECTIVE_OP_REDUCE},
    {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
    {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {"Scan", OTF2_COLLECTIVE_OP_SCAN},
    {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
};

constexpr std::string_view kOneSided[] = {
    "Put",  "Get",  "Accumulate",  "Get_accumulate", "Fetch_and_op", "Compare_and_swap",
    "Rput", "Rget", "Raccumulate", "Rget_accumulate"};

/// "Bcast", of "MPI_Bcast" and "MPI_Bcast_c".
std::string_view bare(std::string_view function) {
  if (function.starts_with("MPI_")) function.remove_prefix(4);
  if (function.ends_with("_c")) function.remove_suffix(2);
  return function;
}

/// Null: it is no blocking collective.
const Collective* collective_of(std::string_view function) {
  function = bare(function);
  const Collective* const found = std::ranges::find(kCollectives, function, &Collective::function);
  return found == std::end(kCollectives) ? nullptr : found;
}

OTF2_RegionRole role_of(std::string_view function) {
  if (function.starts_with("MPI_File")) return OTF2_REGION_ROLE_FILE_IO;
  if (function == "MPI_Barrier") return OTF2_REGION_ROLE_BARRIER;
  if (collective_of(function) != nullptr) return OTF2_REGION_ROLE_COLL_OTHER;
  if (bare(function).starts_with("Win_") ||
      std::ranges::find(kOneSided, bare(function)) != std::end(kOneSided))
    return OTF2_REGION_ROLE_RMA;
  return OTF2_REGION_ROLE_FUNCTION;
}

std::uint32_t numeric_cast(std::size_t number) {
  return static_cast<std::uint32_t>(number);
}

class Otf2Writer {
 public:
  Otf2Writer(const Otf2& otf2, const JobTrace& trace) : otf2_(otf2), trace_(trace) {}

  Result<void> write(const std::filesystem::path& path) {
    otf2_.Error_RegisterCallback(&note, &why_);
    const std::string folder = path.has_parent_path() ? path.parent_path() : ".", name = path.stem();
    archive_ = otf2_.Archive_Open(folder.c_str(), name.c_str(), OTF2_FILEMODE_WRITE, kEventChunk,
                                  kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) return Failure{why_.empty() ? "OTF2 cannot open the archive" : why_};
    static const OTF2_FlushCallbacks callbacks = {&flush, nullptr};
    check(otf2_.Archive_SetFlushCallbacks(archive_, &callbacks, nullptr));
    check(otf2_.Archive_SetSerialCollectiveCallbacks(archive_));
    check(otf2_.Archive_SetCreator(archive_, "tmpi"));
    gather();
    check(otf2_.Archive_OpenEvtFiles(archive_));
    for (const auto& [rank, marks] : ranks_) rank_events(rank, marks);
    worker_events();
    check(otf2_.Archive_CloseEvtFiles(archive_));
    definitions();
    check(otf2_.Archive_Close(archive_));
    otf2_.Error_RegisterCallback(nullptr, nullptr);
    if (!why_.empty()) return Failure{why_};
    return {};
  }

 private:
  using RegionKey = std::pair<std::string, std::string>;  // name, call site

  void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS && why_.empty()) why_ = otf2_.Error_GetDescription(code);
  }

  // ---- What there is ----

  void gather() {
    for (std::size_t number = 0; number < trace_.parts.size(); ++number) {
      const TracePart& part = trace_.parts[number];
      for (const int rank : part.ranks) ranks_[rank].part = number;
      const auto take = [&](const TraceTrack& track) {
        for (const Event& event : track.events) {
          if (event.kind != EventKind::kCall && event.kind != EventKind::kUnfinishedCall) continue;
          ranks_[event.rank].calls.push_back(&event);
          if (event.context != 0) members_[mpi::base_of(event.context)].insert(event.rank);
        }
      };
      for (const TraceTrack& worker : part.workers) take(worker);
      take(part.others);
    }
    for (const TracedMessage& message : trace_.messages.paired) {
      if ((message.context & mpi::kCollective) != 0) continue;  // the collective's own event says it
      ranks_[message.from].messages.push_back({trace_.sent(message), Mark::kSend, 0, nullptr, &message});
      ranks_[message.to].messages.push_back({trace_.received(message), Mark::kReceive, 0, nullptr, &message});
      std::set<int>& members = members_[mpi::base_of(message.context)];
      members.insert({message.from, message.to});
    }
    for (const auto& [rank, marks] : ranks_) members_[mpi::kWorldContext].insert(rank);
    std::size_t location = 0;
    for (const auto& [rank, marks] : ranks_) locations_[rank] = location++;
    OTF2_CommRef number = 0;
    for (const auto& [context, members] : members_) communicators_[context] = number++;
  }

  std::uint32_t rank_in(std::uint64_t context, int rank) const {
    if (mpi::base_of(context) == mpi::kSelfContext) return 0;
    const std::set<int>& members = members_.at(mpi::base_of(context));
    return numeric_cast(static_cast<std::size_t>(std::distance(members.begin(), members.find(rank))));
  }

  /// A region for each call site, so that it has a line.
  OTF2_RegionRef region_of(std::size_t part, const Event& call) {
    const RegionKey key{trace_.parts[part].functions.at(call.function),
                        trace_.parts[part].sites.at(call.address)};
    return regions_.try_emplace(key, numeric_cast(regions_.size())).first->second;
  }

  // ---- Events ----

  void rank_events(int rank, const RankMarks& marks) {
    OTF2_EvtWriter* const writer = otf2_.Archive_GetEvtWriter(archive_, locations_.at(rank));
    if (writer == nullptr) return check(OTF2_ERROR_INVALID);
    for (const Mark& mark : in_order(marks)) {
      if (mark.message != nullptr) {
        message(writer, mark);
      } else {
        call(writer, mark);
      }
    }
    close(writer, locations_.at(rank));
  }

  std::vector<Mark> in_order(const RankMarks& marks) const {
    std::vector<const Event*> calls = marks.calls;
    std::ranges::stable_sort(calls, [](const Event* a, const Event* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
    });
    std::vector<Mark> ordered;
    std::vector<const Event*> open;
    const auto leave = [&] {
      ordered.push_back({trace_.at(marks.part, open.back()->end), Mark::kLeave, marks.part, open.back()});
      open.pop_back();
    };
    for (const Event* call : calls) {
      while (!open.empty() && open.back()->end <= call->begin) leave();
      ordered.push_back({trace_.at(marks.part, call->begin), Mark::kEnter, marks.part, call});
      open.push_back(call);
    }
    while (!open.empty()) leave();
    for (std::size_t i = 1; i < ordered.size(); ++i)  // a call that ends in another has not outlived it
      ordered[i].time = std::max(ordered[i].time, ordered[i - 1].time);
    ordered.insert(ordered.end(), marks.messages.begin(), marks.messages.end());
    std::ranges::stable_sort(ordered, {}, &Mark::time);
    return ordered;
  }

  void call(OTF2_EvtWriter* writer, const Mark& mark) {
    const Event& event = *mark.call;
    const OTF2_RegionRef region = region_of(mark.part, event);
    const Collective* const collective =
        event.context == 0 ? nullptr : collective_of(trace_.parts[mark.part].functions.at(event.function));
    if (mark.kind == Mark::kEnter) {
      check(otf2_.EvtWriter_Enter(writer, nullptr, mark.time, region));
      if (collective != nullptr) check(otf2_.EvtWriter_MpiCollectiveBegin(writer, nullptr, mark.time));
      return;
    }
    if (collective != nullptr) {
      const std::uint32_t root =
          event.rooted && event.peer >= 0 ? static_cast<std::uint32_t>(event.peer) : OTF2_UNDEFINED_UINT32;
      const auto bytes = static_cast<std::uint64_t>(event.bytes);
      check(otf2_.EvtWriter_MpiCollectiveEnd(writer, nullptr, mark.time, collective->operation,
                                             communicators_.at(mpi::base_of(event.context)), root, bytes,
                                             bytes));
    }
    check(otf2_.EvtWriter_Leave(writer, nullptr, mark.time, region));
  }

  void message(OTF2_EvtWriter* writer, const Mark& mark) {
    const TracedMessage& message = *mark.message;
    const bool is_send = mark.kind == Mark::kSend;
    const auto write = is_send ? otf2_.EvtWriter_MpiSend : otf2_.EvtWriter_MpiRecv;
    check(write(writer, nullptr, mark.time, rank_in(message.context, is_send ? message.to : message.from),
                communicators_.at(mpi::base_of(message.context)), static_cast<std::uint32_t>(message.tag),
                static_cast<std::uint64_t>(message.bytes)));
  }

  void worker_events() {
    std::size_t location = ranks_.size();
    for (std::size_t part = 0; part < trace_.parts.size(); ++part) {
      for (const TraceTrack& worker : trace_.parts[part].workers) {
        OTF2_EvtWriter* const writer = otf2_.Archive_GetEvtWriter(archive_, location);
        if (writer == nullptr) return check(OTF2_ERROR_INVALID);
        for (const Event& event : worker.events) {
          if (event.kind != EventKind::kStretch) continue;
          const RegionKey key{fmt::format("rank {}", event.rank), ""};
          const OTF2_RegionRef region =
              regions_.try_emplace(key, numeric_cast(regions_.size())).first->second;
          check(otf2_.EvtWriter_Enter(writer, nullptr, trace_.at(part, event.begin), region));
          check(otf2_.EvtWriter_Leave(writer, nullptr, trace_.at(part, event.end), region));
        }
        close(writer, location++);
      }
    }
  }

  void close(OTF2_EvtWriter* writer, std::size_t location) {
    std::uint64_t count = 0;
    check(otf2_.EvtWriter_GetNumberOfEvents(writer, &count));
    counts_[location] = count;
    check(otf2_.Archive_CloseEvtWriter(archive_, writer));
  }

  // ---- Definitions ----

  OTF2_StringRef text(const std::string& words) {
    const auto [known, is_new] = strings_.try_emplace(words, numeric_cast(strings_.size()));
    if (is_new) check(otf2_.GlobalDefWriter_WriteString(global_, known->second, words.c_str()));
    return known->second;
  }

  void definitions() {
    check(otf2_.Archive_OpenDefFiles(archive_));
    for (const auto& [location, count] : counts_)  // readers expect a file of each location
      check(otf2_.Archive_CloseDefWriter(archive_, otf2_.Archive_GetDefWriter(archive_, location)));
    check(otf2_.Archive_CloseDefFiles(archive_));
    global_ = otf2_.Archive_GetGlobalDefWriter(archive_);
    if (global_ == nullptr) return check(OTF2_ERROR_INVALID);
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < trace_.parts.size(); ++i)
      length = std::max(length, trace_.at(i, trace_.parts[i].length));
    check(otf2_.GlobalDefWriter_WriteClockProperties(
        global_, 1'000'000'000, 0, length,
        static_cast<std::uint64_t>(trace_.parts[0].wall - trace_.shifts[0])));
    text("");
    check(otf2_.GlobalDefWriter_WriteParadigm(global_, OTF2_PARADIGM_MPI, text("MPI"),
                                              OTF2_PARADIGM_CLASS_PROCESS));
    std::vector<const RegionKey*> regions(regions_.size());
    for (const auto& [key, region] : regions_) regions[region] = &key;
    for (std::size_t i = 0; i < regions.size(); ++i)  // readers want them in order
      define_region(regions[i]->first, regions[i]->second, numeric_cast(i));
    define_places();
    define_communicators();
  }

  void define_region(const std::string& name, const std::string& site, OTF2_RegionRef region) {
    const std::size_t colon = site.rfind(':');
    const int line = colon == std::string::npos ? 0 : std::atoi(site.c_str() + colon + 1);
    const bool is_mpi = name.starts_with("MPI_");
    const OTF2_RegionRole role = is_mpi ? role_of(name) : OTF2_RegionRole{OTF2_REGION_ROLE_ARTIFICIAL};
    const OTF2_Paradigm paradigm = is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_MEASUREMENT_SYSTEM;
    check(otf2_.GlobalDefWriter_WriteRegion(
        global_, region, text(name), text(name), text(site), role, paradigm, OTF2_REGION_FLAG_NONE,
        text(line > 0 ? site.substr(0, colon) : ""), static_cast<std::uint32_t>(line),
        static_cast<std::uint32_t>(line)));
  }

  void define_places() {
    OTF2_SystemTreeNodeRef node = 0;
    const OTF2_SystemTreeNodeRef job = node++;
    check(otf2_.GlobalDefWriter_WriteSystemTreeNode(global_, job, text(trace_.program()), text("job"),
                                                    OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
    for (const TracePart& part : trace_.parts) {
      const auto [host, is_new] = hosts.try_emplace(part.host, node);
      if (!is_new) continue;
      check(otf2_.GlobalDefWriter_WriteSystemTreeNode(global_, node++, text(part.host), text("node"), job));
    }
    OTF2_LocationGroupRef group = 0;
    for (const auto& [rank, marks] : ranks_) {
      const std::string name = fmt::format("rank {}", rank);
      define_group(group, name, hosts.at(trace_.parts[marks.part].host));
      define_location(locations_.at(rank), name, group++);
    }
    std::size_t location = ranks_.size();
    for (const TracePart& part : trace_.parts) {
      define_group(group, fmt::format("cores of node {}", part.node), hosts.at(part.host));
      for (const TraceTrack& worker : part.workers) define_location(location++, worker.name, group);
      ++group;
    }
  }
  void define_group(OTF2_LocationGroupRef group, const std::string& name, OTF2_SystemTreeNodeRef host) {
    check(otf2_.GlobalDefWriter_WriteLocationGroup(
        global_, group, text(name), OTF2_LOCATION_GROUP_TYPE_PROCESS, host, OTF2_UNDEFINED_LOCATION_GROUP));
  }
  void define_location(std::size_t location, const std::string& name, OTF2_LocationGroupRef group) {
    check(otf2_.GlobalDefWriter_WriteLocation(global_, location, text(name), OTF2_LOCATION_TYPE_CPU_THREAD,
                                              counts_.at(location), group));
  }

  void define_communicators() {
    OTF2_GroupRef group = 0;
    std::vector<std::uint64_t> all;
    for (const auto& [rank, location] : locations_) all.push_back(location);
    const OTF2_GroupRef locations = group++, self = group++;
    define_members(locations, "", OTF2_GROUP_TYPE_COMM_LOCATIONS, all);
    define_members(self, "", OTF2_GROUP_TYPE_COMM_SELF, {});
    for (const auto& [context, members] : members_) {
      OTF2_GroupRef own = self;
      if (context != mpi::kSelfContext) {
        std::vector<std::uint64_t> places;
        for (const int rank : members) places.push_back(locations_.at(rank));  // its index in `all` as well
        own = group++;
        define_members(own, "", OTF2_GROUP_TYPE_COMM_GROUP, places);
      }
      check(otf2_.GlobalDefWriter_WriteComm(global_, communicators_.at(context),
                                            text(communicator_name(context)), own, OTF2_UNDEFINED_COMM,
                                            OTF2_COMM_FLAG_NONE));
    }
  }
  void define_members(OTF2_GroupRef group, const std::string& name, OTF2_GroupType type,
                      const std::vector<std::uint64_t>& members) {
    check(otf2_.GlobalDefWriter_WriteGroup(global_, group, text(name), type, OTF2_PARADIGM_MPI,
                                           OTF2_GROUP_FLAG_NONE, numeric_cast(members.size()),
                                           members.data()));
  }

  const Otf2& otf2_;
  const JobTrace& trace_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* global_ = nullptr;
  std::string why_;  // of the first failure
  std::map<int, RankMarks> ranks_;
  std::map<int, std::size_t> locations_;            // of ranks; workers' follow
  std::map<std::uint64_t, std::set<int>> members_;  // world ranks, by communicator
  std::map<std::uint64_t, OTF2_CommRef> communicators_;
  std::map<RegionKey, OTF2_RegionRef> regions_;
  std::map<std::size_t, std::uint64_t> counts_;  // of events, by location
  std::unordered_map<std::string, OTF2_StringRef> strings_;
};

}  // namespace

Result<void> can_write_otf2(const std::string& path) {
  if (const Result<const Otf2*> loaded = load_otf2(); !loaded) return loaded.failure();
  const std::filesystem::path anchor(path), folder = anchor.parent_path() / anchor.stem();
  std::error_code error;
  for (const std::filesystem::path& file :
       {anchor, folder, std::filesystem::path(folder.string() + ".def")}) {
    if (std::filesystem::exists(file, error))
      return Failure{fmt::format("{} exists, and OTF2 replaces nothing: remove it, or take another name",
                                 file.string())};
  }
  return {};
}

Result<void> write_trace_otf2(const std::string& path, const JobTrace& trace) {
  const Result<const Otf2*> loaded = load_otf2();
  if (!loaded) return loaded.failure();
  return Otf2Writer(**loaded, trace).write(path);
}

}  // namespace tmpi::observe
