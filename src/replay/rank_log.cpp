#include "replay/rank_log.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "mpi.h"
#include "mpi/comm/check.hpp"
#include "replay/explored_log.hpp"

namespace tmpi::replay {
namespace {

/// A tag that no message is sent with: a receive that was never complete takes nothing.
constexpr int kNeverSent = mpi::kTagUpperBound + 1;

}  // namespace

void (*RankLog::depart)(RankLog& log, const char* call, const Departure& departure) = nullptr;

RankLog::~RankLog() = default;

RankLog::RankLog(int rank, ChunkFile* file, const std::string* record, ChunkFile* explored_file)
    : rank_(rank) {
  if (explored_file != nullptr) explored_log_ = std::make_unique<ExploredLog>(*explored_file, rank);
  if (file != nullptr) out_ = std::make_unique<ChunkWriter>(*file, rank);
  if (record == nullptr) return;
  scan(*record);
  in_ = *record;
  advance();
  if (synchronous_) write({ChoiceKind::kSynchronous});
}

/// A receive is posted before it is known what it takes.
void RankLog::scan(std::string_view record) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  Choice choice;
  int tag = 0;
  std::int64_t completions = 0;
  while (decode(record, tag, choice)) {
    if (choice.kind != ChoiceKind::kLate) continue;
    const std::int64_t number = completions++ + unzigzag(choice.number);
    if (choice.cancelled || number < 0 || number > kMost) continue;
    took_[static_cast<std::uint32_t>(number)] = {choice.source, choice.tag};
  }
}

void RankLog::advance() {
  said_ = 0;
  while ((replays_ = decode(in_, in_tag_, next_)) && follow_plan()) {
  }
  if (!replays_) next_ = {};
}

/// False: what is next is no plan, but has happened.
bool RankLog::follow_plan() {
  const auto number = static_cast<std::uint32_t>(next_.number);
  if (next_.kind == ChoiceKind::kSynchronous) {
    synchronous_ = true;
  } else if (next_.kind == ChoiceKind::kPlanned) {
    if (explored_log_ != nullptr) explored_log_->plan(number, {next_.source, next_.tag});
  } else if (next_.kind == ChoiceKind::kDecided) {
    if (explored_log_ != nullptr) explored_log_->plan_decision(number, next_.source);
  } else {
    return false;
  }
  return true;
}

void RankLog::leave(const char* call, const std::string& asked) {
  depart(*this, call, {choices() + 1, describe(next_), asked});
  std::abort();  // it does not return
}

const Choice* RankLog::ahead(ChoiceKind kind, const char* call) {
  if (!replays_) return nullptr;
  if (next_.kind != kind) leave(call, describe(kind));
  doing_.store(call, std::memory_order_relaxed);
  return &next_;
}

void RankLog::note(const Choice& choice, const char* call) {
  if (replays_) {
    if (next_ != choice) leave(call, describe(choice));
    advance();
    doing_.store(nullptr, std::memory_order_relaxed);
  }
  done_.fetch_add(1, std::memory_order_relaxed);
  write(choice);
}

void RankLog::write(const Choice& choice) {
  if (out_ == nullptr) return;
  nos_ = 0;
  bytes_.clear();
  encode(choice, out_tag_, bytes_);
  out_->append(bytes_);
}

Choice RankLog::recorded() const {
  Choice choice{next_.kind, next_.number, next_.source, next_.tag, next_.cancelled};
  if (choice.kind == ChoiceKind::kPoll) choice.number = said_ < choice.number / 2 ? 0 : 1;
  return choice;
}

Answer RankLog::poll(const char* call, const void* what) {
  const Choice* recorded = ahead(ChoiceKind::kPoll, call);
  if (recorded == nullptr) return explored_log_ == nullptr ? Answer::kFree : explored_log_->poll(what);
  return said_ < recorded->number / 2 ? Answer::kNo : Answer::kYes;
}

// Each no is counted in the choice that is last in the file, so that a program that tests for a long time records no more
// than a number.
void RankLog::polled(bool yes, const char* call) {
  if (explored_log_ != nullptr) explored_log_->polled(yes);
  if (replays_) {
    const bool said = said_ >= next_.number / 2;
    if (next_.kind != ChoiceKind::kPoll || yes != said)
      leave(call, yes ? "a test or probe that says yes" : "one that says no");
    if (!yes) ++said_;
    // A record that ends with noes has no yes behind them.
    if (yes || (next_.number % 2 == 0 && said_ == next_.number / 2)) advance();
    doing_.store(nullptr, std::memory_order_relaxed);
  }
  done_.fetch_add(1, std::memory_order_relaxed);
  if (out_ == nullptr) return;
  const std::uint64_t nos = nos_ + (yes ? 0 : 1);
  bytes_.clear();
  encode({ChoiceKind::kPoll, nos * 2 + (yes ? 1 : 0)}, out_tag_, bytes_);
  if (nos_ == 0 || !out_->replace_last(bytes_)) {
    if (nos_ != 0) {  // the noes before stay a choice of their own
      bytes_.clear();
      encode({ChoiceKind::kPoll, yes ? 1U : 2U}, out_tag_, bytes_);
    }
    out_->append(bytes_);
    nos_ = yes ? 0 : 1;
  } else {
    nos_ = yes ? 0 : nos;
  }
}

std::uint32_t RankLog::post(Envelope& wanted) {
  const std::uint32_t number = posts_++;
  if (!replays_) return number;
  if (const auto known = took_.find(number); known != took_.end()) {
    wanted = known->second;
  } else {  // what is to be refused stays so
    if (wanted.source == MPI_ANY_SOURCE) wanted.source = 0;
    if (wanted.tag >= 0 || wanted.tag == MPI_ANY_TAG) wanted.tag = kNeverSent;
  }
  return number;
}

void RankLog::completed(const void* request, std::optional<Envelope> took, const char* call) {
  const auto found = open_.find(request);
  if (found == open_.end()) return;
  const OpenReceive receive = found->second;
  open_.erase(found);
  if (receive.explored && took) explored_log_->took(*receive.explored, *took);
  if (!receive.wild) return;
  Choice choice{ChoiceKind::kLate, zigzag(static_cast<std::int64_t>(*receive.wild) - completions_++)};
  choice.cancelled = !took;
  if (took) choice.source = took->source, choice.tag = took->tag;
  (void)ahead(ChoiceKind::kLate, call);
  note(choice, call);
}

std::int64_t RankLog::time(unsigned clock, std::int64_t now, const char* call) {
  if (explored_log_ != nullptr) now = explored_log_->tick();
  std::int64_t& last = last_time_[clock % kClocks];
  Choice choice{ChoiceKind::kTime, zigzag(now - last)};
  if (const Choice* recorded = ahead(ChoiceKind::kTime, call)) choice.number = recorded->number;
  note(choice, call);
  return last += unzigzag(choice.number);
}

void RankLog::end() {
  if (more_recorded()) return;
  write({ChoiceKind::kEnd});
}

}  // namespace tmpi::replay
