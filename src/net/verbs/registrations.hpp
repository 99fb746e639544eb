// Registrations: memory of the program's that the adapter may use, by whole pages. What has been registered stays so
// for the next message from or to the same buffer (registration_cache in docs/design/network.md), as long as the memory is
// not unmapped, moved or given back to the system: UnmapWatch tells. Where it cannot tell, memory is registered for
// one message at a time. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "net/verbs/device.hpp"
#include "net/verbs/unmap_watch.hpp"

namespace tmpi::net::verbs {

/// Registered memory, while somebody holds it.
class Registration {
 public:
  std::uint32_t local_key() const noexcept { return registered_->lkey; }
  ibv_mr* registered() const noexcept { return registered_; }

 private:
  friend class Registrations;
  ibv_mr* registered_ = nullptr;
  std::uintptr_t begin_ = 0, end_ = 0;
  int users_ = 0;
  bool cached_ = false;
  Registration* older_ = nullptr;  // among the cached ones that nobody holds
  Registration* newer_ = nullptr;
};

class Registrations {
 public:
  /// What the adapter does with the memory. It writes only to what it may.
  enum class Use : std::uint8_t { kRead, kWrite };

  struct Counts {
    std::uint64_t found = 0;       ///< acquire() without a system call
    std::uint64_t registered = 0;  ///< with
    std::uint64_t unmapped = 0;    ///< thrown out since the memory has gone
  };

  static constexpr std::size_t kMostCached = 1024;

  /// `watch`: null: nothing is cached.
  void use(const Device& device, std::unique_ptr<UnmapWatch> watch) noexcept;
  ~Registrations();

  /// Null: it cannot be registered (errno); whoever asks then has to copy. Allocates, and makes system calls, if
  /// the memory is not registered yet.
  Registration* acquire(const void* buffer, std::size_t bytes, Use use);
  void release(Registration& registration) noexcept;

  /// A registration of just these bytes, which other nodes may read until it is given back.
  ibv_mr* expose(const void* buffer, std::size_t bytes) noexcept;
  void conceal(ibv_mr* registered) noexcept;

  bool caches() const noexcept { return watch_ != nullptr; }
  const Counts& counts() const noexcept { return counts_; }
  /// How often the system has been asked whether somebody is unmapping memory.
  std::uint64_t asked() const noexcept { return watch_ != nullptr ? watch_->asked() : 0; }

 private:
  void hold(Registration& registration) noexcept;
  Registration* find(std::uintptr_t begin, std::uintptr_t end) noexcept;
  ibv_mr* register_pages(std::uintptr_t begin, std::uintptr_t end, Use use) noexcept;
  ibv_mr* register_range(void* begin, std::size_t bytes, int access) noexcept;
  Registration* add(std::uintptr_t begin, std::uintptr_t end);
  ibv_mr* watch_and_register(std::uintptr_t begin, std::uintptr_t end) noexcept;
  std::map<std::uintptr_t, Registration*>::iterator first_behind(std::uintptr_t begin) noexcept;
  void forget_unmapped() noexcept;
  void forget_range(std::uintptr_t begin, std::uintptr_t end) noexcept;
  bool drop_oldest() noexcept;
  void take_out(Registration& registration) noexcept;
  void end(Registration& registration) noexcept;
  void set_idle(Registration& registration) noexcept;
  void set_busy(Registration& registration) noexcept;

  const Device* device_ = nullptr;
  std::unique_ptr<UnmapWatch> watch_;
  std::map<std::uintptr_t, Registration*> cached_;  // by begin; no two overlap
  Registration* oldest_ = nullptr;
  Registration* newest_ = nullptr;
  Counts counts_;
};

}  // namespace tmpi::net::verbs
