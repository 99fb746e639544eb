#include "net/verbs/registrations.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/platform.hpp"

namespace tmpi::net::verbs {
namespace {

constexpr std::uintptr_t kPage = 4096;

std::uintptr_t page_down(std::uintptr_t address) noexcept {
  return address & ~(kPage - 1);
}
std::uintptr_t page_up(std::uintptr_t address) noexcept {
  return (address + kPage - 1) & ~(kPage - 1);
}

}  // namespace

void Registrations::use(const Device& device, std::unique_ptr<UnmapWatch> watch) noexcept {
  device_ = &device;
  watch_ = std::move(watch);
}

Registrations::~Registrations() {
  for (const auto& [begin, registration] : cached_) end(*registration);
}

Registration* Registrations::acquire(const void* buffer, std::size_t bytes, Use use) {
  const auto at = reinterpret_cast<std::uintptr_t>(buffer);
  const std::uintptr_t begin = page_down(at), end = page_up(at + bytes);
  if (watch_ != nullptr) {
    forget_unmapped();
    Registration* known = find(begin, end);
    if (known != nullptr) ++counts_.found;
    if (known == nullptr) known = add(begin, end);
    if (known != nullptr) {
      hold(*known);
      return known;
    }
  }
  ibv_mr* const registered = register_pages(begin, end, use);
  if (registered == nullptr) return nullptr;
  auto* const once = new Registration;
  once->registered_ = registered;
  once->begin_ = begin;
  once->end_ = end;
  once->users_ = 1;
  return once;
}

void Registrations::hold(Registration& registration) noexcept {
  if (registration.users_++ == 0) set_busy(registration);
}

void Registrations::release(Registration& registration) noexcept {
  if (--registration.users_ > 0) return;
  if (registration.cached_) return set_idle(registration);
  end(registration);
}

// The one that covers all of it.
Registration* Registrations::find(std::uintptr_t begin, std::uintptr_t end) noexcept {
  auto after = cached_.upper_bound(begin);
  if (after == cached_.begin()) return nullptr;
  Registration* const before = std::prev(after)->second;
  return end <= before->end_ ? before : nullptr;
}

// Registers the pages together with those of the registrations that they overlap, which it replaces. Null: not these, or
// not so that it would be noticed when they are unmapped; those that are overlapped stay, unless they had to make room.
Registration* Registrations::add(std::uintptr_t begin, std::uintptr_t end) {
  std::uintptr_t first = begin, last = end;
  std::vector<Registration*> overlapped;
  for (auto each = first_behind(begin); each != cached_.end() && each->first < end; ++each) {
    overlapped.push_back(each->second);
    first = std::min(first, each->first);
    last = std::max(last, each->second->end_);
  }
  // Held meanwhile: they make no room, and stay watched.
  for (Registration* const each : overlapped) hold(*each);
  ibv_mr* registered = watch_and_register(first, last);
  const bool room_may_help = !overlapped.empty() && errno != EFAULT && errno != EINVAL;
  for (Registration* const each : overlapped) release(*each);
  if (registered == nullptr && room_may_help) {
    forget_range(first, last);
    overlapped.clear();
    registered = watch_and_register(first, last);
  }
  if (registered == nullptr) {
    for (const Registration* const each : overlapped) {
      if (first < each->begin_) watch_->unwatch(first, each->begin_);
      first = each->end_;
    }
    if (first < last) watch_->unwatch(first, last);
    return nullptr;
  }
  for (Registration* const each : overlapped) {  // their watch is this one's now
    cached_.erase(each->begin_);
    take_out(*each);
  }
  while (cached_.size() >= kMostCached && drop_oldest()) {
  }
  auto* const added = new Registration;
  added->registered_ = registered;
  added->begin_ = first;
  added->end_ = last;
  added->cached_ = true;
  cached_.emplace(first, added);
  return added;
}

// First the watch: what is unmapped from now on is thrown out before the next use.
ibv_mr* Registrations::watch_and_register(std::uintptr_t begin, std::uintptr_t end) noexcept {
  errno = EINVAL;
  if (!watch_->watch(begin, end)) return nullptr;
  ibv_mr* const registered = register_pages(begin, end, Use::kWrite);
  if (registered == nullptr || !watch_->is_shared(begin, end)) return registered;
  device_->api.dereg_mr(registered);
  errno = EINVAL;
  return nullptr;
}

// The first of those that overlap a range which begins here, if any does.
std::map<std::uintptr_t, Registration*>::iterator Registrations::first_behind(std::uintptr_t begin) noexcept {
  const auto each = cached_.lower_bound(begin);
  const bool reaches_in = each != cached_.begin() && std::prev(each)->second->end_ > begin;
  return reaches_in ? std::prev(each) : each;
}

ibv_mr* Registrations::register_pages(std::uintptr_t begin, std::uintptr_t end, Use use) noexcept {
  const int windows = device_->windows ? IBV_ACCESS_MW_BIND : 0;
  const int access = use == Use::kWrite ? IBV_ACCESS_LOCAL_WRITE | windows : windows;
  return register_range(reinterpret_cast<void*>(begin), end - begin, access);
}

ibv_mr* Registrations::expose(const void* buffer, std::size_t bytes) noexcept {
  return register_range(const_cast<void*>(buffer), bytes, IBV_ACCESS_REMOTE_READ);
}

ibv_mr* Registrations::register_range(void* begin, std::size_t bytes, int access) noexcept {
  for (;;) {
    ibv_mr* const registered = device_->api.reg_mr(device_->domain, begin, bytes, access);
    if (registered != nullptr) {
      ++counts_.registered;
      return registered;
    }
    // The limit on locked memory, or the adapter's own: what nobody uses now makes room.
    const int error = errno;
    if (error == EFAULT || error == EINVAL || !drop_oldest()) {
      errno = error;
      return nullptr;
    }
  }
}

void Registrations::conceal(ibv_mr* registered) noexcept {
  device_->api.dereg_mr(registered);
}

void Registrations::forget_unmapped() noexcept {
  UnmapWatch::Range gone;
  while (watch_->next(gone)) {
    const std::size_t before = cached_.size();
    forget_range(gone.begin, gone.end);
    counts_.unmapped += before - cached_.size();
  }
}

// No later message uses what overlaps the range. Whoever holds it still does.
void Registrations::forget_range(std::uintptr_t begin, std::uintptr_t end_of_range) noexcept {
  auto each = first_behind(begin);
  while (each != cached_.end() && each->first < end_of_range) {
    Registration& registration = *each->second;
    each = cached_.erase(each);
    watch_->unwatch(registration.begin_, registration.end_);
    take_out(registration);
  }
}

void Registrations::take_out(Registration& registration) noexcept {
  registration.cached_ = false;
  if (registration.users_ > 0) return;  // release() ends it
  set_busy(registration);
  end(registration);
}

bool Registrations::drop_oldest() noexcept {
  if (oldest_ == nullptr) return false;
  Registration& oldest = *oldest_;
  cached_.erase(oldest.begin_);
  watch_->unwatch(oldest.begin_, oldest.end_);
  take_out(oldest);
  return true;
}

void Registrations::end(Registration& registration) noexcept {
  device_->api.dereg_mr(registration.registered_);
  delete &registration;
}

void Registrations::set_idle(Registration& registration) noexcept {
  registration.older_ = newest_;
  registration.newer_ = nullptr;
  (newest_ != nullptr ? newest_->newer_ : oldest_) = &registration;
  newest_ = &registration;
}

void Registrations::set_busy(Registration& registration) noexcept {
  Registration* const older = registration.older_;
  Registration* const newer = registration.newer_;
  if (older == nullptr && newer == nullptr && oldest_ != &registration) return;  // new
  (older != nullptr ? older->newer_ : oldest_) = newer;
  (newer != nullptr ? newer->older_ : newest_) = older;
  registration.older_ = registration.newer_ = nullptr;
}

}  // namespace tmpi::net::verbs
