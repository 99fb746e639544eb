// Control: the node process's end of the control channel. A thread of its own sends what ranks print and
// report, and receives input, signals and questions; so a rank that computes for hours neither delays
// another's output nor hides where it is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "launch/control/control_channel.hpp"
#include "launch/control/end_reason.hpp"
#include "launch/control/end_report.hpp"
#include "launch/control/input.hpp"
#include "launch/control/outbox.hpp"
#include "launch/spec/node_spec.hpp"
#include "launch/wire/figures.hpp"
#include "launch/wire/frames.hpp"
#include "launch/wire/stacks.hpp"
#include "launch/wire/state_dump.hpp"
#include "net/transport.hpp"

namespace tmpi::launch {

class Control {
 public:
  /// The process's only one. Both are called by the control thread to answer kStateDumpWanted.
  static Control& create(ControlChannel channel, StateDump (*state_dump)(),
                         Stacks (*stacks)(const StateDump& dump));
  static Control* instance() noexcept;

  /// Says hello and waits for the job description. Once, before start().
  Result<Assignment> receive_job() { return channel_.receive_job(); }
  /// Between receive_job() and start().
  const ControlChannel& channel() const noexcept { return channel_; }
  /// Starts the control thread.
  void start();

  /// A frame for tmpirun. Any thread; see Outbox::append.
  void send(FrameType type, int rank, std::uint16_t detail, std::string_view payload) {
    outbox_.append(type, rank, detail, payload);
  }
  void notice(NoticeKind kind, std::string_view text);

  /// What node processes tell each other before their ranks run.
  struct Addresses {
    std::vector<net::Peer> peers;  ///< by number
    int workers = 0;               ///< that all of them may have
  };
  /// Publishes this node process's address and how many workers it may have, and waits for what all node processes say.
  /// Blocks the calling thread; once each.
  void publish_address(std::string_view address, int workers) {
    send(FrameType::kAddress, workers, 0, address);
  }
  Addresses await_addresses();

  /// What comes out of this pipe goes to tmpirun as bytes of no rank on `stream`. Before start(). It stays the caller's.
  void forward(int pipe, int stream);

  ssize_t write_output(int rank, int stream, const void* data, std::size_t length);
  Input& input() { return input_; }

  /// Ends the job with one sentence; everything printed so far goes out first. Any thread of any rank. Only
  /// the first call counts.
  [[noreturn]] void end_job(EndKind kind, int rank, int code, std::string_view text);

  /// The same for threads that have something else to do: returns at once.
  void report_end(EndKind kind, int rank, int code, std::string_view text);

  /// The same for signal handlers: claim the report, fill it, publish, then wait_for_exit().
  EndReason& end_reason() { return end_; }
  void wake() noexcept;  ///< async-signal-safe
  /// False before start(), and on the control thread itself. Async-signal-safe.
  bool can_report() const noexcept;
  bool on_control_thread() const noexcept;  ///< async-signal-safe
  /// The control thread itself has crashed: sends the end reason, if there is one or comes within a second, by
  /// system calls alone, and ends the process; with `code` if there is none. Async-signal-safe.
  [[noreturn]] void leave_crashed(int code) noexcept;
  /// Until the process ends: by the control thread, or by whoever has found the channel lost. Async-signal-safe.
  [[noreturn]] static void wait_for_exit() noexcept;

  /// Who answers the questions about quiescence (kStillQuiescent, kWaitForEdgesWanted, kExplain): called by the
  /// control thread, appends its answer to `out`. Before start().
  void set_quiescence_handler(void (*handler)(const Frame& question, std::string& out)) {
    quiescence_handler_ = handler;
  }

  /// Who is told of worlds that are spawned (kWorld, kWorldStart) and of ways to other jobs (kWayPrepare, kWayJoin,
  /// kWayEnd): called by the control thread, also with those that have come before this call, since others may run
  /// already. Once, when ranks can be added.
  void set_world_handler(void (*handler)(const Frame& frame)) {
    world_handler_.store(handler, std::memory_order_release);
    wake();
  }

  /// Who is told of kPortReply: called by the control thread. Before a rank asks.
  void set_port_handler(void (*handler)(const Frame& frame)) {
    port_handler_.store(handler, std::memory_order_release);
  }

  /// Who is told of kCheckpointNow: called by the control thread. Before start(), since it may come at once.
  void set_checkpoint_handler(void (*handler)() noexcept) { checkpoint_handler_ = handler; }

  /// What is to be said last when the job ends early (profile, trace): called by the control thread, once,
  /// after the reason has been sent or before the state dump of a job that is about to be killed. Before
  /// start().
  void set_end_report(void (*end_report)(const SayAtEnd& say)) { end_report_ = end_report; }

  /// What cores and ranks do, where somebody wants to know: called by the control thread. Before start().
  void set_figures(NodeFigures (*figures)()) { figures_ = figures; }

  /// Called by the control thread every kWatchPeriod; what it returns, if anything, becomes a warning. Before
  /// start() or later.
  void set_watch(std::string (*watch)()) {
    watch_.store(watch, std::memory_order_release);
    wake();
  }
  static constexpr std::chrono::seconds kWatchPeriod{5};

  /// Every rank has ended: sends what is left and ends the process. `balance`: of kDone, empty if the job has
  /// one node process.
  [[noreturn]] void finish(std::string_view balance);

 private:
  Control(ControlChannel channel, Fd wake, StateDump (*state_dump)(),
          Stacks (*stacks)(const StateDump& dump));
  static void* thread_main(void* self);
  [[noreturn]] void loop();
  void fill_sending();
  void receive();
  void on_frames();
  void on_frame(const Frame& frame);
  void on_addresses(std::string_view payload);
  void on_pipe();
  void check_silence();
  void watch();
  int timeout() const;
  void on_world(const Frame& frame);
  void hand_over_early_worlds();
  void on_state_dump_wanted(std::uint16_t detail);
  /// False: no rank here handles the signal.
  static bool give_to_ranks(int signal);
  void on_signal(int signal);
  void transmit();
  void transmit_most();
  void append_end_report();
  bool put(const void* bytes, std::size_t length) const noexcept;
  [[noreturn]] void leave();
  [[noreturn]] static void abandoned();

  ControlChannel channel_;
  const Fd wake_;  // an event counter
  StateDump (*state_dump_)();
  Stacks (*stacks_)(const StateDump& dump);
  void (*end_report_)(const SayAtEnd& say) = nullptr;
  NodeFigures (*figures_)() = nullptr;
  void (*quiescence_handler_)(const Frame& question, std::string& out) = nullptr;
  std::atomic<void (*)(const Frame& frame)> world_handler_{
      nullptr};  // release, acquire: what it needs is there
  std::vector<std::pair<FrameHeader, std::string>>
      early_worlds_;  // that have come before there was a handler
  std::atomic<void (*)(const Frame& frame)> port_handler_{nullptr};  // the same
  void (*checkpoint_handler_)() noexcept = nullptr;
  Outbox outbox_;
  Input input_;
  EndReason end_;
  bool end_sent_ = false;
  std::atomic<pthread_t> thread_{};  // the control thread; relaxed: 0 until it runs
  std::atomic<bool> finished_{false};
  std::string sending_;
  std::size_t sent_ = 0;  // bytes of sending_ that are out
  int out_ = -1;          // the channel's, for leave_crashed(); -1 if it is sealed, which takes memory
  // The latest look for kHeartbeat, if more of them are to come; and the time since one has come.
  std::optional<std::chrono::steady_clock::time_point> heard_;
  std::chrono::steady_clock::duration silence_{};
  std::atomic<std::string (*)()> watch_{nullptr};  // release and acquire: what it looks at is there
  std::chrono::steady_clock::time_point watched_{};
  int pipe_ = -1;  // forward()
  int pipe_stream_ = 1;
  std::mutex addresses_mutex_;
  std::condition_variable addresses_known_;
  std::optional<Addresses> addresses_;
};

}  // namespace tmpi::launch
