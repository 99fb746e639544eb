#include "msgq/queues.hpp"

#include <cstring>
#include <string>
#include <unordered_set>

namespace tmpi::msgq {

namespace {

// The marks of a communicator's own messages for a collective (mpi/comm/context.hpp).
constexpr std::uint64_t kMarks[] = {0, std::uint64_t{1} << 63, std::uint64_t{3} << 62};
constexpr std::size_t kMost =
    1'000'000;  // of one list; more are nothing but memory that is written to just now

template <std::size_t n>
void say(char (&line)[n], const std::string& text) {
  const std::size_t size = text.copy(line, n - 1);
  line[size] = '\0';
}

std::string hex(std::uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

Queues::Key Queues::key_at(Address key) {
  return {memory_.word(key + facts_["MatchKey.context"]), memory_.integer(key + facts_["MatchKey.source"]),
          memory_.integer(key + facts_["MatchKey.tag"])};
}

// Also the messages of the collectives that its members have called, as far as those are sent on itself.
bool Queues::belongs(const View& view, std::uint64_t context) const {
  return (context & ~kMarks[2]) == view.context;
}

void Queues::add_list(Address list, std::vector<Address>& receives) {
  for (Address at = memory_.word(list + facts_["PostedList.head"]); at != 0 && receives.size() < kMost;
       at = memory_.word(at + facts_["PostedReceive.next"]))
    receives.push_back(memory_.word(at + facts_["PostedReceive.request"]));
}

std::vector<Address> Queues::posted(Address matcher) {
  std::vector<Address> receives;
  const int entries = memory_.half(matcher + facts_["Matcher.inline_count_"]);
  for (int i = 0; i < entries; ++i)
    add_list(matcher + facts_["Matcher.inline_"] + static_cast<Address>(i) * facts_["sizeof(InlineEntry)"] +
                 facts_["InlineEntry.receives"],
             receives);
  const Address table = matcher + facts_["Matcher.posted_table_"];
  const Address many = memory_.word(table + facts_["PostedTable.many_"]);
  const Address last = many == 0 ? 0 : memory_.word(table + facts_["PostedTable.mask_"]);
  const Address lists = many == 0 ? table + facts_["PostedTable.one_"] : many;
  for (Address i = 0; i <= last && i < kMost; ++i)
    add_list(lists + i * facts_["sizeof(PostedList)"], receives);
  add_list(matcher + facts_["Matcher.wildcards_"], receives);
  return receives;
}

std::vector<Address> Queues::messages(Address matcher) {
  std::vector<Address> found;
  for (Address at = memory_.word(matcher + facts_["Matcher.first_unexpected_"]);
       at != 0 && found.size() < kMost; at = memory_.word(at + facts_["Message.next"]))
    found.push_back(at);
  return found;
}

void Queues::update(const std::vector<Address>& ranks) {
  waiting_.clear();
  local_.clear();
  for (const Address rank : ranks) {
    const int receiver = memory_.integer(rank + facts_["Rank.world_rank"]);
    local_[receiver] = rank;
    for (const Address message : messages(rank + facts_["Rank.matcher"])) {
      if (memory_.word(message + facts_["Message.sender"]) == 0) continue;
      const Key key = key_at(message + facts_["Message.key"]);
      waiting_[{key.context, key.source}].push_back({message, receiver});
    }
  }
}

std::vector<mqs_pending_operation> Queues::of(const View& view, mqs_op_class which) {
  switch (which) {
    case mqs_pending_sends:
      return sends(view);
    case mqs_pending_receives:
      return receives(view);
    case mqs_unexpected_messages:
      return unexpected(view);
  }
  return {};
}

// Those that the program has a handle of, or has freed while they were under way.
std::vector<Address> Queues::active_requests(const View& view, bool sends) {
  std::vector<Address> found;
  const Memory::Range chunks =
      memory_.range(view.rank + facts_["Rank.requests"] + facts_["RequestPool.chunks_"]);
  for (Address chunk = chunks.begin; chunk < chunks.end && found.size() < kMost;
       chunk += 3 * sizeof(Address)) {
    const Memory::Range requests = memory_.range(chunk);
    for (Address at = requests.begin; at < requests.end && memory_.ok(); at += facts_["sizeof(Request)"]) {
      const std::int64_t magic = memory_.integer(at + facts_["Request.magic"]);
      const bool used =
          magic == facts_.value("Request::kMagic") || magic == facts_.value("Request::kAbandoned");
      const std::int64_t kind = memory_.byte(at + facts_["Request.kind"]);
      const bool receives =
          kind == facts_.value("RequestKind::kRecv") || kind == facts_.value("RequestKind::kMrecv");
      if (used && memory_.byte(at + facts_["Request.active"]) != 0 &&
          (sends ? kind == facts_.value("RequestKind::kSend") : receives) &&
          belongs(view, memory_.word(at + facts_["Request.context"])))
        found.push_back(at);
    }
  }
  return found;
}

Queues::Operation Queues::operation_of(Address request, bool sends) {
  Operation operation;
  operation.request = request;
  operation.handle = true;
  operation.context = memory_.word(request + facts_["Request.context"]);
  operation.peer = memory_.integer(request + facts_["Request.peer"]);
  operation.tag = memory_.integer(request + facts_["Request.tag"]);
  const bool done = memory_.word(request + facts_["Request.state_"]) == facts_["Request::kDone"];
  operation.status = done ? mqs_st_complete : mqs_st_pending;
  if (memory_.byte(request + facts_["Request.persistent"]) != 0) operation.how = "persistent";
  if (sends) {
    const std::int64_t mode = memory_.byte(request + facts_["Request.mode"]);
    if (mode == facts_.value("SendMode::kSynchronous")) operation.how = "nonblocking, synchronous";
    if (mode == facts_.value("SendMode::kReady")) operation.how = "nonblocking, ready";
    if (mode == facts_.value("SendMode::kBuffered")) operation.how = "nonblocking, buffered";
  }
  return operation;
}

mqs_pending_operation Queues::shown(const View& view, const GroupView& peers, const Operation& operation,
                                    bool send) {
  mqs_pending_operation shown{};
  shown.status = operation.status;
  const bool any_source = !send && operation.peer == facts_.value("MPI_ANY_SOURCE");
  shown.desired_local_rank = any_source ? -1 : operation.peer;
  shown.desired_global_rank = any_source ? -1 : peers.world_rank(operation.peer);
  shown.tag_wild = !send && operation.tag == facts_.value("MPI_ANY_TAG");
  shown.desired_tag = operation.tag;
  if (const Address request = operation.request) {
    const Address type = memory_.word(request + facts_["Request.type"]);
    const auto count = static_cast<mqs_tword_t>(memory_.word(request + facts_["Request.count"]));
    const auto size = static_cast<mqs_tword_t>(type == 0 ? 1 : memory_.word(type + facts_["Datatype.size_"]));
    shown.buffer = memory_.word(request + facts_["Request.buffer"]);
    shown.desired_length = count * size;
    say(shown.extra_text[1], std::to_string(count) + " elements of " + std::to_string(size) + " bytes");
    if (operation.handle) say(shown.extra_text[2], "request " + hex(request));
  }
  shown.actual_local_rank = shown.desired_local_rank;
  shown.actual_global_rank = shown.desired_global_rank;
  shown.actual_tag = operation.tag;
  shown.actual_length = shown.desired_length;
  if (!send && operation.status == mqs_st_complete) {
    const int source = memory_.integer(operation.request + facts_["Request.source"]);
    shown.actual_local_rank = source;
    shown.actual_global_rank = peers.world_rank(source);
    shown.actual_tag = memory_.integer(operation.request + facts_["Request.received_tag"]);
    shown.actual_length = static_cast<mqs_tword_t>(memory_.word(operation.request + facts_["Request.bytes"]));
  }
  const std::string how = operation.how;
  say(shown.extra_text[0], how + (how.empty() ? "" : " ") + (send ? "send" : "receive") +
                               (operation.context == view.context ? "" : " of a collective call"));
  return shown;
}

bool Queues::noted(const View& view, bool send, Operation& operation) {
  const Address task = memory_.word(view.rank + facts_["Rank.task"]);
  if (task == 0) return false;
  const auto word = [&](const char* name) {
    return memory_.word(task + facts_["Task.note"] + 8 * facts_[name]);
  };
  const auto kind = static_cast<std::int64_t>(word("NoteWord::kWhat") & 0xff);
  const std::uint64_t whom = word("NoteWord::kWhom");
  operation.context = word("NoteWord::kContext");
  operation.peer = static_cast<int>(whom >> 32);
  operation.tag = static_cast<int>(whom);
  operation.how = "blocking";
  return kind == facts_.value(send ? "WaitKind::kSend" : "WaitKind::kReceive") &&
         belongs(view, operation.context) && (!view.self || word("NoteWord::kWhere") == view.comm);
}

std::vector<mqs_pending_operation> Queues::sends(const View& view) {
  const GroupView peers(memory_, facts_, view.peers);
  std::vector<mqs_pending_operation> found;
  std::unordered_set<Address> seen;
  for (const Address request : active_requests(view, true)) {
    seen.insert(request);
    found.push_back(shown(view, peers, operation_of(request, true), true));
  }
  // Others lie on stacks: of blocking calls, of MPI_Isendrecv. Their messages are with their receivers.
  Operation blocking;
  bool sought = noted(view, true, blocking);
  for (const std::uint64_t mark : kMarks) {
    const std::uint64_t context = view.context | mark;
    for (const Waiting& waiting : waiting_[{context, view.rank_in_comm}]) {
      const Key key = key_at(waiting.message + facts_["Message.key"]);
      Operation operation;
      operation.request = memory_.word(waiting.message + facts_["Message.sender"]);
      operation.context = context;
      operation.tag = key.tag;
      operation.how = "";
      const bool to_others = view.self && waiting.receiver != view.world_rank;
      if (to_others || !seen.insert(operation.request).second) continue;
      operation.peer = peers.rank_of(waiting.receiver);
      if (operation.peer < 0)
        continue;  // of the other side of an intercommunicator, which has the same context
      if (sought && blocking.context == context && blocking.peer == operation.peer &&
          blocking.tag == operation.tag) {
        operation.how = "blocking";
        sought = false;
      }
      found.push_back(shown(view, peers, operation, true));
    }
  }
  if (sought && local_.count(peers.world_rank(blocking.peer)) == 0)  // to another node
    found.push_back(shown(view, peers, blocking, true));
  return found;
}

std::vector<mqs_pending_operation> Queues::receives(const View& view) {
  const GroupView peers(memory_, facts_, view.peers);
  std::vector<mqs_pending_operation> found;
  std::unordered_set<Address> still_posted, seen;
  const std::vector<Address> in_matcher = posted(view.rank + facts_["Rank.matcher"]);
  still_posted.insert(in_matcher.begin(), in_matcher.end());
  for (const Address request : active_requests(view, false)) {
    seen.insert(request);
    Operation operation = operation_of(request, false);
    if (operation.status == mqs_st_pending && still_posted.count(request) == 0)
      operation.status = mqs_st_matched;
    found.push_back(shown(view, peers, operation, false));
  }
  Operation blocking;
  bool sought = noted(view, false, blocking);
  for (const Address request : in_matcher) {
    Operation operation = operation_of(request, false);
    operation.how = "";
    operation.handle = false;
    if (!belongs(view, operation.context) || !seen.insert(request).second) continue;
    if (sought && blocking.context == operation.context && blocking.peer == operation.peer &&
        blocking.tag == operation.tag) {
      operation.how = "blocking";
      sought = false;
    }
    found.push_back(shown(view, peers, operation, false));
  }
  if (sought) {  // it has its message, whose data are on their way
    blocking.status = mqs_st_matched;
    found.push_back(shown(view, peers, blocking, false));
  }
  return found;
}

std::vector<mqs_pending_operation> Queues::unexpected(const View& view) {
  const GroupView peers(memory_, facts_, view.peers);
  std::vector<mqs_pending_operation> found;
  for (const Address message : messages(view.rank + facts_["Rank.matcher"])) {
    const Key key = key_at(message + facts_["Message.key"]);
    if (!belongs(view, key.context)) continue;
    mqs_pending_operation shown{};
    shown.status = mqs_st_matched;  // what has come is in the actual_ fields
    shown.desired_local_rank = shown.actual_local_rank = key.source;
    shown.desired_global_rank = shown.actual_global_rank = peers.world_rank(key.source);
    shown.desired_tag = shown.actual_tag = key.tag;
    shown.desired_length = shown.actual_length =
        static_cast<mqs_tword_t>(memory_.word(message + facts_["Message.bytes"]));
    shown.buffer = memory_.word(message + facts_["Message.payload"]);
    shown.system_buffer = shown.buffer != 0;
    say(shown.extra_text[0],
        shown.system_buffer ? "its data have come" : "its data are still with the sender");
    if (key.context != view.context) say(shown.extra_text[1], "of a collective call");
    found.push_back(shown);
  }
  return found;
}

}  // namespace tmpi::msgq
