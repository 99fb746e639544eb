#include "mpi/rank/counters.hpp"

#include <algorithm>

#include "mpi/rank/rank.hpp"
#include "sched/metering.hpp"
#include "sched/move.hpp"

namespace tmpi::mpi {
namespace {

Err gap(int event) {
  return fail(MPI_ERR_OTHER,
              "{} could not be counted all the time: another program, or another open counter, has taken the "
              "processor's counters; open fewer",
              timers::event_name(event));
}

bool in_section(const Rank& rank) noexcept {
  return rank.task->meter.section.active();
}

}  // namespace

Counters& Counters::of(Rank& rank) {
  timers::CounterTotals*& counters = rank.task->meter.counters;
  if (counters == nullptr) counters = new Counters;
  return static_cast<Counters&>(*counters);
}

bool Counters::any(Rank& rank) noexcept {
  const auto* const counters = static_cast<const Counters*>(rank.task->meter.counters);
  return counters != nullptr && !counters->handles_.empty();
}

void Counters::close_all(Rank& rank) noexcept {
  timers::CounterTotals*& totals = rank.task->meter.counters;
  if (totals == nullptr) return;
  auto* counters = static_cast<Counters*>(totals);
  for (int event = 0; event < timers::kMaxEvents; ++event) {
    if ((counters->counting & (1u << event)) != 0)
      sched::core_meter().counters.release(event, *counters, in_section(rank));
  }
  if (!counters->handles_.empty()) sched::unanchor(*rank.task);
  totals = nullptr;
  delete counters;
}

Err Counters::check(MPIX_Counter handle) const {
  if (handle == MPIX_COUNTER_NULL)
    return fail(MPI_ERR_ARG, "the counter is MPIX_COUNTER_NULL: closed, or never opened");
  if (std::ranges::any_of(handles_, [&](const auto& own) { return own.get() == handle; })) return kOk;
  return fail(MPI_ERR_ARG, "{} is no open counter of this rank; a counter belongs to the rank that opened it",
              static_cast<const void*>(handle));
}

Err Counters::open(Rank& rank, const char* name, MPIX_Counter& handle) {
  const int event = timers::find_event(name);
  if (event < 0)
    return fail(MPI_ERR_ARG, "there is no counter \"{}\"; there are {}", name, timers::event_names());
  sched::ensure_metering();
  const bool first = std::ranges::none_of(handles_, [&](const auto& own) { return own->event == event; });
  timers::CounterBank& bank = sched::core_meter().counters;
  if (first) {
    if (Result<void> acquired = bank.acquire(event, *this, in_section(rank)); !acquired)
      return fail(MPI_ERR_UNSUPPORTED_OPERATION, "{}", acquired.message());
  }
  std::uint64_t base = 0;
  if (!bank.read_process(event, *this, base)) return gap(event);
  if (handles_.empty()) sched::anchor(*rank.task);  // they are the core's
  handles_.push_back(std::make_unique<MPIX_Counter_object>(MPIX_Counter_object{event, base}));
  handle = handles_.back().get();
  return kOk;
}

Err Counters::read_process(MPIX_Counter handle, MPI_Count& value) {
  TMPI_TRY(check(handle));
  std::uint64_t total = 0;
  if (!sched::core_meter().counters.read_process(handle->event, *this, total)) return gap(handle->event);
  value = static_cast<MPI_Count>(total - handle->base);
  return kOk;
}

Err Counters::read_core(Rank& rank, MPIX_Counter handle, MPI_Count& value) {
  TMPI_TRY(check(handle));
  std::uint64_t total = 0;
  if (!sched::core_meter().counters.read_core(handle->event, in_section(rank), total))
    return gap(handle->event);
  value = static_cast<MPI_Count>(total);
  return kOk;
}

Err Counters::close(Rank& rank, MPIX_Counter handle) {
  TMPI_TRY(check(handle));
  const int event = handle->event;
  std::erase_if(handles_, [&](const auto& own) { return own.get() == handle; });
  const bool last = std::ranges::none_of(handles_, [&](const auto& own) { return own->event == event; });
  if (last) sched::core_meter().counters.release(event, *this, in_section(rank));
  if (handles_.empty()) sched::unanchor(*rank.task);
  return kOk;
}

}  // namespace tmpi::mpi
