#include "mpi/tool/controls.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "mpi/base/other_jobs.hpp"
#include "mpi/base/placement.hpp"
#include "mpi/coll/preferences.hpp"
#include "mpi/coll/table.hpp"
#include "mpi/coll/wanted.hpp"
#include "mpi/comm/check.hpp"
#include "mpi/io/hints.hpp"
#include "mpi/io/limits.hpp"
#include "mpi/match/matcher.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/payload_ring.hpp"
#include "mpi/p2p/way.hpp"
#include "mpi/p2p/worker_channels.hpp"
#include "mpi/remote/announcements.hpp"
#include "mpi/remote/backlog.hpp"
#include "mpi/remote/eager_policy.hpp"
#include "mpi/remote/remote.hpp"
#include "mpi/remote/sends.hpp"
#include "mpi/remote/transfer_queue.hpp"
#include "mpi/remote/wire.hpp"
#include "mpi/rma/limits.hpp"
#include "mpi/tool/events.hpp"
#include "net/named_limits.hpp"
#include "sched/file_calls.hpp"
#include "sched/progress/progress_loop.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi::tool {
namespace {

std::vector<Setting>& settings() {
  static std::vector<Setting> all;
  return all;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return c == '-' ? '_' : std::tolower(c); });
  return result;
}

// ---- What the job consists of, and limits

struct Limit {
  const char* name;
  int scope;
  std::uint64_t (*number)();
  const char* description;
};

template <auto kValue>
std::uint64_t constant() {
  return static_cast<std::uint64_t>(kValue);
}

template <MPI_Count Hints::*kWhich>
std::uint64_t default_hint() {
  return static_cast<std::uint64_t>(Hints{}.*kWhich);
}

std::uint64_t largest_on_core() {
  const std::int64_t limit = sched::file_limit();
  return static_cast<std::uint64_t>(limit < 0 ? kSmallFileCall : std::max<std::int64_t>(limit - 1, 0));
}

constexpr Limit kLimits[] = {
    {"tmpi_job_ranks", MPI_T_SCOPE_READONLY, [] { return std::uint64_t(job()->size()); },
     "Ranks of the job, the size of MPI_COMM_WORLD."},
    {"tmpi_job_nodes", MPI_T_SCOPE_READONLY, [] { return std::uint64_t(job()->nodes()); },
     "Node processes of the job."},
    {"tmpi_node_ranks", MPI_T_SCOPE_READONLY, [] { return std::uint64_t(job()->local_count()); },
     "Ranks of this node process."},
    {"tmpi_node_workers", MPI_T_SCOPE_CONSTANT, [] { return std::uint64_t(sched::scheduler()->workers()); },
     "Workers of this node process: threads that run ranks, one for each core in use."},
    {"tmpi_node_oversubscribed", MPI_T_SCOPE_CONSTANT,
     [] { return std::uint64_t(sched::scheduler()->oversubscribed()); },
     "1 if there are more workers than cores: idle ones sleep at once then, and times vary."},
    {"tmpi_limit_stack", MPI_T_SCOPE_CONSTANT, [] { return std::uint64_t(sched::scheduler()->stack_size()); },
     "Bytes of a rank's stack."},
    {"tmpi_limit_buffered", MPI_T_SCOPE_CONSTANT, constant<kMostBuffered>,
     "Bytes of such copies that may lie at a rank; then its senders wait."},
    {"tmpi_limit_eager_network", MPI_T_SCOPE_READONLY, [] { return std::uint64_t(remote::eager_limit()); },
     "Bytes of the largest message to another node process that is sent without asking first; 0 in a job of "
     "one."},
    {"tmpi_limit_shared_copy", MPI_T_SCOPE_CONSTANT, constant<kLeastShared>,
     "Bytes of the smallest message, put or get between two workers that both of them copy, if one idles."},
    {"tmpi_limit_shared_halves", MPI_T_SCOPE_CONSTANT, constant<kCopies[1].most>,
     "The largest that is copied in halves; larger ones are in pieces."},
    {"tmpi_limit_posted_scanned", MPI_T_SCOPE_CONSTANT, constant<Matcher::kInline>,
     "Posted receives of a rank that a message is compared with one after the other; more are in a hash "
     "table."},
    {"tmpi_limit_unexpected_scanned", MPI_T_SCOPE_CONSTANT, constant<Matcher::kScanLimit>,
     "The same for unexpected messages of a rank, until a hash table is made."},
    {"tmpi_limit_segment", MPI_T_SCOPE_CONSTANT, constant<remote::kSegment>,
     "Bytes of a piece of what is large and travels between node processes: messages, one-sided operations."},
    {"tmpi_limit_slots_few", MPI_T_SCOPE_CONSTANT, constant<Channel::kFewSlots>,
     "Slots of a channel between two workers, at first."},
    {"tmpi_limit_slots_many", MPI_T_SCOPE_CONSTANT, constant<Channel::kManySlots>,
     "Slots of a channel that is much used."},
    {"tmpi_limit_channel_bytes", MPI_T_SCOPE_CONSTANT, constant<PayloadRing::kLines * kCacheLine>,
     "Bytes that may lie in a channel beside its slots."},
    {"tmpi_limit_channel_messages", MPI_T_SCOPE_CONSTANT, constant<PayloadRing::kMessages>,
     "Messages that may lie there."},
    {"tmpi_limit_credit", MPI_T_SCOPE_READONLY,
     [] { return remote::credit_limit(static_cast<MPI_Count>(remote::eager_limit())); },
     "Bytes of eager messages of another node process that may lie unreceived at a rank; then they ask "
     "first."},
    {"tmpi_limit_credit_other_jobs", MPI_T_SCOPE_CONSTANT, constant<remote::kCreditBetweenJobs>,
     "The same for messages of another job."},
    {"tmpi_limit_eager_adapted", MPI_T_SCOPE_CONSTANT, constant<remote::EagerPolicy::kMost>,
     "Bytes that --eager-limit dynamic raises the limit of a pair to, at most."},
    {"tmpi_limit_announcements", MPI_T_SCOPE_CONSTANT, constant<remote::Announcements::kMost>,
     "Announced receives of other node processes that are remembered; then large messages ask first."},
    {"tmpi_limit_backlog_bytes", MPI_T_SCOPE_CONSTANT, constant<remote::Backlog::kMostCopied>,
     "Bytes of copies that wait for a peer until the transport takes more; then senders wait."},
    {"tmpi_limit_backlog_messages", MPI_T_SCOPE_CONSTANT, constant<remote::Backlog::kMostEntries>,
     "Messages that wait so, likewise."},
    {"tmpi_limit_turn", MPI_T_SCOPE_CONSTANT, constant<remote::kTransferTurn>,
     "Bytes that a large message moves in a row while others to the same peer wait."},
    {"tmpi_limit_stall", MPI_T_SCOPE_CONSTANT, constant<sched::kStallPeriod>,
     "Nanoseconds between two looks for a deadlock, at most, while all workers sleep."},
    {"tmpi_limit_rest_short", MPI_T_SCOPE_CONSTANT, constant<sched::ProgressHeat::kShortestRest>,
     "Nanoseconds: the shortest rest of the progress thread (--progress thread)."},
    {"tmpi_limit_rest_long", MPI_T_SCOPE_CONSTANT, constant<sched::ProgressHeat::kLongRest>,
     "Nanoseconds: its rests grow to this while it is of no use."},
    {"tmpi_limit_rest_longest", MPI_T_SCOPE_CONSTANT, constant<sched::ProgressHeat::kLongestRest>,
     "Nanoseconds: the same where workers look at the network all the time."},
    {"tmpi_limit_rma_polls", MPI_T_SCOPE_CONSTANT, constant<rma::kPollsPerTurn>,
     "Operations and calls of MPI_Win_flush, _sync, _unlock or _test in a loop, between two scheduling "
     "points."},
    {"tmpi_limit_rma_row", MPI_T_SCOPE_CONSTANT, constant<rma::kRowPiece>,
     "Bytes of an accumulate that other accumulates at the target do not mix with; a longer one is done in "
     "such pieces."},
    {"tmpi_limit_rma_types", MPI_T_SCOPE_CONSTANT, constant<rma::kMostSentTypes>,
     "Datatypes of targets that a node process remembers to have sent to others; then it forgets all."},
    {"tmpi_limit_rma_locks", MPI_T_SCOPE_CONSTANT, constant<rma::kElementLocks>,
     "Locks of a node process for elements of accumulates that no instruction changes as a whole."},
    {"tmpi_limit_file_small", MPI_T_SCOPE_CONSTANT, largest_on_core,
     "Bytes of the largest call on a file that a core makes itself though others could run meanwhile "
     "(--file-io WAY:SIZE: one less than SIZE)."},
    {"tmpi_limit_file_calls", MPI_T_SCOPE_CONSTANT, constant<sched::kMostFileCalls>,
     "Calls on files of a worker that io_uring has at a time; threads make the others."},
    {"tmpi_limit_file_threads", MPI_T_SCOPE_CONSTANT, constant<sched::kMostFileThreads>,
     "Threads beside the cores that make calls on files."},
    {"tmpi_limit_file_pieces", MPI_T_SCOPE_CONSTANT, constant<kMostPieces>,
     "Pieces of a file that are moved by one hand-over to a thread beside the cores."},
    {"tmpi_limit_file_sieve_reads", MPI_T_SCOPE_CONSTANT, constant<kSieveReads>,
     "Bytes: runs of an independent access that begin no farther apart, on average, are read together."},
    {"tmpi_limit_file_sieve_writes", MPI_T_SCOPE_CONSTANT, constant<kSieveWrites>, "The same for writes."},
    {"tmpi_limit_file_holes", MPI_T_SCOPE_CONSTANT, constant<kCloseHoles>,
     "Bytes: the data of an aggregator whose runs lie no farther apart, on average, are written together."},
    {"tmpi_limit_file_run", MPI_T_SCOPE_CONSTANT, constant<kLargeRun>,
     "Bytes of the shortest runs that an aggregator moves from where they are, without a copy of its own."},
    {"tmpi_limit_file_access", MPI_T_SCOPE_CONSTANT, constant<kSmallAccess>,
     "Bytes: accesses of neighbours that are no larger, on average, are made by aggregators."},
    {"tmpi_limit_file_domain", MPI_T_SCOPE_CONSTANT, constant<kLeastDomain>,
     "Bytes of a file that are an aggregator's, at least."},
    {"tmpi_limit_cb_buffer_size", MPI_T_SCOPE_CONSTANT, default_hint<&Hints::cb_buffer_size>,
     "Bytes that an aggregator moves at once, unless the hint cb_buffer_size says something else."},
    {"tmpi_limit_ind_rd_buffer_size", MPI_T_SCOPE_CONSTANT, default_hint<&Hints::ind_rd_buffer_size>,
     "Bytes that data sieving reads at once, unless the hint ind_rd_buffer_size says something else."},
    {"tmpi_limit_ind_wr_buffer_size", MPI_T_SCOPE_CONSTANT, default_hint<&Hints::ind_wr_buffer_size>,
     "The same for writes and ind_wr_buffer_size."},
    {"tmpi_limit_spawned", MPI_T_SCOPE_CONSTANT, constant<Placement::kMostAdded>,
     "Ranks that can be spawned in a job, in all."},
    {"tmpi_limit_spawned_node", MPI_T_SCOPE_CONSTANT, constant<sched::Scheduler::kMostAdded>,
     "Ranks that can be spawned in a node process, in all."},
    {"tmpi_limit_other_jobs", MPI_T_SCOPE_CONSTANT, constant<kMostOtherJobs>,
     "Other jobs that a job can be connected with, in all."},
    {"tmpi_limit_other_nodes", MPI_T_SCOPE_CONSTANT, constant<kMostOtherNodes>,
     "Node processes of those, in all."},
    {"tmpi_limit_tag", MPI_T_SCOPE_CONSTANT, constant<kTagUpperBound>, "The largest tag (MPI_TAG_UB)."},
    {"tmpi_limit_events", MPI_T_SCOPE_CONSTANT, constant<Events::kCapacity>,
     "Events of a registration that wait until they can be delivered; what comes then is dropped."},
};

// ---- The table

Control control_of(const Setting& setting) {
  Control control;
  control.name = "tmpi_" + lower(std::string_view(setting.name).substr(setting.name.find_first_not_of('-')));
  control.description = fmt::format("tmpirun {}: {} Empty: not given.", setting.name, setting.help);
  control.category = Category::kOptions;
  control.type = MPI_CHAR;
  control.text = setting.value;
  return control;
}

Control control_of(const Limit& limit) {
  Control control;
  control.name = limit.name;
  control.description = limit.description;
  control.scope = limit.scope;
  control.number = limit.number;
  return control;
}

Control control_of(const net::NamedLimit& limit) {
  Control control;
  control.name = fmt::format("tmpi_limit_{}", limit.name);
  control.description = limit.description;
  control.scope = MPI_T_SCOPE_CONSTANT;
  control.fixed = limit.value;
  return control;
}

// The table of ways, whose other rows have no limit.
constexpr std::pair<Way, const char*> kWayLimits[] = {
    {Way::kSlot, "tmpi_limit_slot"},
    {Way::kRing, "tmpi_limit_channel"},
    {Way::kPacked, "tmpi_limit_scattered"},
    {Way::kEager, "tmpi_limit_eager_node"},
};

Control control_of(const std::pair<Way, const char*>& limit) {
  const WayRow& row = row_of(limit.first);
  Control control;
  control.name = limit.second;
  control.description = fmt::format(
      "Bytes of the largest message inside a node process that goes the way \"{}\": {}. `tmpirun --net help` "
      "prints the table of ways.",
      row.name, row.what);
  control.fixed = static_cast<std::uint64_t>(std::max(row.most, row.most_scattered));
  return control;
}

// Value 0: no choice; i: the i-th algorithm of the selection table.
Control control_of(Collective collective) {
  Control control;
  const std::string name = lower(name_of(collective));
  control.name = fmt::format("tmpi_algorithm_{}", name);
  control.description = fmt::format(
      "Algorithm of MPI_{} and its relatives on the communicator; 'automatic': what --coll says, else the "
      "first one that "
      "suits the call. One that does not work for a call is passed over. To be set alike by all members "
      "while none of the "
      "communicator's collectives is under way.",
      name_of(collective));
  control.verbosity = MPI_T_VERBOSITY_TUNER_BASIC;
  control.scope = MPI_T_SCOPE_GROUP_EQ;
  control.category = Category::kAlgorithms;
  control.type = MPI_INT;
  control.collective = collective;
  std::vector<std::pair<int, std::string>> items = {{0, "automatic"}};
  for (const Algorithm& row : algorithms(collective))
    items.emplace_back(static_cast<int>(items.size()), row.name);
  control.enumeration = &add_enumeration(control.name, std::move(items));
  return control;
}

std::vector<Control> make_table() {
  std::vector<Control> table;
  for (const Setting& setting : settings()) table.push_back(control_of(setting));
  for (const auto& limit : kWayLimits) table.push_back(control_of(limit));
  for (const Limit& limit : kLimits) table.push_back(control_of(limit));
  for (const net::NamedLimit& limit : net::named_limits()) table.push_back(control_of(limit));
  for (int c = 0; c < kCollectives; ++c) table.push_back(control_of(static_cast<Collective>(c)));
  return table;
}

int choice_on(const Comm& comm, Collective collective) {
  const Algorithm* const wanted = wanted_algorithm(comm, collective);
  int value = 0;
  for (const Algorithm& row : algorithms(collective)) {
    ++value;
    if (&row == wanted) return value;
  }
  return 0;
}

}  // namespace

void register_settings(std::vector<Setting> given) {
  settings() = std::move(given);
}

std::span<const Control> controls() {
  static const std::vector<Control> table = make_table();
  return table;
}

int find_control(std::string_view name) {
  const std::span<const Control> all = controls();
  const auto found = std::ranges::find(all, name, &Control::name);
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

void read_control(const Control& control, const Comm* comm, void* buffer) {
  if (control.type == MPI_CHAR) {
    std::memcpy(buffer, control.text.c_str(), control.text.size() + 1);
  } else if (control.is_choice()) {
    *static_cast<int*>(buffer) = choice_on(*comm, control.collective);
  } else {
    *static_cast<unsigned long long*>(buffer) = control.number == nullptr ? control.fixed : control.number();
  }
}

int write_choice(const Control& control, Comm& comm, int value) {
  const auto rows = algorithms(control.collective);
  if (value < 0 || value > static_cast<int>(rows.size())) return MPI_T_ERR_INVALID;
  // The same bits for any number of workers and nodes, as the user has asked for: no tool may take that back.
  if (reproducible() && preferred_algorithm(control.collective) != nullptr) return MPI_T_ERR_CVAR_SET_NEVER;
  if (comm.owner->busy_shadows > 0) return MPI_T_ERR_CVAR_SET_NOT_NOW;
  want_algorithm(comm, control.collective,
                 value == 0 ? nullptr : &rows[static_cast<std::size_t>(value) - 1].get());
  return MPI_SUCCESS;
}

}  // namespace tmpi::mpi::tool
