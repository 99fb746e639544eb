#include "mpi/io/collective.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "mpi/base/no_memory.hpp"
#include "mpi/io/exclusion.hpp"
#include "mpi/io/limits.hpp"
#include "mpi/io/together.hpp"
#include "mpi/io/two_phase.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

constexpr MPI_Count kAlignment = 4096;      // a page of the file is one aggregator's
constexpr MPI_Count kMostRounds = 1 << 20;  // farther apart, most windows have nothing in them

MPI_Count rounded_up(MPI_Count value, MPI_Count unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

// Members in rank order follow each other in the file.
bool interleaved(const std::vector<Contribution>& parts) noexcept {
  MPI_Offset end = 0;
  for (const Contribution& part : parts) {
    if (part.bytes == 0) continue;
    if (part.begin < end) return true;
    end = part.end;
  }
  return false;
}

// Small neighbours, which become one system call.
bool small_neighbours(const std::vector<Contribution>& parts) noexcept {
  MPI_Count bytes = 0, members = 0;
  MPI_Offset lowest = kToTheEnd, highest = 0;
  for (const Contribution& part : parts) {
    if (part.bytes == 0) continue;
    if (!part.contiguous) return false;
    bytes += part.bytes;
    ++members;
    lowest = std::min(lowest, part.begin);
    highest = std::max(highest, part.end);
  }
  return members > 1 && bytes / members <= kSmallAccess && highest - lowest == bytes;
}

bool two_phases(const Collection& all, Transfer transfer, const std::vector<Contribution>& parts) noexcept {
  const Manner& manner = all.manner;
  const Choice choice = transfer == Transfer::kWrite ? manner.hints.cb_write : manner.hints.cb_read;
  if (manner.atomic || choice == Choice::kDisable) return false;
  if (std::any_of(parts.begin(), parts.end(), [](const Contribution& part) { return !part.ascending; }))
    return false;
  const Domains domains(parts, static_cast<int>(all.aggregators.size()), manner.hints.cb_buffer_size,
                        manner.hints.striping.unit);
  if (domains.rounds() > kMostRounds) return false;
  return choice == Choice::kEnable || interleaved(parts) || small_neighbours(parts);
}

Contribution contribution_of(const Access& access, Err mine) {
  Contribution part;
  part.failed = static_cast<bool>(mine);
  part.access = &access;
  if (part.failed || access.bytes == 0) return part;
  part.bytes = access.bytes;
  part.ascending = access.ascending();
  part.contiguous = access.contiguous();
  if (part.ascending) {
    part.begin = access.first_offset();
    part.end = access.end_offset();
  }
  part.large_runs = access.memory.direct(0) != nullptr &&
                    (part.contiguous ? access.bytes : access.view->average_run()) >= kLargeRun;
  return part;
}

// Of one member: what it sends to aggregators elsewhere, and what it aggregates.
class Member {
 public:
  Member(const Collection& all, const std::vector<Contribution>& parts, const Access& access)
      : all_(all),
        parts_(parts),
        access_(access),
        map_(*all.file.map),
        window_(all.manner.hints.cb_buffer_size),
        domains_(parts, static_cast<int>(all.aggregators.size()), window_, all.manner.hints.striping.unit),
        messages_(all.comm, Collective::kAlltoall) {
    const auto mine = std::find(all.aggregators.begin(), all.aggregators.end(), all.comm.rank);
    if (mine != all.aggregators.end()) {
      number_ = static_cast<int>(mine - all.aggregators.begin());
      aggregator_.emplace(all, parts, access.transfer, window_);
    }
    for (std::size_t i = 0; i < all.aggregators.size(); ++i) {
      if (elsewhere(all.aggregators[i])) remote_.push_back({static_cast<int>(i), Source(access), {}, {}});
    }
  }

  void run() {
    if (remote_.empty() && !aggregator_) return;  // its data are taken from where they are
    for (MPI_Count round = 0; round < domains_.rounds(); ++round) {
      MessageBatch requests(messages_, 2 * static_cast<int>(remote_.size()));
      for (Remote& remote : remote_) send_request(remote, round, requests);
      MessageBatch replies(messages_, all_.comm.size - map_.count(map_.mine()));
      if (aggregator_) aggregate(round, replies);
      if (access_.transfer == Transfer::kRead) {
        for (Remote& remote : remote_) take_reply(remote);
      }
      replies.wait();
      requests.wait();
    }
  }

  const std::optional<Aggregator>& aggregator() const noexcept { return aggregator_; }
  MPI_Offset eof() const noexcept { return std::min(eof_, aggregator_ ? aggregator_->eof() : kToTheEnd); }

 private:
  // An aggregator on another node, and what this member wants of it.
  struct Remote {
    int number;
    Source source;
    RunList list;
    std::vector<MPI_Count> positions;  // of the runs, in memory
  };

  bool elsewhere(int rank) const noexcept { return map_.node_of(rank) != map_.mine(); }
  bool writing() const noexcept { return access_.transfer == Transfer::kWrite; }

  void send_request(Remote& remote, MPI_Count round, MessageBatch& batch) {
    const FileRange window = domains_.window(remote.number, round);
    remote.list.header = {};
    remote.list.body.clear();
    remote.positions.clear();
    if (!parts_[static_cast<std::size_t>(all_.comm.rank)].meets(window.begin, window.end)) return;
    std::vector<RunList::Run> runs;
    remote.source.in_window(window, [&](MPI_Offset offset, MPI_Count length, MPI_Count position) {
      runs.push_back({offset, length});
      remote.positions.push_back(position);
      remote.list.header.bytes += length;
    });
    RunList& list = remote.list;
    list.header.runs = static_cast<MPI_Count>(runs.size());
    const auto head = runs.size() * sizeof(RunList::Run);
    list.body.resize(head + (writing() ? static_cast<std::size_t>(list.header.bytes) : 0));
    if (!runs.empty()) std::memcpy(list.body.data(), runs.data(), head);
    if (writing()) {
      std::byte* data = list.data();
      for (std::size_t i = 0; i < runs.size(); data += runs[i++].length)
        access_.memory.gather(data, remote.positions[i], runs[i].length);
    }
    const int dest = all_.aggregators[static_cast<std::size_t>(remote.number)];
    batch.send(bytes_chunk(reinterpret_cast<std::byte*>(&list.header), sizeof list.header), dest);
    if (list.header.runs > 0)
      batch.send(bytes_chunk(list.body.data(), static_cast<MPI_Count>(list.body.size())), dest);
  }

  void aggregate(MPI_Count round, MessageBatch& replies) {
    const FileRange window = domains_.window(number_, round);
    if (window.empty()) return;
    lists_.clear();
    senders_.clear();
    for (int rank = 0; rank < all_.comm.size; ++rank) {
      if (!elsewhere(rank) || !parts_[static_cast<std::size_t>(rank)].meets(window.begin, window.end))
        continue;
      RunList& list = lists_.emplace_back();
      senders_.push_back(rank);
      messages_.recv(bytes_chunk(reinterpret_cast<std::byte*>(&list.header), sizeof list.header), rank);
      const MPI_Count head = list.header.runs * static_cast<MPI_Count>(sizeof(RunList::Run));
      list.body.resize(static_cast<std::size_t>(head + list.header.bytes));
      if (list.header.runs > 0)
        messages_.recv(bytes_chunk(list.body.data(), writing() ? head + list.header.bytes : head), rank);
    }
    if (writing()) return aggregator_->write(window, lists_);
    aggregator_->read(window, lists_);
    ends_.assign(lists_.size(), aggregator_->error() ? 0 : aggregator_->eof());
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      // Where the file ends, in the place of the runs, which nobody needs any more.
      if (lists_[i].header.runs == 0) continue;
      std::byte* reply = lists_[i].data() - sizeof(MPI_Offset);
      std::memcpy(reply, &ends_[i], sizeof(MPI_Offset));
      replies.send(bytes_chunk(reply, lists_[i].header.bytes + static_cast<MPI_Count>(sizeof(MPI_Offset))),
                   senders_[i]);
    }
  }

  void take_reply(Remote& remote) {
    RunList& list = remote.list;
    if (list.header.runs == 0) return;
    const int source = all_.aggregators[static_cast<std::size_t>(remote.number)];
    std::vector<std::byte> reply(sizeof(MPI_Offset) + static_cast<std::size_t>(list.header.bytes));
    messages_.recv(bytes_chunk(reply.data(), static_cast<MPI_Count>(reply.size())), source);
    MPI_Offset end = 0;
    std::memcpy(&end, reply.data(), sizeof end);
    eof_ = std::min(eof_, end);
    const std::byte* data = reply.data() + sizeof end;
    for (MPI_Count i = 0; i < list.header.runs; data += list.runs()[i++].length) {
      const RunList::Run& run = list.runs()[i];
      const MPI_Count bytes = std::clamp<MPI_Count>(end - run.offset, 0, run.length);
      if (bytes > 0) access_.memory.scatter(data, remote.positions[static_cast<std::size_t>(i)], bytes);
    }
  }

  const Collection& all_;
  const std::vector<Contribution>& parts_;
  const Access& access_;
  const NodeMap& map_;
  const MPI_Count window_;
  const Domains domains_;
  Messages messages_;
  int number_ = -1;  // mine among the aggregators
  std::optional<Aggregator> aggregator_;
  std::vector<Remote> remote_;
  std::vector<RunList> lists_;
  std::vector<int> senders_;
  std::vector<MPI_Offset> ends_;
  MPI_Offset eof_ = kToTheEnd;
};

// If an aggregator has failed, everybody is told what it has found.
Err conclude(Comm& comm, const Member& member, MPI_Offset& eof) {
  const auto& aggregator = member.aggregator();
  const bool failed = aggregator && aggregator->error();
  std::array<MPI_Count, 2> ends{failed ? comm.rank : comm.size, member.eof()};
  TMPI_TRY(smallest(comm, ends.data(), ends.size()));
  eof = ends[1];
  if (ends[0] == comm.size) return kOk;
  struct {
    int error_class = 0;
    char text[MPI_MAX_ERROR_STRING] = {};
  } told;
  if (failed && comm.rank == ends[0]) {
    told.error_class = aggregator->error().error_class();
    told.text[aggregator->explanation().copy(told.text, sizeof told.text - 1)] = '\0';
  }
  TMPI_TRY(from_member(comm, static_cast<int>(ends[0]), &told));
  return fail(told.error_class, "{}", told.text);
}

Err in_two_phases(const Collection& all, const std::vector<Contribution>& parts, const Access& access,
                  MPI_Count& done) {
  MPI_Offset eof = kToTheEnd;
  Member member(all, parts, access);
  member.run();
  TMPI_TRY(conclude(all.comm, member, eof));
  done = access.bytes;
  if (access.transfer == Transfer::kRead && access.bytes > 0 && eof < access.end_offset())
    done = access.view->first_from(eof, access.start, access.end()) - access.start;
  return kOk;
}

}  // namespace

Domains::Domains(const std::vector<Contribution>& parts, int aggregators, MPI_Count window, MPI_Count stripe)
    : lowest_(kToTheEnd), highest_(0), window_(window) {
  for (const Contribution& part : parts) {
    if (part.bytes == 0) continue;
    lowest_ = std::min(lowest_, part.begin / kAlignment * kAlignment);
    highest_ = std::max(highest_, part.end);
  }
  if (highest_ <= lowest_) lowest_ = highest_ = 0;
  const auto share_of = [&](MPI_Count bytes) { return bytes / aggregators + (bytes % aggregators != 0); };
  const bool fits = stripe <= std::max(share_of(highest_ - lowest_), window);
  const MPI_Count alignment = fits ? std::max(stripe, kAlignment) : kAlignment;
  origin_ = lowest_ / alignment * alignment;
  const MPI_Count all = highest_ - origin_, skipped = lowest_ - origin_;
  domain_ = std::max(std::min(share_of(all), kToTheEnd - alignment), kLeastDomain);
  domain_ = rounded_up(domain_, alignment);
  // Of the first domain nothing is accessed below the lowest offset; the second is the longest one, or the last.
  const MPI_Count longest = std::max(std::min(domain_, all) - skipped, std::min(domain_, all - domain_));
  rounds_ = longest <= 0 ? 0 : (longest - 1) / window + 1;
}

FileRange Domains::window(int aggregator, MPI_Count round) const noexcept {
  // What lies behind the end is not computed: there may be no such offset.
  const MPI_Count all = highest_ - origin_;
  if (aggregator > all / domain_) return {highest_, highest_};
  const MPI_Offset first = origin_ + aggregator * domain_, domain = std::max(first, lowest_);
  const MPI_Count length = std::min(domain_, highest_ - first) - (domain - first), skipped = round * window_;
  if (skipped >= length) return {highest_, highest_};
  return {domain + skipped, domain + skipped + std::min(window_, length - skipped)};
}

void Source::seek(MPI_Offset offset) {
  at_ = access_.view->first_from(offset, access_.start, access_.end());
  cursor_ = std::make_unique<ViewCursor>(*access_.view, at_);
}

MPI_Offset Source::next_offset(MPI_Offset window_begin) {
  if (cursor_ == nullptr) seek(window_begin);
  return at_ < access_.end() ? cursor_->offset() : kToTheEnd;
}

Err transfer_all(const Collection& all, Err mine, const Access& access, MPI_Count& done) {
  done = 0;
  const std::string explanation = mine ? take_explanation() : std::string{};
  std::vector<Contribution> parts;
  TMPI_TRY(gather_all(all.comm, contribution_of(access, mine), parts));
  if (mine) {
    explain(explanation);
    return mine;
  }
  const auto failed =
      std::find_if(parts.begin(), parts.end(), [](const Contribution& part) { return part.failed; });
  if (failed != parts.end())
    return fail(MPI_ERR_OTHER,
                "rank {} of the file's communicator has failed in its arguments, so nobody does it",
                failed - parts.begin());
  if (two_phases(all, access.transfer, parts)) return in_two_phases(all, parts, access, done);
  return transfer(all.file, all.manner, access, done);
}

}  // namespace tmpi::mpi
