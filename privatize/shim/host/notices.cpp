#include "privatize/shim/host/notices.hpp"

#include <errno.h>

#include <map>
#include <mutex>
#include <new>
#include <tuple>

#include "base/no_signals.hpp"
#include "base/own_signals.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/shim/host/named_records.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::shim {
namespace {

struct Notice : NamedRecord {
  sigval value{};                      // what the rank wants to see
  int signal = 0;                      // by which
  void (*function)(sigval) = nullptr;  // SIGEV_THREAD: instead
};

std::mutex change;  // without signals: guards making
NamedRecords<Notice, 0x746e> notices;

/// One for all requests of a rank that say the same: the name stays in the program's own structure, which it may hand in
/// again, however often.
using Wish = std::tuple<int, void*, int, void (*)(sigval)>;
std::map<Wish, int>& known() {
  static std::map<Wish, int>& all = *new std::map<Wish, int>;  // ranks may outlive everything
  return all;
}

// SIGEV_THREAD: libc starts a thread.
void run_thread(sigval value) noexcept {
  const Notice* const notice = notices.named(value);
  if (notice == nullptr) return;
  privatize::become_helper(notice->rank.load(std::memory_order_acquire));
  notice->function(notice->value);
}

/// Index of the notice; -1: no memory.
int notice_for(const Wish& wish) noexcept {
  const NoSignals no_signals;
  const std::lock_guard guard(change);
  try {
    const auto [place, fresh] = known().try_emplace(wish, -1);
    if (!fresh) return place->second;
    place->second = notices.take();
    if (place->second < 0) {
      known().erase(place);
      return -1;
    }
    Notice& notice = *notices.at(place->second);
    notice.value.sival_ptr = std::get<1>(wish);
    notice.signal = std::get<2>(wish);
    notice.function = std::get<3>(wish);
    notice.rank.store(std::get<0>(wish), std::memory_order_release);
    return place->second;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

}  // namespace

bool claim_notice(int rank, sigevent& event) noexcept {
  const bool runs = event.sigev_notify == SIGEV_THREAD;
  // No signal at all is what an empty structure says.
  if (!runs && (event.sigev_notify != SIGEV_SIGNAL || event.sigev_signo == 0)) return true;
  const int stand_in = number_of(OwnSignal::kForRank);
  const Notice* const before = notices.named(event.sigev_value);
  const bool claimed = runs ? event.sigev_notify_function == &run_thread : event.sigev_signo == stand_in;
  if (before != nullptr && claimed) return true;
  const sigval value = before != nullptr ? before->value : event.sigev_value;
  const int index = runs ? notice_for({rank, value.sival_ptr, 0, event.sigev_notify_function})
                         : notice_for({rank, value.sival_ptr, event.sigev_signo, nullptr});
  if (index < 0) {
    errno = EAGAIN;
    return false;
  }
  event.sigev_value = notices.name(index);
  if (runs) {
    event.sigev_notify_function = &run_thread;
  } else {
    event.sigev_signo = stand_in;
  }
  return true;
}

int rank_of_notice(siginfo_t& info) noexcept {
  if (info.si_code != SI_ASYNCIO && info.si_code != SI_MESGQ) return kNoNotice;
  const Notice* const notice = notices.named(info.si_value);
  if (notice == nullptr) return kNoNotice;
  const int rank = notice->rank.load(std::memory_order_acquire);
  info.si_value = notice->value;
  info.si_signo = notice->signal;
  if (info.si_code == SI_ASYNCIO) info.si_pid = privatize::pid_of_rank(rank);
  return rank;
}

}  // namespace tmpi::shim
