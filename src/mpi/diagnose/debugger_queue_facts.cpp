// Which communicators, receives, messages and sends there are, for the message queues that debuggers show
// (src/msgq).
#include "base/debugger_fact.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/request.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace tmpi::mpi {

struct FactsOfQueues {
  static constexpr DebuggerFacts<64> all() {
    using InlineEntry = Matcher::InlineEntry;
    using PostedTable = Matcher::Buckets<PostedReceive>;
    using PostedList = Matcher::List<PostedReceive>;
    return {{
        TMPI_OFFSET(Rank, world),
        TMPI_OFFSET(Rank, self),
        TMPI_OFFSET(Rank, comms),
        TMPI_OFFSET(Rank, matcher),
        TMPI_OFFSET(Rank, requests),
        TMPI_OFFSET(Comm, rank),
        TMPI_OFFSET(Comm, size),
        TMPI_OFFSET(Comm, stands_for),
        TMPI_OFFSET(Comm, next_made),
        TMPI_OFFSET(Matcher, inline_),
        TMPI_OFFSET(Matcher, inline_count_),
        TMPI_OFFSET(Matcher, wildcards_),
        TMPI_OFFSET(Matcher, posted_table_),
        TMPI_OFFSET(Matcher, first_unexpected_),
        TMPI_OFFSET(InlineEntry, receives),
        TMPI_VALUE(sizeof(InlineEntry)),
        TMPI_OFFSET(PostedTable, one_),
        TMPI_OFFSET(PostedTable, many_),
        TMPI_OFFSET(PostedTable, mask_),
        TMPI_OFFSET(PostedList, head),
        TMPI_VALUE(sizeof(PostedList)),
        TMPI_OFFSET(MatchKey, context),
        TMPI_OFFSET(MatchKey, source),
        TMPI_OFFSET(MatchKey, tag),
        TMPI_OFFSET(PostedReceive, key),
        TMPI_OFFSET(PostedReceive, request),
        TMPI_OFFSET(PostedReceive, next),
        TMPI_OFFSET(Message, key),
        TMPI_OFFSET(Message, bytes),
        TMPI_OFFSET(Message, payload),
        TMPI_OFFSET(Message, sender),
        TMPI_OFFSET(Message, next),
        TMPI_OFFSET(RequestPool, chunks_),
        TMPI_OFFSET(Request, state_),
        TMPI_OFFSET(Request, magic),
        TMPI_OFFSET(Request, kind),
        TMPI_OFFSET(Request, mode),
        TMPI_OFFSET(Request, persistent),
        TMPI_OFFSET(Request, active),
        TMPI_OFFSET(Request, buffer),
        TMPI_OFFSET(Request, count),
        TMPI_OFFSET(Request, type),
        TMPI_OFFSET(Request, peer),
        TMPI_OFFSET(Request, tag),
        TMPI_OFFSET(Request, context),
        TMPI_OFFSET(Request, source),
        TMPI_OFFSET(Request, received_tag),
        TMPI_OFFSET(Request, bytes),
        TMPI_VALUE(sizeof(Request)),
        TMPI_VALUE(Request::kMagic),
        TMPI_VALUE(Request::kAbandoned),
        TMPI_VALUE(Request::kDone),
        TMPI_VALUE(RequestKind::kSend),
        TMPI_VALUE(RequestKind::kRecv),
        TMPI_VALUE(RequestKind::kMrecv),
        TMPI_VALUE(SendMode::kSynchronous),
        TMPI_VALUE(SendMode::kReady),
        TMPI_VALUE(SendMode::kBuffered),
        TMPI_OFFSET(Datatype, size_),
    }};
  }
};

}  // namespace tmpi::mpi

TMPI_FOR_DEBUGGERS constexpr auto tmpi_facts_of_queues = tmpi::mpi::FactsOfQueues::all();

#pragma GCC diagnostic pop
