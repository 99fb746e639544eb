#include "check/misuse.hpp"

#include <fmt/core.h>

#include <atomic>
#include <functional>
#include <thread>

#include "check/checker.hpp"
#include "mpi/rank/callbacks.hpp"

namespace tmpi::check {
namespace {

/// Reading line numbers takes more stack than a rank may have.
std::string with_usual_stack(const std::function<std::string()>& compose) {
  std::string text;
  std::thread thread([&] { text = compose(); });
  thread.join();
  return text;
}

/// Ends the job with the sentence. The first misuse counts; a thread that finds another one waits for the end.
[[noreturn]] void end_job(const RankRecord& record, CallPlace call, int error_class,
                          const std::function<std::string()>& sentence) {
  const std::string text = with_usual_stack([&] {
    return fmt::format("rank {} on {}: {}: {}", record.rank->world_rank, mpi::job()->host(),
                       Checker::instance()->readable(call), sentence());
  });
  mpi::callbacks().abort_job(const_cast<mpi::Rank&>(*record.rank), error_class, text);
  std::abort();  // abort_job does not return
}

std::string readable(CallPlace place) {
  return Checker::instance()->readable(place);
}

int class_of(HandleKind kind) {
  static constexpr std::array<int, kHandleKinds> kClasses = {
      MPI_ERR_COMM,       MPI_ERR_TYPE,    MPI_ERR_REQUEST, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_INFO,
      MPI_ERR_ERRHANDLER, MPI_ERR_SESSION, MPI_ERR_REQUEST, MPI_ERR_FILE,  MPI_ERR_WIN};
  return kClasses[static_cast<std::size_t>(kind)];
}

std::string subject(BadHandle bad) {
  if (bad.index < 0) return fmt::format("the {}", name_of(bad.kind));
  return fmt::format("{} {} of the array", name_of(bad.kind), bad.index);
}

/// "its bytes 8 to 15" of what the accesses have in common, if they are runs.
std::string common(const Access& access, const Access& other) {
  if (access.blocks != 1 || other.blocks != 1) return "";
  const std::uint64_t begin = std::max(access.begin, other.begin);
  const std::uint64_t bytes = std::min(access.end, other.end) - begin;
  return fmt::format(" ({} byte{} from {:#x} on)", bytes, bytes == 1 ? "" : "s", begin);
}

/// What a collective call is on.
std::string readable(HandleKind kind, const void* handle, CallPlace made) {
  if (handle == MPI_COMM_WORLD) return "MPI_COMM_WORLD";
  if (handle == MPI_COMM_SELF) return "MPI_COMM_SELF";
  if (made.function == nullptr) return fmt::format("a {}", name_of(kind));
  return fmt::format("the {} {} by {}", name_of(kind), kind == HandleKind::kFile ? "opened" : "made",
                     readable(made));
}

/// The second half of a split collective operation.
std::string other_half(const Function& begin) {
  const std::string_view name = begin.name;
  return std::string(name.substr(0, name.rfind("_begin"))) + "_end";
}

}  // namespace

void report_freed(const RankRecord& rank, CallPlace call, BadHandle bad, CallPlace made, CallPlace freed) {
  end_job(rank, call, class_of(bad.kind), [&] {
    const bool completed = bad.kind == HandleKind::kRequest && freed.function->handle_count > 0 &&
                           freed.function->handles[0].use == Use::kCompleted;
    return fmt::format(
        "{} {} by {} (made by {}). Only the variable that was given to that call was set to null; "
        "a copy of the handle must not be used any more",
        subject(bad), completed ? "was completed" : "was freed", readable(freed), readable(made));
  });
}

void report_coming(const RankRecord& rank, CallPlace call, BadHandle bad, CallPlace made) {
  end_job(rank, call, class_of(bad.kind), [&] {
    return fmt::format(
        "{} is being made by {}, whose request has not completed: wait for it first (MPI_Wait, MPI_Test)",
        subject(bad), readable(made));
  });
}

void report_unknown(const RankRecord& rank, CallPlace call, BadHandle bad) {
  const int owner = Checker::instance()->owner_of(bad.handle, bad.kind);
  end_job(rank, call, class_of(bad.kind), [&] {
    if (owner >= 0) {
      return fmt::format(
          "{} belongs to rank {}. Handles are each rank's own: a handle must not be sent to, or "
          "shared with, another rank",
          subject(bad), owner);
    }
    return fmt::format(
        "{} is {}, which was never made: the variable is not initialized, or has been overwritten",
        subject(bad), bad.handle);
  });
}

void report_other_kind(const RankRecord& rank, CallPlace call, BadHandle bad, HandleKind is, CallPlace made) {
  end_job(rank, call, class_of(bad.kind),
          [&] { return fmt::format("{} is a {}, made by {}", subject(bad), name_of(is), readable(made)); });
}

void report_overlap(const RankRecord& rank, CallPlace call, Access access, CallPlace pending, Access other) {
  end_job(rank, call, MPI_ERR_BUFFER, [&] {
    const char* what = !access.writes ? "sends from memory into which"
                       : other.writes ? "receives into memory into which"
                                      : "receives into memory from which";
    const char* they = other.writes ? "still receives" : "still sends";
    return fmt::format(
        "{} {} {}{}. Complete that operation first (MPI_Wait, MPI_Test), or use another buffer", what,
        readable(pending), they, common(access, other));
  });
}

void report_aliased(const RankRecord& rank, CallPlace call, const Access& sent, const Access& received) {
  end_job(rank, call, MPI_ERR_BUFFER, [&] {
    return fmt::format(
        "receives into memory from which the same call sends{}. Use another buffer, or pass MPI_IN_PLACE "
        "where the function allows it",
        common(received, sent));
  });
}

void report_own_chunk(const RankRecord& rank, CallPlace call, OwnChunk sent, OwnChunk expected) {
  end_job(rank, call, MPI_ERR_NOT_SAME, [&] {
    const auto readable = [](OwnChunk chunk) {
      return chunk.type->predefined() ? fmt::format("{} bytes of {}", chunk.bytes, chunk.type->name())
                                      : fmt::format("{} bytes", chunk.bytes);
    };
    return fmt::format(
        "the rank itself is among the members, and sends {} to itself but receives {} from itself: counts or "
        "datatypes of the sending and the receiving side do not fit together",
        readable(sent), readable(expected));
  });
}

void report_mismatch(const RankRecord& rank, CallPlace call, const CollectiveCall& here,
                     const CollectiveCall& there, std::uint64_t sequence, const void* handle,
                     CallPlace made) {
  end_job(rank, call, MPI_ERR_NOT_SAME, [&] {
    return fmt::format("does not match {} of rank {}: both are collective call {} of their rank on {}. {}",
                       readable(CallPlace{there.function, there.site}), there.rank, sequence + 1,
                       readable(call.function->on, handle, made), difference(here, there));
  });
}

void report_split(const RankRecord& rank, CallPlace call, CallPlace begun) {
  end_job(rank, call, MPI_ERR_OTHER, [&] {
    return fmt::format("{} has been begun with this file and not ended. Call {} first", readable(begun),
                       other_half(*begun.function));
  });
}

void report_no_split(const RankRecord& rank, CallPlace call) {
  end_job(rank, call, MPI_ERR_OTHER,
          [] { return std::string("no split collective operation has been begun with this file"); });
}

void report_other_thread(const RankRecord& rank, CallPlace call, CallPlace begun) {
  end_job(rank, call, MPI_ERR_OTHER, [&] {
    return fmt::format("{} has been called by another thread: both halves have to be called by the same one",
                       readable(begun));
  });
}

void report_pending(const RankRecord& rank, CallPlace call, CallPlace pending) {
  end_job(rank, call, MPI_ERR_REQUEST, [&] {
    return fmt::format("{} is still pending on this file. Complete that operation first (MPI_Wait, MPI_Test)",
                       readable(pending));
  });
}

}  // namespace tmpi::check
