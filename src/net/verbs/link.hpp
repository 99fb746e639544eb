// Link: everything about one peer: its queue pair and how that is connected, what waits to be sent, what is on its
// way, what arrives. Everything but send(), get() and expose() is called from poll(), arm() or close().
//
// Frames and credits: docs/design/network.md, "verbs".
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "net/verbs/hub.hpp"
#include "net/verbs/work_watch.hpp"

namespace tmpi::net::verbs {

class Link {
 public:
  static constexpr std::size_t kMostCopied = 1 << 20;  ///< bytes copied to the queue before kNoResource
  static constexpr std::size_t kMostReferences = 64;   ///< large messages in the queue before kNoResource
  static constexpr std::size_t kMostOffers = 16;       ///< large messages that the peer may read at a time
  static constexpr std::size_t kMostGets = 16;
  /// Work requests for what must not wait: a read of what was offered, credit, goodbye.
  static constexpr std::uint32_t kSpareRequests = 16;
  static constexpr std::uint32_t kLeastDepth = 48;

  Link(Hub& hub, FramePool& pool, int peer, std::string host);
  /// A sibling: another queue pair to the peer of `first`, with other buffers. What has been posted there, and what is
  /// under way, ends with the first one; get() and expose() are the first one's alone.
  Link(Hub& hub, FramePool& pool, Link& first);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  Post send(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
            Completion* completion) noexcept;
  Post get(std::uint32_t key, std::uint64_t remote, void* buffer, std::size_t bytes,
           Completion* completion) noexcept;

  /// Opens memory to the peer's get(), with the messages that are sent after it. Null: it cannot be registered.
  Exposure* expose(const void* buffer, std::size_t bytes);
  void conceal(Exposure& exposure) noexcept;

  // Siblings: see net/reconnection.hpp.
  /// A sibling's queue pair, for the peer to connect to. False: it cannot be had.
  bool make_sibling(Connect& mine) noexcept;
  /// It is connected, and keeps back what arrives until release(). False: it cannot be.
  bool connect_sibling(const Connect& theirs) noexcept;
  /// Keeps back what arrives from now on, or not any longer: then poll() delivers it.
  void keep_back() noexcept { kept_back_ = true; }
  void release() noexcept;
  void deliver_held() noexcept;
  /// Nothing more is to be sent: errors mean that the peer's end has gone already.
  void retire() noexcept { retiring_ = true; }
  bool retired() const noexcept {
    return over() || (idle() && owed_reads_ == 0 && !reading_ && held_.empty());
  }
  /// On the first link: where messages go.
  Link& sending() noexcept { return *sending_; }
  void send_by(Link& sibling) noexcept { sending_ = &sibling; }
  FramePool& pool() noexcept { return pool_; }
  std::vector<std::unique_ptr<Link>> siblings;  ///< of the first link

  // What has come by tcp.
  void on_connect(const Connect& theirs) noexcept;
  void on_ready() noexcept;
  /// The tcp connection is gone: the peer has died.
  void on_side_lost(const std::string& why) noexcept;
  /// It has ended in an orderly way.
  void on_side_gone() noexcept;
  /// The peer has said goodbye, and all that it has sent before has been dealt with.
  void on_goodbye() noexcept;

  // What the adapter says.
  void on_received(Received received) noexcept;
  void on_sent(std::uint32_t sequence, ibv_wc_status status) noexcept;
  /// The connection has failed; reported soon, unless it turns out that the peer has died or ended.
  void fail(const std::string& why) noexcept;

  /// The adapter has put the queue pair into an error state, and nothing else is known. Another cause that is told before
  /// is not forgotten.
  void fail_without_reason() noexcept;

  /// Fails if its oldest work request does not end; siblings, too. `elapsed`: LookTime's.
  void watch(std::uint64_t elapsed) noexcept;

  /// Sends on what waits. True if anything went.
  bool flush() noexcept;
  /// Returns credit, if that is worth a frame or somebody waits for it.
  void settle() noexcept;
  /// It has failed, and this is known to be the reason.
  void explain(const std::string& why) noexcept { trouble_ = why; }
  /// True: it has been reported, or there is nothing to report any more.
  bool report(std::uint64_t now) noexcept;

  bool idle() const noexcept { return queue_.empty() && works_head_ == works_tail_ && offers_.empty(); }
  bool connecting() const noexcept { return state_ == State::kConnecting; }
  bool waits() const noexcept {
    return (!queue_.empty() || incoming_stalled_ || !closing_windows_.empty()) && !over();
  }
  bool up() const noexcept { return state_ == State::kUp; }
  int peer() const noexcept { return peer_; }

  void begin_close() noexcept;
  bool closed() const noexcept;
  void end_close() noexcept;
  /// Before the end, whatever it is: takes in no packet any more, nor do the siblings. Where that matters, the end comes 1 ms
  /// later, and waits for that; stopping all that are to end first saves waiting for each.
  void stop() noexcept;

  bool listed_waiting = false, listed_owing = false, listed_failing = false;  ///< in the hub's lists

 private:
  enum class State : std::uint8_t {
    kNone,        // nobody has needed a queue pair
    kConnecting,  // this end's queue pair is made and told to the peer
    kUp,
    kGone,  // the peer has said goodbye
    kLost,
  };

  // A message that has not left, or not all of it.
  struct Waiting {
    enum class Kind : std::uint8_t { kMessage, kGoodbye, kOpen } kind = Kind::kMessage;
    std::uint8_t id = 0;
    bool begun = false;
    std::uint16_t header = 0;
    std::vector<std::byte> bytes;  // the header, and the payload if it has been copied
    std::vector<iovec> parts;      // else where it is
    std::size_t payload = 0;
    std::size_t part = 0, offset = 0, gone = 0;  // the next byte of the payload
    Completion* completion = nullptr;
    Exposure* exposure = nullptr;  // the peer may read it; kOpen: the window to open
  };
  // An RDMA read, in pieces if need be.
  struct Read {
    std::byte* buffer = nullptr;
    std::size_t left = 0, under_way = 0;
    std::uint64_t remote = 0;
    std::uint32_t key = 0;
    Registration* registration = nullptr;  // null: by way of a send buffer, since buffer cannot be registered
    std::uint32_t staging = SendPool::kNone;
    Completion* completion = nullptr;  // null: the payload of an offered message
  };
  // A work request under way. They complete in their order.
  struct Work {
    enum class What : std::uint8_t { kFrame, kRead, kOpen, kClose } what = What::kFrame;
    std::uint32_t buffer = SendPool::kNone;
    Read* read = nullptr;
    Exposure* exposure = nullptr;
  };

  bool over() const noexcept { return state_ == State::kGone || state_ == State::kLost; }
  std::string name() const;

  // link_connect.cpp
  void connect() noexcept;
  bool make_queue_pair() noexcept;
  int make_ready(const Connect& theirs) noexcept;
  Connect own_end() const noexcept;
  void establish() noexcept;
  void become_gone() noexcept;
  void lose(const std::string& why) noexcept;
  void drop() noexcept;
  void reset() noexcept;
  void release_reads() noexcept;

  // link.cpp
  std::uint32_t room() const noexcept { return pool_.depth - (works_tail_ - works_head_); }
  bool post(ibv_send_wr& request, const Work& work) noexcept {
    request.wr_id = std::uint64_t{static_cast<std::uint32_t>(peer_)} << 32 | works_tail_;
    work_at(works_tail_) = work;
    ++works_tail_;
    ++hub_.under_way;
    ibv_send_wr* refused = nullptr;
    const int error = ibv_post_send(pair_, &request, &refused);
    return error == 0 || refuse(work, error);
  }
  [[gnu::cold]] bool refuse(const Work& work, int error) noexcept;
  bool may_send(std::size_t frame) const noexcept;
  bool may_send_bare() const noexcept;
  void post_frame(FrameKind kind, std::uint8_t id, std::size_t payload, std::span<const std::byte> header,
                  std::span<const iovec> parts) noexcept;
  void post_bare(FrameKind kind) noexcept;
  void enqueue(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
               std::size_t bytes, Completion* completion);
  bool push(Waiting& message) noexcept;
  bool push_offer(Waiting& message) noexcept;
  bool push_pieces(Waiting& message) noexcept;
  void list_waiting() noexcept;
  void list_owing() noexcept;
  void complete_offers(std::uint32_t count) noexcept;

  // link_expose.cpp
  bool open_window(Exposure& exposure) noexcept;
  void close_window(Exposure& exposure) noexcept;
  void end_exposure(Exposure& exposure, bool lost) noexcept;

  // link_receive.cpp
  void deliver(Received received, const FrameHeader& frame) noexcept;
  void take_whole(Received received, const FrameHeader& frame) noexcept;
  void take_begin(Received received, const FrameHeader& frame) noexcept;
  void take_more(Received received, const FrameHeader& frame) noexcept;
  void take_offer(Received received, const FrameHeader& frame) noexcept;
  void recycle(std::uint32_t buffer) noexcept;
  void land() noexcept;
  void protest(const char* what) noexcept;
  bool start_read(Read& read, Registrations::Use use) noexcept;
  bool issue(Read& read) noexcept;
  void on_read(Read& read) noexcept;
  void finish_read(Read& read) noexcept;

  Hub& hub_;
  FramePool& pool_;
  Link* const first_;  // of a sibling; else null
  Link* sending_ = this;
  const int peer_;
  const std::string host_;
  State state_ = State::kNone;
  bool ready_ = false;       // this end's queue pair can receive and send
  bool peer_ready_ = false;  // the peer's can receive
  bool closing_ = false;
  bool kept_back_ = false;
  bool retiring_ = false;
  bool joined_ = false;  // the pool has buffers for it
  ibv_qp* pair_ = nullptr;
  std::uint64_t stopped_at_ = 0;  // nanoseconds; 0: not
  std::uint32_t first_packet_ = 0;

  std::uint32_t credits_ = 0, most_credits_ = 0;  // frames that may be sent, and at most
  std::uint32_t owed_ = 0;                        // buffers of the peer's frames that are free again
  std::uint32_t owed_reads_ = 0;                  // offers of the peer's that have been read

  std::deque<Waiting> queue_;
  std::size_t copied_ = 0, references_ = 0;
  Work& work_at(std::uint32_t sequence) noexcept { return works_[sequence & (works_.size() - 1)]; }
  std::vector<Work> works_;  // a ring, of a power of two
  std::uint32_t works_head_ = 0, works_tail_ = 0;
  WorkWatch watch_;
  std::deque<Exposure*> offers_;           // that the peer has not read
  std::deque<Exposure*> closing_windows_;  // for which there was no room

  // What is arriving: one message at a time; the frames behind one that is being read are held back.
  bool arriving_ = false, reading_ = false;
  Landing landing_;
  std::size_t announced_ = 0, arrived_ = 0, header_bytes_ = 0;
  Read incoming_;
  bool incoming_stalled_ = false;  // there was no send buffer to read to
  std::deque<Received> held_;

  std::vector<std::unique_ptr<Read>> gets_;
  std::vector<Read*> free_gets_;

  std::string trouble_;          // why it has failed
  std::uint64_t report_at_ = 0;  // nanoseconds
};

}  // namespace tmpi::net::verbs
