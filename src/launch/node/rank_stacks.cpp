#include "launch/node/rank_stacks.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "launch/node/stopped_threads.hpp"
#include "mpi/diagnose/place.hpp"
#include "mpi/rank/rank.hpp"
#include "observe/line_numbers.hpp"
#include "privatize/loader.hpp"
#include "sched/task.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kMostFrames = 256;    // of a rank
constexpr std::size_t kFramesForEach = 48;  // on average

// --- while everything stands still: addresses

struct Followed {
  const mpi::Rank* rank;
  const sched::Task* task;
  sched::TaskState state;  // when everything stood still
  std::size_t begin = 0, end = 0;
};

struct Collection {
  std::vector<Followed> ranks;
  std::uintptr_t* frames = nullptr;  // of all ranks, a call's address each
  std::size_t room = 0, used = 0;
};

struct Trace {
  Collection* collection;
  const ult::Registers* registers;
  std::size_t frames = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  Trace& trace = *static_cast<Trace*>(argument);
  Collection& all = *trace.collection;
  int before_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == 0 || all.used == all.room || trace.frames == kMostFrames) return _URC_END_OF_STACK;
  all.frames[all.used++] = address - (before_instruction != 0 ? 0 : 1);
  ++trace.frames;
  return _URC_NO_REASON;
}

void follow(void* argument) {
  Trace& trace = *static_cast<Trace*>(argument);
  ult::unwind_from(*trace.registers, &add_frame, &trace);
}

bool lies_in(std::uint64_t address, const ult::Stack& stack) {
  const auto base = reinterpret_cast<std::uintptr_t>(stack.base);
  return address >= base && address < base + stack.size;
}

// Of the thread that is on the rank's stack, whatever the rank's state says; else a suspended rank's own.
ult::Registers registers_of(const sched::Task& task, std::span<const StoppedThread> threads) {
  const int runs_it = task.get_state() == sched::TaskState::kRunning ? sched::os_thread_of(task) : 0;
  for (const StoppedThread& thread : threads) {
    if (lies_in(thread.registers.stack_pointer(), task.stack)) return thread.registers;
  }
  for (const StoppedThread& thread : threads) {  // the rank has taken another stack
    if (thread.id == runs_it) return thread.registers;
  }
  const bool suspended =
      task.get_state() == sched::TaskState::kBlocked || task.get_state() == sched::TaskState::kReady;
  return suspended ? ult::saved_registers(task) : ult::Registers{};
}

void collect(std::span<const StoppedThread> threads, void* argument) {
  Collection& all = *static_cast<Collection*>(argument);
  for (Followed& rank : all.ranks) {
    rank.begin = rank.end = all.used;
    rank.state = rank.task->get_state();
    const ult::Registers registers = registers_of(*rank.task, threads);
    if (registers.instruction() == 0) continue;
    Trace trace{&all, &registers};
    if (!survives(&follow, &trace)) all.used = rank.begin;
    rank.end = all.used;
  }
}

// --- afterwards: names

// Where the code at an address is.
struct Code {
  enum class Owner : unsigned char { kRank, kTmpi, kSystem } owner = Owner::kSystem;
  const char* object = nullptr;
  std::size_t offset = 0;
  const char* symbol = nullptr;

  auto operator<=>(const Code&) const = default;
};

const void* own_base() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&rank_stacks), &info) != 0 ? info.dli_fbase : nullptr;
}

Code shared_code(std::uintptr_t address) {
  Dl_info info{};
  ElfW(Sym)* symbol = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(address), &info, reinterpret_cast<void**>(&symbol),
              RTLD_DL_SYMENT) == 0)
    return {};
  Code code;
  static const void* const own = own_base();
  if (info.dli_fbase == own) code.owner = Code::Owner::kTmpi;
  code.object = info.dli_fname;
  code.offset = address - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  const std::uintptr_t into = address - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  if (info.dli_sname != nullptr && symbol != nullptr && into < symbol->st_size) code.symbol = info.dli_sname;
  return code;
}

class Names {
 public:
  Code code_at(std::uintptr_t address) {
    const privatize::ImageAddress image = privatize::describe_address(reinterpret_cast<const void*>(address));
    if (image.object != nullptr) return {Code::Owner::kRank, image.object, image.offset, image.symbol};
    const auto [found, fresh] = shared_.try_emplace(address);
    if (fresh) found->second = shared_code(address);
    return found->second;
  }
  /// "exchange (heat.c:57)", or the best that is known.
  const std::string& of(const Code& code) {
    std::string& name = names_[code];
    if (name.empty()) name = word(code);
    return name;
  }

 private:
  static std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
  static std::string readable(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                      &std::free);
    std::string text = status == 0 && name != nullptr ? name.get() : symbol;
    return text.substr(0, text.find('@'));
  }
  std::string word(const Code& code) {
    if (code.object == nullptr) return "?";
    const std::string object = base_name(code.object);
    const std::string function = code.symbol != nullptr ? readable(code.symbol) : "";
    if (code.owner == Code::Owner::kRank) {
      if (const std::optional<observe::Line> line = lines_.find(code.object, code.offset)) {
        const bool inlined = !line->function.empty() && code.symbol != nullptr &&
                             function.find(line->function) == std::string::npos;
        return fmt::format("{}{} ({}:{})", function.empty() || inlined ? line->function : function,
                           inlined ? ", inlined into " + function : "", base_name(line->file), line->number);
      }
    }
    return function.empty() ? fmt::format("{}+{:#x}", object, code.offset)
                            : fmt::format("{} ({})", function, object);
  }

  observe::LineNumbers lines_;
  std::unordered_map<std::uintptr_t, Code> shared_;
  std::map<Code, std::string> names_;
};

bool is_main(const Code& code) {
  return code.owner == Code::Owner::kRank && code.symbol != nullptr && std::strcmp(code.symbol, "main") == 0;
}

const char* mpi_function(const Code& code) {
  const char* name = code.symbol;
  if (code.owner != Code::Owner::kTmpi || name == nullptr) return nullptr;
  if (std::strncmp(name, "PMPI", 4) == 0) ++name;
  return std::strncmp(name, "MPI", 3) == 0 ? name : nullptr;
}

// The rank's own calls, the outermost first: from main on, and of what tmpi does for it no more than the MPI function.
std::vector<Code> own_calls(std::vector<Code> codes) {
  std::ranges::reverse(codes);
  auto first = std::ranges::find_if(codes, &is_main);
  if (first == codes.end()) first = std::ranges::find(codes, Code::Owner::kRank, &Code::owner);
  std::vector<Code> calls;
  bool inside = false;  // tmpi, and what that calls
  for (; first != codes.end(); ++first) {
    if (first->owner == Code::Owner::kRank) {
      inside = false;
      calls.push_back(*first);
    } else if (!inside) {
      inside = first->owner == Code::Owner::kTmpi;
      if (!inside || mpi_function(*first) != nullptr) calls.push_back(*first);
    }
  }
  return calls;
}

// What it did when everything stood still. What a blocked rank waits for is the dump's word, a moment older; or, if it has
// been suspended only since then, what it waits for now.
RankPlace place_at(const Followed& rank, const RankPlace& in_dump, const std::vector<Code>& calls) {
  const bool blocked = rank.state == sched::TaskState::kBlocked;
  const bool polls = in_dump.state == RankState::kPolling;
  if (polls || blocked == (in_dump.state == RankState::kBlocked)) {
    const bool runs = rank.state == sched::TaskState::kRunning;
    if (polls || blocked || runs == (in_dump.state == RankState::kRunning)) return in_dump;
  }
  if (!blocked)
    return {rank.state == sched::TaskState::kReady ? RankState::kReady : RankState::kRunning, {}, {}, -1};
  if (rank.task->get_state() == sched::TaskState::kBlocked) {
    mpi::Place now = mpi::place_of(*rank.rank, false);
    return {RankState::kBlocked, std::move(now.call), std::move(now.detail), now.peer};
  }
  const char* const function = calls.empty() ? nullptr : mpi_function(calls.back());
  return {RankState::kBlocked, function == nullptr ? "" : function, {}, -1};
}

std::map<int, RankPlace> by_rank(const StateDump& dump) {
  std::map<int, RankPlace> places;
  for (const StateDumpEntry& entry : dump) {
    for (int i = 0; i < entry.count; ++i) {
      RankPlace place = entry.place;
      if (entry.follow) place.peer += i;
      places[entry.first + i] = std::move(place);
    }
  }
  return places;
}

// Suspended ranks that have run, and running ones.
std::vector<Followed> followed_ranks() {
  std::vector<Followed> ranks;
  mpi::Job* const job = mpi::job();
  if (job == nullptr) return ranks;
  for (int local = 0; local < job->local_count(); ++local) {
    const mpi::Rank& rank = job->local_at(local);
    if (rank.task == nullptr || rank.task->stack.base == nullptr) continue;
    const sched::TaskState state = rank.task->get_state();
    if (state == sched::TaskState::kInit || state == sched::TaskState::kFinished) continue;
    ranks.push_back({&rank, rank.task, state});
  }
  return ranks;
}

}  // namespace

Stacks rank_stacks(const StateDump& dump) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static Names names;  // debugging information is read once
  Collection all{followed_ranks()};
  all.room = all.ranks.size() * kFramesForEach + kMostFrames;
  void* const memory = mmap(nullptr, all.room * sizeof(std::uintptr_t), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    all.frames = static_cast<std::uintptr_t*>(memory);
    if (!look_at_stopped(&collect, &all)) all.ranks.clear();
  }
  std::map<int, RankPlace> places = by_rank(dump);
  std::map<std::vector<Code>, StateDump> alike;
  for (const Followed& rank : all.ranks) {
    const auto place = places.find(rank.rank->world_rank);
    if (place == places.end()) continue;
    std::vector<Code> codes;
    for (std::size_t i = rank.begin; i < rank.end; ++i) codes.push_back(names.code_at(all.frames[i]));
    std::vector<Code> calls = own_calls(std::move(codes));
    RankPlace where = place_at(rank, place->second, calls);
    // What it waits for names the call.
    if (!calls.empty() && !where.call.empty() && mpi_function(calls.back()) != nullptr) calls.pop_back();
    add_rank(alike[std::move(calls)], rank.rank->world_rank, std::move(where));
    places.erase(place);
  }
  if (memory != MAP_FAILED) munmap(memory, all.room * sizeof(std::uintptr_t));
  for (auto& [rank, place] : places) add_rank(alike[{}], rank, std::move(place));
  Stacks stacks;
  for (auto& [calls, ranks] : alike) {
    Stack& stack = stacks.emplace_back();
    for (const Code& call : calls) {
      const char* const function = mpi_function(call);
      stack.frames.push_back(function != nullptr ? function : names.of(call));
    }
    stack.ranks = std::move(ranks);
  }
  return stacks;
}

}  // namespace tmpi::launch
