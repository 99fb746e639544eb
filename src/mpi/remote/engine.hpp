// Engine: the protocol layer of a node process behind one lock. Posts take the lock; poll() by a worker that
// finds it taken returns. Requests that finish are completed when the lock is open again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/base/no_memory.hpp"
#include "mpi/remote/core.hpp"
#include "mpi/remote/receives.hpp"
#include "mpi/remote/sends.hpp"
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
  ~Engine() = default;
  net::Transport& wire() noexcept { return *transport; }
  void on_lost(Lost lost) noexcept { lost_hook_ = lost; }

  bool poll() noexcept;
  net::Arming arm() noexcept;
  bool end(double seconds) noexcept;
  Balance balance() const noexcept;
  ProtocolCounters read_counters() noexcept;

  /// Runs body(sends, receives) inside. Without memory for what it has to note the job ends.
  template <class Body>
  auto inside(Body&& body) noexcept {
    const Inside lock(*this);
    return with_memory_for("a message to or from another node", [&] { return body(sends_, receives_); });
  }
  /// Runs body(core) inside: for active messages of rooms above.
  template <class Body>
  auto with_core(Body&& body) noexcept {
    const Inside lock(*this);
    return with_memory_for("one-sided communication with another node",
                           [&] { return body(static_cast<Core&>(*this)); });
  }
  Receives& receives() noexcept { return receives_; }  // for release_quietly()
  bool announces() const noexcept { return settings.rendezvous == Rendezvous::kEarlyCts; }
  MPI_Count eager_limit() const noexcept { return settings.eager_limit; }

 private:
  class Inside {
   public:
    explicit Inside(Engine& engine) noexcept : engine_(engine) { engine.lock_.lock(); }
    ~Inside() { engine_.leave(); }
    Inside(const Inside&) = delete;

   private:
    Engine& engine_;
  };

  Engine() : sends_(*this), receives_(*this) {}
  void leave() noexcept;
  net::Landing begin(int peer, Kind kind, std::span<const std::byte> header, std::size_t payload);
  void complain(int peer, std::string_view what) noexcept override;

  net::Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                        std::size_t payload) noexcept override;
  void landed(int peer, void* token) noexcept override;
  void lost(int peer, const std::string& why) noexcept override;
  void lose(int peer, std::string_view why) noexcept;

  SpinLock lock_;
  Sends sends_;
  Receives receives_;
  std::vector<bool> gone_;  // by peer: not listened to any longer
  Lost lost_hook_ = nullptr;
  struct Report {
    int peer;
    std::string why;
  };
  std::vector<Report> reports_;  // for the hook, when the lock is open
};

}  // namespace tmpi::mpi::remote
