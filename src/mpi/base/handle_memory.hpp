// HandleMemory: where the objects of a rank lie that its program knows by their address, since a handle is one: in a job whose
// ranks are saved and revived (--migratable) in the rank's slot, so that they can be made anew at the same place, and in
// the order in which they had been made. In other jobs they lie wherever the heap has room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <new>
#include <vector>

#include "base/spinlock.hpp"

namespace tmpi::mpi {

/// What objects refer to comes before them.
enum class HandleKind : unsigned char {
  kErrhandler,
  kInfo,
  kOp,
  kGroup,
  kDatatype,
  kComm,
  kWindow,
  kFile,
  kRequest
};

class HandleMemory {
 public:
  /// Of one rank: `bytes` of memory that can be written to.
  HandleMemory(std::uintptr_t begin, std::size_t bytes) noexcept
      : begin_(begin), end_(begin), limit_(begin + bytes) {}

  /// std::bad_alloc: there is no more. Any thread.
  void* take(HandleKind kind, std::size_t bytes);
  void give_back(void* at) noexcept;

  bool holds(const void* at) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return address >= begin_ && address < limit_;
  }
  /// Behind all that have ever been; what is taken from now on lies there.
  std::uintptr_t end() const noexcept { return end_; }
  void go_on_behind(std::uintptr_t end) noexcept { end_ = end; }
  /// What is taken next lies at `at`, where nothing is.
  void expect(void* at) noexcept { expected_ = reinterpret_cast<std::uintptr_t>(at); }
  void* expected() const noexcept { return reinterpret_cast<void*>(expected_); }
  /// Calls use(kind, address) for all that there are, by kind, those of a kind in the order in which they were taken. The
  /// rank's own flow.
  void for_each(const std::function<void(HandleKind kind, void* at)>& use) const;

  /// Who has one: of the calling rank, of the object at an address. Null: nobody. Set once, before any rank runs.
  struct Owners {
    HandleMemory* (*of_caller)() noexcept = nullptr;
    HandleMemory* (*at)(const void* address) noexcept = nullptr;
  };
  static void set_owners(Owners owners) noexcept;

  static HandleMemory* of_calling_rank() noexcept;

  // For operator new and delete of the classes.
  static void* allocate(HandleKind kind, std::size_t bytes, std::size_t alignment);
  static void release(void* at, std::size_t alignment) noexcept;

 private:
  static constexpr std::size_t kCell = 64;
  struct Entry {
    HandleKind kind;
    std::size_t bytes;
    std::uint64_t serial;
  };

  mutable SpinLock lock_;  // datatypes are released by whoever was last to use them
  const std::uintptr_t begin_;
  std::uintptr_t end_;
  const std::uintptr_t limit_;
  std::uintptr_t expected_ = 0;
  std::uint64_t serial_ = 0;
  std::map<std::uintptr_t, Entry> taken_;
  std::multimap<std::size_t, std::uintptr_t> free_;  // by size
};

/// In a class whose objects programs have handles of.
#define TMPI_IN_HANDLE_MEMORY(kind, type)                      \
  static void* operator new(std::size_t bytes) {               \
    return HandleMemory::allocate(kind, bytes, alignof(type)); \
  }                                                            \
  static void operator delete(void* at) noexcept {             \
    HandleMemory::release(at, alignof(type));                  \
  }

/// The same for objects of a container.
template <class T, HandleKind kKind>
struct InHandleMemory {
  using value_type = T;
  template <class Other>
  struct rebind {
    using other = InHandleMemory<Other, kKind>;
  };
  T* allocate(std::size_t count) {
    return static_cast<T*>(HandleMemory::allocate(kKind, count * sizeof(T), alignof(T)));
  }
  void deallocate(T* at, std::size_t /*count*/) noexcept { HandleMemory::release(at, alignof(T)); }
  bool operator==(const InHandleMemory&) const noexcept { return true; }
};

}  // namespace tmpi::mpi
