#include "net/verbs/exposures.hpp"

#include <utility>

namespace tmpi::net::verbs {

void Exposures::use(const Device& device, Registrations& registrations) noexcept {
  device_ = &device;
  registrations_ = &registrations;
}

Exposures::~Exposures() {
  for (const auto& exposure : all_)
    if (exposure->state != Exposure::State::kFree) end(*exposure, true);
  for (ibv_mw* const window : windows_) ibv_dealloc_mw(window);
}

Exposure* Exposures::make(int peer, const void* buffer, std::size_t bytes, bool may_window) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Exposure>());
    all_.back()->index = static_cast<std::uint32_t>(all_.size() - 1);
    free_.reserve(all_.size());  // end() does not allocate
    windows_.reserve(all_.size());
    free_.push_back(all_.back().get());
  }
  Exposure& made = *free_.back();
  made = {.state = Exposure::State::kReady, .index = made.index};
  made.peer = peer;
  made.address = const_cast<void*>(buffer);
  made.bytes = bytes;
  if (may_window && device_->windows && registrations_->caches()) {
    if (!windows_.empty()) {
      made.window = windows_.back();
      windows_.pop_back();
    } else {
      made.window = ibv_alloc_mw(device_->domain, IBV_MW_TYPE_2);
    }
    if (made.window != nullptr) {
      made.registration = registrations_->acquire(buffer, bytes, Registrations::Use::kRead);
      if (made.registration == nullptr) windows_.push_back(std::exchange(made.window, nullptr));
    }
  }
  if (made.window != nullptr) {
    made.key = ibv_inc_rkey(made.window->rkey);
  } else {
    made.registered = registrations_->expose(buffer, bytes);
    if (made.registered == nullptr) {
      made.state = Exposure::State::kFree;
      return nullptr;
    }
    made.key = made.registered->rkey;
    made.state = Exposure::State::kOpen;
  }
  free_.pop_back();
  return &made;
}

void Exposures::end(Exposure& exposure, bool lost) noexcept {
  if (exposure.window != nullptr) {
    if (lost && exposure.state == Exposure::State::kOpen) {
      ibv_dealloc_mw(exposure.window);
    } else {
      windows_.push_back(exposure.window);
    }
  }
  if (exposure.registration != nullptr) registrations_->release(*exposure.registration);
  if (exposure.registered != nullptr) registrations_->conceal(exposure.registered);
  exposure = {.index = exposure.index};
  free_.push_back(&exposure);
}

}  // namespace tmpi::net::verbs
