// Engine: the protocol layer of a node process behind one lock. One thread at a time is inside and makes
// progress; that may take long (a megabyte is read there). Nobody waits for it: poll() that finds the lock taken
// returns, and what a rank wants done is left as a delegation (delegation.hpp), which whoever is inside runs between
// two messages and before it goes. Requests that finish are completed when the lock is open again.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/base/no_memory.hpp"
#include "mpi/remote/core.hpp"
#include "mpi/remote/delegation.hpp"
#include "mpi/remote/receives.hpp"
#include "mpi/remote/sends.hpp"
#include "net/junction.hpp"
#include "net/transport.hpp"

namespace tmpi::mpi::remote {

class Engine final : public net::Sink, private Core {
 public:
  /// Makes the transport that reports to the given sink.
  using MakeTransport = Result<std::unique_ptr<net::Transport>> (*)(const net::Options& options,
                                                                    net::Sink& sink);
  using Lost = void (*)(int node, const std::string& why) noexcept;

  static Result<std::unique_ptr<Engine>> create(const net::Options& options, const Settings& settings,
                                                MakeTransport make);
  /// Of a job of one node process: for other jobs alone. Of the settings the eager limit counts.
  static Result<std::unique_ptr<Engine>> create_for_other_jobs(const Settings& settings);
  ~Engine() = default;
  net::Transport& wire() noexcept { return *transport; }
  void on_lost(Lost lost) noexcept { lost_hook_ = lost; }

  bool poll() noexcept;
  net::Arming arm(bool patient) noexcept;
  bool end(double seconds) noexcept;
  Balance balance() const noexcept;
  ProtocolCounters read_counters() noexcept;

  // These run body(sends, receives) inside. Without memory for what it has to note the job ends.

  /// Waits until nobody else is inside.
  template <class Body>
  auto inside(Body&& body) noexcept {
    enter();
    const Inside lock(*this);
    return run(body);
  }
  /// False, and nothing has happened, if somebody is inside.
  template <class Body>
  bool attempt(Body&& body) noexcept {
    if (!lock_.try_lock()) return false;
    const Inside lock(*this);
    return run(body);
  }
  /// Now if nobody is inside, else by whoever is: in the order of these calls, as far as they are ordered. The
  /// body is copied.
  template <class Body>
  void submit(const Body& body) noexcept {
    if (lock_.try_lock()) {
      const Inside lock(*this);
      return run(body);
    }
    if (!delegations_.leave(body)) return inside(body);
    // Whoever was inside may have looked for delegations before this one was there. seq_cst pairs with leave().
    if (lock_.try_lock_ordered()) leave();
  }
  /// Runs body(core) inside: for active messages of rooms above.
  template <class Body>
  auto with_core(Body&& body) noexcept {
    enter();
    const Inside lock(*this);
    return with_memory_for("one-sided communication with another node",
                           [&] { return body(static_cast<Core&>(*this)); });
  }
  /// The job may be connected with others from now on. Before the first message.
  Result<void> take_other_jobs();
  /// The first way to another job is about to be made.
  void wake() noexcept { awake_.store(true, std::memory_order_release); }
  bool takes_other_jobs() const noexcept { return junction_ != nullptr; }
  /// Runs body(junction) inside, if the job may be connected with others.
  template <class Body>
  auto with_junction(Body&& body) noexcept {
    enter();
    const Inside lock(*this);
    return with_memory_for("a connection with another job", [&] { return body(*junction_); });
  }
  Receives& receives() noexcept { return receives_; }  // for release_quietly()
  bool announces() const noexcept { return settings.rendezvous == Rendezvous::kEarlyCts; }
  /// Whether it matters when a receive of so many bytes was posted. Any thread.
  bool serves_in_order(MPI_Count bytes) const noexcept {
    return transfer_depth > 0 && bytes > settings.eager_limit;
  }
  bool beside() const noexcept { return settings.beside; }
  void progress_spins() noexcept;
  /// Bytes; with dynamic limits the one that all pairs begin with.
  MPI_Count eager_limit() const noexcept { return settings.eager_limit; }
  /// Any thread: of(), base(), looked_for() and blocked_for() only.
  EagerLimits& eager_limits() noexcept { return limits; }

 private:
  // The lock is taken: what was left before comes first.
  class Inside {
   public:
    explicit Inside(Engine& engine) noexcept : engine_(engine) { engine.run_delegations(); }
    ~Inside() { engine_.leave(); }
    Inside(const Inside&) = delete;

   private:
    Engine& engine_;
  };

  Engine() : sends_(*this), receives_(*this) {}
  /// Takes the lock, and counts if somebody else has it.
  void enter() noexcept {
    if (!lock_.try_lock()) [[unlikely]]
      wait_to_enter();
  }
  void wait_to_enter() noexcept;
  template <class Body>
  auto run(Body&& body) noexcept {
    return with_memory_for("a message to or from another node", [&] { return body(sends_, receives_); });
  }
  void run_delegations() noexcept {
    if (!delegations_.empty()) [[unlikely]]
      with_memory_for("a message to or from another node", [&] { delegations_.run_all(sends_, receives_); });
  }
  void leave() noexcept;
  void complete_finished() noexcept;
  void use_settings(const Settings& wanted);
  void use_transport();
  std::int32_t called_here(int peer, std::int32_t rank) const noexcept;
  net::Landing begin(int peer, Kind kind, std::span<const std::byte> header, std::size_t payload);
  void complain(int peer, std::string_view what) noexcept override;

  net::Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                        std::size_t payload) noexcept override;
  void landed(int peer, void* token) noexcept override;
  void lost(int peer, const std::string& why) noexcept override;
  void lose(int peer, std::string_view why) noexcept;

  SpinLock lock_;
  // For profiles, in ticks: looks that have moved something, and of those the quickest, per message.
  void note_look(std::uint64_t ticks, std::uint64_t landed) noexcept;
  std::atomic<std::uint64_t> moving_{0}, step_{0};
  std::uint64_t waits_ = 0, waited_ = 0;  // of enter(); the lock's
  DelegationQueue delegations_;
  Sends sends_;
  Receives receives_;
  net::Junction* junction_ = nullptr;  // the transport, if the job may be connected with others
  // Without a transport of the job's own there is nothing to look at before the first way, however often idle workers do.
  std::atomic<bool> awake_{true};
  int node_ = 0;
  int own_nodes_ = 0;               // peers of this job; those of others follow
  bool other_jobs_landed_ = false;  // a message of another job, since the lock was taken
  std::vector<bool> gone_;          // by peer: not listened to any longer
  Lost lost_hook_ = nullptr;
  struct Report {
    int peer;
    std::string why;
  };
  std::vector<Report> reports_;  // for the hook, when the lock is open
};

}  // namespace tmpi::mpi::remote
