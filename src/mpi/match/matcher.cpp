#include "mpi/match/matcher.hpp"

#include "sched/scheduler.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {

// With one worker only that worker's fibers come here, and none is suspended inside: no lock is needed.
void Matcher::lock() noexcept {
  if (!sched::single_worker()) lock_.lock();
}
void Matcher::unlock() noexcept {
  if (!sched::single_worker()) lock_.unlock();
}

// ---- posted receives ----

void Matcher::add_posted(PostedReceive& receive) noexcept {
  receive.sequence = ++sequence_;
  receive.queued = true;
  if (inline_count_ < kInline) {
    inline_[inline_count_++] = {receive.key, &receive};
  } else {
    add_overflow(receive);
  }
}

PostedReceive* Matcher::take_posted(const MatchKey& message) noexcept {
  // Inline entries stand in the order of posting. A younger one may stand behind older overflow entries (a
  // slot became free later), so the sequence number decides when both sides have a candidate.
  int index = 0;
  while (index < inline_count_ && !inline_[index].key.accepts(message)) ++index;
  if (overflow_count_ == 0) return index < inline_count_ ? take_inline(index) : nullptr;
  PostedReceive* candidate = take_overflow(message);
  if (index == inline_count_) return candidate;
  if (candidate == nullptr) return take_inline(index);
  if (candidate->sequence < inline_[index].receive->sequence) return candidate;
  add_overflow(*candidate);  // the inline one is older; the candidate goes back to its place
  return take_inline(index);
}

PostedReceive* Matcher::take_inline(int index) noexcept {
  PostedReceive* receive = inline_[index].receive;
  receive->queued = false;
  --inline_count_;
  for (int i = index; i < inline_count_; ++i) inline_[i] = inline_[i + 1];
  return receive;
}

Matcher::List<PostedReceive>& Matcher::posted_list(const MatchKey& key) noexcept {
  return key.exact() ? posted_table_[key.hash() & (posted_table_.size() - 1)] : wildcards_;
}

void Matcher::add_overflow(PostedReceive& receive) noexcept {
  if (overflow_count_ >= posted_table_.size()) grow_posted_table();
  receive.queued = true;
  List<PostedReceive>& list = posted_list(receive.key);
  // Kept in order of sequence; nearly always this is the end of the list.
  PostedReceive* after = list.tail;
  while (after != nullptr && after->sequence > receive.sequence) after = after->previous;
  receive.previous = after;
  receive.next = after != nullptr ? after->next : list.head;
  (after != nullptr ? after->next : list.head) = &receive;
  (receive.next != nullptr ? receive.next->previous : list.tail) = &receive;
  ++overflow_count_;
}

void Matcher::unlink_overflow(PostedReceive& receive) noexcept {
  List<PostedReceive>& list = posted_list(receive.key);
  (receive.previous != nullptr ? receive.previous->next : list.head) = receive.next;
  (receive.next != nullptr ? receive.next->previous : list.tail) = receive.previous;
  receive.queued = false;
  --overflow_count_;
}

PostedReceive* Matcher::take_overflow(const MatchKey& message) noexcept {
  PostedReceive* exact = posted_list(message).head;
  while (exact != nullptr && !exact->key.accepts(message)) exact = exact->next;
  PostedReceive* wild = wildcards_.head;
  while (wild != nullptr && !wild->key.accepts(message)) wild = wild->next;
  PostedReceive* oldest =
      exact == nullptr || (wild != nullptr && wild->sequence < exact->sequence) ? wild : exact;
  if (oldest != nullptr) unlink_overflow(*oldest);
  return oldest;
}

void Matcher::grow_posted_table() {
  std::vector<List<PostedReceive>> old = std::move(posted_table_);
  posted_table_.assign(old.empty() ? 32 : old.size() * 2, {});
  overflow_count_ = 0;
  for (PostedReceive* r = wildcards_.head; r != nullptr; r = r->next)
    ++overflow_count_;  // they stay where they are
  for (List<PostedReceive>& list : old) {
    while (list.head != nullptr) {
      PostedReceive* receive = list.head;
      list.head = receive->next;
      add_overflow(*receive);
    }
  }
}

void Matcher::remove(PostedReceive& receive) noexcept {
  for (int i = 0; i < inline_count_; ++i) {
    if (inline_[i].receive == &receive) {
      (void)take_inline(i);
      return;
    }
  }
  unlink_overflow(receive);
}

// ---- unexpected messages ----

void Matcher::add_unexpected(Message& message) noexcept {
  message.queued = true;
  message.next = nullptr;
  message.previous = last_unexpected_;
  (last_unexpected_ != nullptr ? last_unexpected_->next : first_unexpected_) = &message;
  last_unexpected_ = &message;
  ++unexpected_count_;
  if (message.payload != nullptr) count_buffered(message.bytes);
  if (!unexpected_table_.empty()) index_message(message);
  if (unexpected_count_ > kScanLimit && unexpected_count_ > unexpected_table_.size()) grow_unexpected_table();
  for (ProbeWaiter** link = &probes_; *link != nullptr;) {
    ProbeWaiter* probe = *link;
    if (probe->key.accepts(message.key)) {
      *link = probe->next;
      probe->waiter->complete();
    } else {
      link = &probe->next;
    }
  }
}

Message* Matcher::find_unexpected(const MatchKey& receive) noexcept {
  if (receive.exact() && !unexpected_table_.empty()) {
    Message* message = unexpected_table_[receive.hash() & (unexpected_table_.size() - 1)].head;
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
  if (!unexpected_table_.empty()) {
    List<Message>& list = unexpected_table_[message.key.hash() & (unexpected_table_.size() - 1)];
    (message.bucket_previous != nullptr ? message.bucket_previous->bucket_next : list.head) =
        message.bucket_next;
    (message.bucket_next != nullptr ? message.bucket_next->bucket_previous : list.tail) =
        message.bucket_previous;
  }
  message.queued = false;
  --unexpected_count_;
  if (message.payload != nullptr) count_buffered(-message.bytes);
}

void Matcher::index_message(Message& message) noexcept {
  List<Message>& list = unexpected_table_[message.key.hash() & (unexpected_table_.size() - 1)];
  message.bucket_next = nullptr;
  message.bucket_previous = list.tail;
  (list.tail != nullptr ? list.tail->bucket_next : list.head) = &message;
  list.tail = &message;
}

void Matcher::grow_unexpected_table() {
  unexpected_table_.assign(unexpected_table_.empty() ? 64 : unexpected_table_.size() * 2, {});
  for (Message* message = first_unexpected_; message != nullptr; message = message->next)
    index_message(*message);
}

void Matcher::add_probe(ProbeWaiter& probe) noexcept {
  probe.next = probes_;
  probes_ = &probe;
}

}  // namespace tmpi::mpi
