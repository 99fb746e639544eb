#include "sched/files/file_ring.hpp"

#include <dlfcn.h>
#include <liburing.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/no_signals.hpp"
#include "sched/door/system.hpp"
#include "sched/offload.hpp"
#include "sched/waiter.hpp"

namespace tmpi::sched {
namespace {

constexpr unsigned kEntries = kMostFileCalls / 2;  // the kernel has twice as much room for answers

// The functions that are not inline in its header.
struct Library {
  decltype(&io_uring_queue_init_params) init = nullptr;
  decltype(&io_uring_queue_exit) exit = nullptr;
  decltype(&io_uring_submit) submit = nullptr;
  decltype(&io_uring_register_eventfd) register_eventfd = nullptr;
  decltype(&io_uring_register_iowq_aff) register_affinity = nullptr;
  bool complete = false;
};

Library load() noexcept {
  Library library;
  void* const handle =
      dlopen("liburing.so.2", RTLD_NOW | RTLD_LOCAL);  // stays: it is used until the process ends
  if (handle == nullptr) return library;
  library.complete = true;
  const auto take = [&](auto& function, const char* name) {
    void* const found = dlsym(handle, name);
    library.complete = library.complete && found != nullptr;
    std::memcpy(&function, &found, sizeof found);
  };
  take(library.init, "io_uring_queue_init_params");
  take(library.exit, "io_uring_queue_exit");
  take(library.submit, "io_uring_submit");
  take(library.register_eventfd, "io_uring_register_eventfd");
  take(library.register_affinity, "io_uring_register_iowq_aff");
  return library;
}

const Library& library() noexcept {
  static const Library the_library = load();
  return the_library;
}

// Written once or a few times with the same: by workers that have been refused.
std::atomic<const char*> refused_by{nullptr};
std::atomic<int> refused_errno{0};

std::nullptr_t refused(const char* by, int error) noexcept {
  refused_errno.store(error, std::memory_order_relaxed);
  refused_by.store(by, std::memory_order_release);
  return nullptr;
}

}  // namespace

std::string why_no_ring() {
  const char* const by = refused_by.load(std::memory_order_acquire);
  if (by == nullptr) return {};
  const int error = refused_errno.load(std::memory_order_relaxed);
  return error == 0 ? std::string(by) : std::string(by) + ": " + std::strerror(error);
}

struct FileRing::Rings {
  io_uring ring{};
  bool open = false;
  unsigned most = 0;  // answers that there is room for

  ~Rings() {
    if (open) library().exit(&ring);
  }
};

FileRing::FileRing() : rings_(new Rings) {}

FileRing::~FileRing() {
  if (answered_ >= 0) close(answered_);
  if (event_ >= 0) close(event_);
}

std::unique_ptr<FileRing> FileRing::make() noexcept {
  if (!library().complete) return refused("liburing.so.2 cannot be loaded, or is too old", 0);
  try {
    std::unique_ptr<FileRing> made(new FileRing);
    if (!made->open()) made.reset();
    return made;
  } catch (const std::bad_alloc&) {
    return refused("there is no memory for a ring", 0);
  }
}

bool FileRing::open() noexcept {
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_CLAMP;
  int error = library().init(kEntries, &rings_->ring, &parameters);
  if (error < 0) return refused("io_uring_setup", -error) != nullptr;
  rings_->open = true;
  rings_->most = parameters.cq_entries;
  // Linux 5.12: before, the kernel's threads were not the process's, with its limits and rights.
  if ((parameters.features & IORING_FEAT_NATIVE_WORKERS) == 0)
    return refused("the kernel's io_uring is older than Linux 5.12", 0) != nullptr;
  answered_ = System::open_event();
  event_ = System::open_event();
  if (answered_ < 0 || event_ < 0) return refused("eventfd", errno) != nullptr;
  error = library().register_eventfd(&rings_->ring, answered_);
  if (error < 0) return refused("io_uring_register_eventfd", -error) != nullptr;
  // As the pool's threads: where the job may run, not where the worker is pinned. A refusal costs only that.
  unpinned_ = offload_affinity();
  if (unpinned_) (void)library().register_affinity(&rings_->ring, unpinned_->bytes(), unpinned_->mask());
  return true;
}

// A thread that the kernel makes for a call may run where the one that submits it may at that moment (since Linux 6.2,
// whatever has been registered), and lives on: were that the worker's core, the call would take turns with the ranks.
// It is made at once unless a signal waits to be taken; then later, when the worker is pinned again.
bool FileRing::submit() noexcept {
  if (!unpinned_) return library().submit(&rings_->ring) == 1;
  const NoSignals no_signals;
  unpinned_->apply();
  const bool done = library().submit(&rings_->ring) == 1;
  pinned_.apply();
  return done;
}

bool FileRing::give(const FileCall& call, Answer& answer) noexcept {
  if (broken_ || under_way_ >= static_cast<int>(rings_->most)) return false;
  io_uring_sqe* const entry = io_uring_get_sqe(&rings_->ring);
  if (entry == nullptr) return false;
  switch (call.kind) {
    case FileCall::Kind::kRead:
      io_uring_prep_readv(entry, call.fd, call.vectors, static_cast<unsigned>(call.count),
                          static_cast<__u64>(call.offset));
      break;
    case FileCall::Kind::kWrite:
      io_uring_prep_writev(entry, call.fd, call.vectors, static_cast<unsigned>(call.count),
                           static_cast<__u64>(call.offset));
      break;
    case FileCall::Kind::kSync:
      io_uring_prep_fsync(entry, call.fd, 0);
      break;
  }
  // By a thread of the kernel's from the beginning: what can be done in place has been tried, and a read that goes on
  // when a page has come would be copied by this thread, in the middle of what a rank computes.
  io_uring_sqe_set_flags(entry, IOSQE_ASYNC);
  io_uring_sqe_set_data(entry, &answer);
  if (!submit()) {
    // Short of memory. The entry cannot be taken back: should it ever be submitted, it does nothing.
    io_uring_prep_nop(entry);
    io_uring_sqe_set_data(entry, nullptr);
    broken_ = true;
    return false;
  }
  ++under_way_;
  detail::count_offloaded(1);
  return true;
}

void FileRing::take_answers() noexcept {
  unsigned head, taken = 0;
  io_uring_cqe* entry;
  io_uring_for_each_cqe(&rings_->ring, head, entry) {
    ++taken;
    auto* const answer = static_cast<Answer*>(io_uring_cqe_get_data(entry));
    if (answer == nullptr) continue;
    answer->result = entry->res;
    answer->waiter->complete();  // the answer is gone from here on
    --under_way_;
    detail::count_offloaded(-1);
  }
  if (taken > 0) io_uring_cq_advance(&rings_->ring, taken);
}

}  // namespace tmpi::sched
