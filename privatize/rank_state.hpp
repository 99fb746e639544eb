// RankState: what the loader keeps per rank beside its image. Found by world rank in constant time, without a
// lock.
#pragma once

#include <link.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/spinlock.hpp"
#include "privatize/image_set.hpp"
#include "privatize/own_thread_pointer.hpp"

namespace tmpi::privatize {

/// A library that the rank opened with dlopen: its image in the set made for that library.
struct OpenedLibrary {
  ImageSet* set = nullptr;
  const Object* root = nullptr;
  link_map* handle = nullptr;  ///< what dlopen has given out
  int references = 0;
  bool global = false;  ///< RTLD_GLOBAL: searched by dlsym(RTLD_DEFAULT)
  bool initialised = false;
  OpenedLibrary* previous = nullptr;
  std::atomic<OpenedLibrary*> next{nullptr};  // release by add() pairs with acquire while going through
};

/// The libraries that a rank has opened, in order. Gone through without a lock or an allocation, since the
/// unwinder asks; none is removed before the rank ends. Another thread of the rank may add meanwhile.
class OpenedLibraries {
 public:
  OpenedLibraries() = default;
  ~OpenedLibraries();
  OpenedLibraries(const OpenedLibraries&) = delete;
  OpenedLibraries& operator=(const OpenedLibraries&) = delete;

  /// Under the rank's lock.
  OpenedLibrary* add(std::unique_ptr<OpenedLibrary> library) noexcept;
  OpenedLibrary* last() const noexcept { return last_.load(std::memory_order_acquire); }

  class Iterator {
   public:
    explicit Iterator(OpenedLibrary* at) noexcept : at_(at) {}
    OpenedLibrary* operator*() const noexcept { return at_; }
    Iterator& operator++() noexcept {
      at_ = at_->next.load(std::memory_order_acquire);
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    OpenedLibrary* at_;
  };
  Iterator begin() const noexcept { return Iterator(first_.load(std::memory_order_acquire)); }
  Iterator end() const noexcept { return Iterator(nullptr); }

 private:
  std::atomic<OpenedLibrary*> first_{nullptr}, last_{nullptr};
};

struct KeyDefinition {
  bool used = false;
  std::uint32_t generation = 0;
  void (*destructor)(void*) = nullptr;
};

struct ExitHandler {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
  void* object = nullptr;  ///< __dso_handle of the object that registered it
};

/// Processor time as the rank has been told it last: ns. Relaxed: threads that ask at once may see each other's.
struct ToldTimes {
  std::atomic<std::uint64_t> user{0}, system{0};
};

/// As many cores as the kernel knows of at most, as functions of libc take them.
struct CoreSet {
  unsigned long words[128] = {};
  cpu_set_t* set() noexcept { return reinterpret_cast<cpu_set_t*>(words); }
};

struct OwnLimits;  // own_limits.cpp
void delete_limits(OwnLimits* limits) noexcept;

struct LinkMaps;  // link_maps.cpp
void delete_link_maps(LinkMaps* maps) noexcept;

struct RankState {
  int rank = -1;
  ImageSet* set = nullptr;  ///< the program's
  int index = -1;
  int argc = 0;  ///< main's, for constructors of libraries opened later
  char** argv = nullptr;
  mutable SpinLock lock;  ///< guards keys, and what is added to opened: a rank may have helper threads
  std::vector<KeyDefinition> keys;
  struct KeyValues* key_values = nullptr;  ///< of the rank's own flow of control
  OpenedLibraries opened;
  LinkMaps* link_maps = nullptr;                   ///< under the lock; null: nobody has asked
  std::atomic<link_map*> program_handle{nullptr};  ///< what dlopen(NULL) has given out; relaxed
  int constructing = 0;                    ///< so many of its sets have constructors or destructors running
  std::string dl_error, dl_error_told;     ///< dlerror's: pending, and last given out
  std::vector<ExitHandler> exit_handlers;  ///< only used without a shim (fallback_exit.cpp)
  std::unique_ptr<CoreSet> cores;  ///< that it has chosen (own_affinity.hpp), under the lock; null: none
  void* stack = nullptr;           ///< lowest address of that of its own flow of control; null: not known
  std::size_t stack_bytes = 0;
  std::unique_ptr<OwnThreadPointer> thread_pointer;  ///< null: that of the thread that it runs on
  std::atomic<OwnLimits*> limits{nullptr};           ///< on resources, that it has set; null: none
  ToldTimes process_times, flow_times;               ///< of all that it has, and of its own flow of control

  template <class Function>
  void for_each_image(Function fn) const {
    if (set != nullptr) fn(*set, index);
    for (const OpenedLibrary* library : opened) {
      if (library->set != set) fn(*library->set, index);
    }
  }
};

/// The state of a world rank whose image has been mapped; null for -1 and for ranks of other node processes.
/// Any thread.
RankState* rank_state(int rank) noexcept;

/// Creates it; called once per rank by map_image. Null: there is no memory for it.
RankState* create_rank_state(int rank, ImageSet& set, int index) noexcept;

/// When the rank's program is closed; no thread of the rank may run any more.
void destroy_rank_state(int rank) noexcept;

}  // namespace tmpi::privatize
