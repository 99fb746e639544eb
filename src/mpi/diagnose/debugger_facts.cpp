// What ranks wait for, for debuggers.
#include "base/debugger_fact.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace tmpi::mpi {

struct FactsOfRanks {
  static constexpr DebuggerFacts<40> all() {
    using detail::NoteWord;
    return {{
        TMPI_OFFSET(Job, local_),
        TMPI_OFFSET(Job, local_count_),
        TMPI_OFFSET(Rank, task),
        TMPI_OFFSET(Rank, world_rank),
        TMPI_OFFSET(Comm, context),
        TMPI_OFFSET(Comm, name),
        TMPI_OFFSET(Comm, local),
        TMPI_OFFSET(Comm, shared),
        TMPI_OFFSET(CommShared, peers),
        TMPI_OFFSET(CommShared, group),
        TMPI_OFFSET(Group, first_),
        TMPI_OFFSET(Group, stride_),
        TMPI_OFFSET(Group, size_),
        TMPI_OFFSET(Group, members_),
        TMPI_VALUE(kCollective),
        TMPI_VALUE(kWorldContext),
        TMPI_VALUE(MPI_ANY_SOURCE),
        TMPI_VALUE(MPI_ANY_TAG),
        TMPI_VALUE(NoteWord::kWhat),
        TMPI_VALUE(NoteWord::kWhom),
        TMPI_VALUE(NoteWord::kContext),
        TMPI_VALUE(NoteWord::kWhere),
        TMPI_VALUE(NoteWord::kCollectiveComm),
        TMPI_VALUE(WaitKind::kNothing),
        TMPI_VALUE(WaitKind::kSend),
        TMPI_VALUE(WaitKind::kReceive),
        TMPI_VALUE(WaitKind::kProbe),
        TMPI_VALUE(WaitKind::kAll),
        TMPI_VALUE(WaitKind::kAny),
        TMPI_VALUE(WaitKind::kCollective),
        TMPI_VALUE(WaitKind::kOperation),
        TMPI_VALUE(WaitKind::kStarted),
        TMPI_VALUE(WaitKind::kWindow),
        TMPI_VALUE(WaitKind::kPort),
        TMPI_VALUE(WaitKind::kOutside),
        TMPI_VALUE(WaitKind::kSocket),
        TMPI_VALUE(WaitKind::kOwnSocket),
    }};
  }
};

}  // namespace tmpi::mpi

TMPI_FOR_DEBUGGERS constexpr auto tmpi_facts_of_ranks = tmpi::mpi::FactsOfRanks::all();
TMPI_FOR_DEBUGGERS tmpi::mpi::Job* const* const tmpi_debugger_job = &tmpi::mpi::detail::g_job;

#pragma GCC diagnostic pop
