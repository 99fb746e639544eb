// Locales of ranks (privatize/rank_locale.hpp): what setlocale sets is an object of newlocale, one for each set of names,
// which all ranks share that have chosen these.
#include <locale.h>
#include <string.h>

#include <atomic>
#include <mutex>
#include <new>
#include <string>

#include "privatize/rank_callbacks.h"
#include "privatize/rank_locale.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/switch_duties.hpp"

namespace tmpi::shim {
namespace {

constexpr int kCategories = LC_IDENTIFICATION + 1;  // LC_ALL, which is none, among them
constexpr const char* kNames[kCategories] = {
    "LC_CTYPE", "LC_NUMERIC", "LC_TIME",    "LC_COLLATE",   "LC_MONETARY",    "LC_MESSAGES",      "LC_ALL",
    "LC_PAPER", "LC_NAME",    "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION"};

/// A locale that ranks have chosen. Never freed: threads of theirs may be in it.
struct Chosen {
  locale_t locale;
  std::string name;  // of all categories, as setlocale(LC_ALL, NULL) gives it
  Chosen* next;
};

std::mutex mutex;                          // guards adding
std::atomic<Chosen*> all_chosen{nullptr};  // release by who adds one, acquire

// Null: that of the process, "C".
struct RankLocale {
  std::atomic<Chosen*> chosen{nullptr};     // by setlocale; release, acquire: what it points to
  std::atomic<locale_t> in_force{nullptr};  // of the rank's own flow; relaxed: its own worker's
};
privatize::RankTable<RankLocale> table;

// initial-exec: read at every switch. Null: that of the process.
__attribute__((tls_model("initial-exec"))) constinit thread_local locale_t thread_locale = nullptr;

const char* name_of(locale_t locale, int category) noexcept {
  return locale == nullptr ? "C" : locale->__names[category];
}

bool same_names(locale_t one, locale_t other) noexcept {
  for (int category = 0; category < kCategories; ++category) {
    if (category != LC_ALL && strcmp(name_of(one, category), name_of(other, category)) != 0) return false;
  }
  return true;
}

std::string name_of_all(locale_t locale) {
  bool same = true;
  std::string text;
  for (int category = 0; category < kCategories; ++category) {
    if (category == LC_ALL) continue;
    same = same && strcmp(name_of(locale, category), name_of(locale, LC_CTYPE)) == 0;
    if (!text.empty()) text += ';';
    text.append(kNames[category]).append(1, '=').append(name_of(locale, category));
  }
  return same ? name_of(locale, LC_CTYPE) : text;
}

/// What setlocale has set, and no program made.
bool is_chosen(locale_t locale) noexcept {
  for (const Chosen* one = all_chosen.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    if (one->locale == locale) return true;
  }
  return false;
}

/// The one of the same names in `chosen`, which `locale` becomes or is given back for; null if that is "C" in all. False:
/// there is no memory.
bool share(locale_t locale, Chosen*& chosen) noexcept {
  chosen = nullptr;
  if (same_names(locale, nullptr)) {
    freelocale(locale);
    return true;
  }
  const std::lock_guard guard(mutex);
  for (Chosen* one = all_chosen.load(std::memory_order_relaxed); one != nullptr; one = one->next) {
    if (!same_names(one->locale, locale)) continue;
    freelocale(locale);
    chosen = one;
    return true;
  }
  try {
    chosen = new Chosen{locale, name_of_all(locale), all_chosen.load(std::memory_order_relaxed)};
  } catch (const std::bad_alloc&) {
    freelocale(locale);
    return false;
  }
  all_chosen.store(chosen, std::memory_order_release);
  return true;
}

locale_t locale_of(const Chosen* chosen) noexcept {
  return chosen == nullptr ? nullptr : chosen->locale;
}

const Chosen* chosen_by(int rank) noexcept {
  const RankLocale* own = table.find(rank);
  return own == nullptr ? nullptr : own->chosen.load(std::memory_order_acquire);
}

void take_on(locale_t locale) noexcept {
  if (locale == thread_locale) return;
  uselocale(locale == nullptr ? LC_GLOBAL_LOCALE : locale);
  thread_locale = locale;
}

/// From now on the calling flow of the rank is in `locale`.
void put_in_force(RankLocale& own, locale_t locale) noexcept {
  if (tmpi_on_helper_thread() == 0) own.in_force.store(locale, std::memory_order_relaxed);
  privatize::demand(privatize::kEnterLocale);
  take_on(locale);
}

}  // namespace
}  // namespace tmpi::shim

namespace tmpi::privatize {

using namespace tmpi::shim;

void enter_locale(int rank) noexcept {
  const RankLocale* own = table.find(rank);
  take_on(own == nullptr ? nullptr : own->in_force.load(std::memory_order_relaxed));
}

void start_in_locale(int rank) noexcept {
  take_on(locale_of(chosen_by(rank)));
}

void forget_locale(int rank) noexcept {
  RankLocale* own = table.find(rank);
  if (own == nullptr) return;
  own->in_force.store(nullptr, std::memory_order_relaxed);
  own->chosen.store(nullptr, std::memory_order_release);
}

}  // namespace tmpi::privatize

using namespace tmpi::shim;

extern "C" const char* tmpi_shim_setlocale(int rank, int category, const char* name) {
  if (category < 0 || category >= kCategories) return nullptr;
  const Chosen* const before = chosen_by(rank);
  if (name == nullptr) {
    if (category != LC_ALL) return name_of(locale_of(before), category);
    return before == nullptr ? "C" : before->name.c_str();
  }
  RankLocale* const own = table.get(rank);
  if (own == nullptr) return nullptr;
  const locale_t base =
      category == LC_ALL || before == nullptr ? nullptr : duplocale(before->locale);  // null: "C"
  const locale_t wanted = newlocale(category == LC_ALL ? LC_ALL_MASK : 1 << category, name, base);
  if (wanted == nullptr) {
    if (base != nullptr) freelocale(base);
    return nullptr;
  }
  Chosen* chosen = nullptr;
  if (!share(wanted, chosen)) return nullptr;
  own->chosen.store(chosen, std::memory_order_release);
  if (thread_locale == nullptr || is_chosen(thread_locale)) put_in_force(*own, locale_of(chosen));
  return tmpi_shim_setlocale(rank, category, nullptr);
}

extern "C" locale_t tmpi_shim_uselocale(int rank, locale_t locale) {
  const locale_t before =
      thread_locale == nullptr || is_chosen(thread_locale) ? LC_GLOBAL_LOCALE : thread_locale;
  if (locale == nullptr) return before;
  RankLocale* const own = table.get(rank);
  if (own == nullptr) return nullptr;
  put_in_force(*own, locale == LC_GLOBAL_LOCALE ? locale_of(chosen_by(rank)) : locale);
  return before;
}

extern "C" locale_t tmpi_shim_duplocale(int rank, locale_t locale) {
  const Chosen* const chosen = locale == LC_GLOBAL_LOCALE ? chosen_by(rank) : nullptr;
  return duplocale(chosen != nullptr ? chosen->locale : locale);
}

extern "C" void tmpi_shim_localeconv(struct lconv* result) {
  static std::mutex one_object;
  const std::lock_guard guard(one_object);
  *result = *localeconv();
}
