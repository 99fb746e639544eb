#include "mpi/match/matcher.hpp"

#include <algorithm>
#include <utility>

#include "sched/waiter.hpp"

namespace tmpi::mpi {
namespace {

// Buckets of a table when it is first made.
constexpr std::size_t kFirstPostedTable = 32;
constexpr std::size_t kFirstUnexpectedTable = 64;

template <class List>
void append(List& list, PostedReceive& receive) noexcept {
  receive.previous = list.tail;
  receive.next = nullptr;
  (list.tail != nullptr ? list.tail->next : list.head) = &receive;
  list.tail = &receive;
}

}  // namespace

// With one worker and a progress thread beside it no lock is needed while that does not watch.
Matcher::Hold Matcher::lock_against_others() noexcept {
  if (Bias* const bias = sched::bias(); bias != nullptr && bias->enter()) return Hold::kBias;
  return lock_.lock(sched::current_worker()) == OwnedLock::Hold::kOwner ? Hold::kOwner : Hold::kWord;
}
Matcher::Hold Matcher::lock_from_outside() noexcept {
  if (sched::single_worker()) return Hold::kFree;
  (void)lock_.lock(-1);  // never as its owner
  return Hold::kWord;
}
void Matcher::unlock_for_others(Hold hold) noexcept {
  if (hold == Hold::kBias) return sched::bias()->leave();
  lock_.unlock(hold == Hold::kOwner ? OwnedLock::Hold::kOwner : OwnedLock::Hold::kWord);
}

// ---- posted receives ----

void Matcher::add_posted(PostedReceive& receive) noexcept {
  receive.sequence = ++sequence_;
  receive.queued = true;
  // Only the youngest entry gets more: so what one has is older than all that the next one has.
  const bool same_key = inline_count_ > 0 && inline_[inline_count_ - 1].key == receive.key;
  receive.is_inline = same_key || inline_count_ < kInline;
  if (!receive.is_inline) return add_overflow(receive);
  if (same_key)
    ++chained_;
  else
    inline_[inline_count_++] = {receive.key, {}};
  append(inline_[inline_count_ - 1].receives, receive);
}

PostedReceive* Matcher::take_posted(const MatchKey& message) noexcept {
  // Inline entries stand in the order of posting. A younger one may stand behind older overflow entries (a
  // slot became free later), so the sequence number decides when both sides have a candidate.
  int index = 0;
  while (index < inline_count_ && !inline_[index].key.accepts(message)) ++index;
  if (overflow_count_ == 0) return index < inline_count_ ? take_inline(index) : nullptr;
  PostedReceive* const candidate = find_overflow(message);
  if (index < inline_count_ &&
      (candidate == nullptr || inline_[index].receives.head->sequence < candidate->sequence))
    return take_inline(index);
  if (candidate != nullptr) unlink_overflow(*candidate);
  return candidate;
}

PostedReceive* Matcher::take_inline(int index) noexcept {
  PostedReceive* const receive = inline_[index].receives.head;
  receive->queued = false;
  if (receive->next != nullptr) {
    inline_[index].receives.head = receive->next;
    --chained_;
    return receive;
  }
  --inline_count_;
  for (int i = index; i < inline_count_; ++i) inline_[i] = inline_[i + 1];
  return receive;
}

void Matcher::add_overflow(PostedReceive& receive) noexcept {
  if (overflow_count_ >= posted_table_.size()) grow_posted_table();
  append(posted_list(receive.key), receive);
  ++overflow_count_;
}

void Matcher::unlink_overflow(PostedReceive& receive) noexcept {
  List<PostedReceive>& list = posted_list(receive.key);
  (receive.previous != nullptr ? receive.previous->next : list.head) = receive.next;
  (receive.next != nullptr ? receive.next->previous : list.tail) = receive.previous;
  receive.queued = false;
  --overflow_count_;
}

PostedReceive* Matcher::find_overflow(const MatchKey& message) noexcept {
  PostedReceive* exact = posted_list(message).head;
  while (exact != nullptr && !exact->key.accepts(message)) exact = exact->next;
  PostedReceive* wild = wildcards_.head;
  while (wild != nullptr && !wild->key.accepts(message)) wild = wild->next;
  return exact == nullptr || (wild != nullptr && wild->sequence < exact->sequence) ? wild : exact;
}

// Each bucket stays in the order of posting: all that comes into a new one comes from the same old one.
void Matcher::grow_posted_table() noexcept {
  Buckets<PostedReceive> larger;
  if (!larger.make(std::max(kFirstPostedTable, posted_table_.size() * 2))) return;
  for (std::size_t i = 0; i < posted_table_.size(); ++i) {
    for (PostedReceive* receive = posted_table_[i].head; receive != nullptr;) {
      PostedReceive* const after = receive->next;
      append(larger.of(receive->key), *receive);
      receive = after;
    }
  }
  posted_table_ = std::move(larger);
}

void Matcher::remove(PostedReceive& receive) noexcept {
  if (!receive.is_inline) return unlink_overflow(receive);
  for (int i = 0; i < inline_count_; ++i) {
    if (inline_[i].receives.head == &receive) {
      (void)take_inline(i);
      return;
    }
    if (inline_[i].receives.tail == &receive) inline_[i].receives.tail = receive.previous;
  }
  // Behind another one.
  receive.previous->next = receive.next;
  if (receive.next != nullptr) receive.next->previous = receive.previous;
  receive.queued = false;
  --chained_;
}

// ---- unexpected messages ----

ProbeWaiter* Matcher::add_unexpected(Message& message) noexcept {
  ++sequence_;  // for history(); the order of receives does not mind
  message.queued = true;
  message.next = nullptr;
  message.previous = last_unexpected_;
  (last_unexpected_ != nullptr ? last_unexpected_->next : first_unexpected_) = &message;
  last_unexpected_ = &message;
  if (++unexpected_count_ > most_unexpected_) most_unexpected_ = unexpected_count_;
  ++unexpected_total_;
  if (message.payload != nullptr) count_buffered(message.bytes);
  if (indexed_) index_message(message);
  if (unexpected_count_ > kScanLimit && (!indexed_ || unexpected_count_ > unexpected_table_.size()))
    index_more();
  ProbeWaiter* accepting = nullptr;
  for (ProbeWaiter** link = &probes_; *link != nullptr;) {
    ProbeWaiter* probe = *link;
    if (probe->key.accepts(message.key)) {
      *link = probe->next;
      probe->next = std::exchange(accepting, probe);
    } else {
      link = &probe->next;
    }
  }
  return accepting;
}

void Matcher::wake(ProbeWaiter* probes) noexcept {
  while (probes != nullptr) {
    // Who is woken may take the probe away.
    std::exchange(probes, probes->next)->waiter->complete();
  }
}

Message* Matcher::find_unexpected(const MatchKey& receive) noexcept {
  // What has come first is most often received first.
  if (first_unexpected_ != nullptr && receive.accepts(first_unexpected_->key)) return first_unexpected_;
  if (receive.exact() && indexed_) {
    Message* message = unexpected_table_.of(receive).head;
    while (message != nullptr && message->key != receive) message = message->bucket_next;
    return message;
  }
  Message* message = first_unexpected_;
  while (message != nullptr && !receive.accepts(message->key)) message = message->next;
  return message;
}

Message* Matcher::find_youngest(const MatchKey& key, std::uint16_t serial) noexcept {
  Message* message = last_unexpected_;
  while (message != nullptr && (message->serial != serial || message->key != key))
    message = message->previous;
  return message;
}

Message* Matcher::take_unexpected(const MatchKey& receive) noexcept {
  if (first_unexpected_ == nullptr) return nullptr;
  Message* message = find_unexpected(receive);
  if (message != nullptr) unlink(*message);
  return message;
}

void Matcher::remove(Message& message) noexcept {
  unlink(message);
}

void Matcher::unlink(Message& message) noexcept {
  (message.previous != nullptr ? message.previous->next : first_unexpected_) = message.next;
  (message.next != nullptr ? message.next->previous : last_unexpected_) = message.previous;
  if (indexed_) {
    List<Message>& list = unexpected_table_.of(message.key);
    (message.bucket_previous != nullptr ? message.bucket_previous->bucket_next : list.head) =
        message.bucket_next;
    (message.bucket_next != nullptr ? message.bucket_next->bucket_previous : list.tail) =
        message.bucket_previous;
    indexed_ = unexpected_count_ > 1;
  }
  message.queued = false;
  --unexpected_count_;
  if (message.payload != nullptr) count_buffered(-message.bytes);
}

void Matcher::index_message(Message& message) noexcept {
  List<Message>& list = unexpected_table_.of(message.key);
  message.bucket_next = nullptr;
  message.bucket_previous = list.tail;
  (list.tail != nullptr ? list.tail->bucket_next : list.head) = &message;
  list.tail = &message;
}

// There are many: by the table from now on, a larger one if it is small and there is memory. One that is not in use is
// empty.
void Matcher::index_more() noexcept {
  if (unexpected_count_ > unexpected_table_.size()) {
    Buckets<Message> larger;
    if (larger.make(std::max(kFirstUnexpectedTable, unexpected_table_.size() * 2))) {
      unexpected_table_ = std::move(larger);
      indexed_ = false;
    }
  }
  if (indexed_ || unexpected_table_.size() == 1) return;
  indexed_ = true;
  for (Message* message = first_unexpected_; message != nullptr; message = message->next)
    index_message(*message);
}

void Matcher::add_probe(ProbeWaiter& probe) noexcept {
  probe.next = probes_;
  probes_ = &probe;
}

}  // namespace tmpi::mpi
