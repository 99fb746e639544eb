#include "net/sim/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/file_size_limit.hpp"
#include "base/platform.hpp"
#include "net/proof.hpp"

namespace tmpi::net::sim {
namespace {

constexpr std::uint64_t kHead = (sizeof(NodeState) + kPageSize - 1) & ~(kPageSize - 1);
static_assert(sizeof(RingState) <= kPageSize);

// Address space is reserved, memory is not: a ring takes what is under way in it. A quarter of a second's
// worth of messages on a fast wire fits in few of the largest.
std::uint64_t ring_capacity(int nodes) {
  constexpr std::uint64_t kMost = 32u << 20, kLeast = 1u << 20, kAll = 1u << 30;
  return std::clamp(std::bit_floor(kAll / static_cast<std::uint64_t>(nodes)), kLeast, kMost);
}

std::uint64_t ring_offset(int node, int nodes) {
  return kHead + static_cast<std::uint64_t>(node) * (kPageSize + ring_capacity(nodes));
}

void wake(int descriptor) noexcept {
  const char byte = 1;
  // A full pipe (EAGAIN) is as readable as it gets.
  while (write(descriptor, &byte, 1) < 0 && errno == EINTR) {
  }
}

struct Address {
  int process = 0, memory = 0, wake_out = 0;
  std::uint64_t mark[2] = {0, 0};
};

bool parse(const std::string& text, Address& address) {
  int end = -1;
  return std::sscanf(text.c_str(), "sim/%d/%d/%d/%" SCNx64 "-%" SCNx64 "%n", &address.process,
                     &address.memory, &address.wake_out, &address.mark[0], &address.mark[1], &end) == 5 &&
         end == static_cast<int>(text.size()) && address.process > 0 && address.memory >= 0 &&
         address.wake_out >= 0;
}

Fd open_other(int process, int fd, int flags) noexcept {
  const std::string path = fmt::format("/proc/{}/fd/{}", process, fd);
  return Fd(::open(path.c_str(), flags | O_CLOEXEC));
}

Mapping map_shared(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                     static_cast<off_t>(offset));
  if (start == MAP_FAILED) return {};
  madvise(start, bytes, MADV_DONTDUMP);  // not worth a core file's gigabytes; no loss if it fails
  return {start, bytes};
}

Failure cannot_open(int process, int error) {
  if (error == ENOENT || error == ESRCH) return Failure{fmt::format("its process {} has ended", process)};
  return Failure{
      fmt::format("process {} cannot be opened through /proc/{}/fd ({}); --net sim needs all node "
                  "processes to belong to one user and to see the same /proc",
                  process, process, std::strerror(error))};
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
Mapping::~Mapping() {
  if (start_ != nullptr) munmap(start_, bytes_);
}

Result<Segment> Segment::create(int nodes) {
  if (nodes > kMostNodes)
    return Failure{fmt::format("--net sim models up to {} nodes, not {}", kMostNodes, nodes)};
  Segment segment;
  segment.nodes_ = nodes;
  const std::uint64_t bytes = ring_offset(nodes, nodes);
  const UnlimitedFiles unlimited;
  segment.memory_ = Fd(memfd_create("tmpi-sim", MFD_CLOEXEC));
  if (!segment.memory_ || ftruncate(segment.memory_.get(), static_cast<off_t>(bytes)) != 0)
    return Failure{fmt::format("--net sim: no shared memory (memfd_create): {}", std::strerror(errno))};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return Failure{fmt::format("--net sim: no pipe: {}", std::strerror(errno))};
  segment.wake_in_ = Fd(ends[0]);
  segment.wake_out_ = Fd(ends[1]);
  segment.mapping_ = map_shared(segment.memory_.get(), 0, bytes);
  if (!segment.mapping_)
    return Failure{fmt::format("--net sim: {} MiB of address space for messages cannot be mapped: {}",
                               bytes >> 20, std::strerror(errno))};
  auto* state = new (segment.mapping_.at(0)) NodeState;
  const Challenge random = draw_challenge();
  std::memcpy(state->mark, random.data(), sizeof state->mark);
  for (int node = 0; node < nodes; ++node) new (segment.mapping_.at(ring_offset(node, nodes))) RingState;
  return segment;
}

RingReader Segment::from(int node) const noexcept {
  std::byte* ring = mapping_.at(ring_offset(node, nodes_));
  return {reinterpret_cast<RingState*>(ring), ring + kPageSize, ring_capacity(nodes_)};
}

void Segment::wake_self() const noexcept {
  wake(wake_out_.get());
}

void Segment::clear_wake_ups() const noexcept {
  char wake_ups[64];
  while (read(wake_in_.get(), wake_ups, sizeof wake_ups) > 0) {
  }
}

std::string Segment::address() const {
  const NodeState& own = state();
  return fmt::format("sim/{}/{}/{}/{:x}-{:x}", getpid(), memory_.get(), wake_out_.get(), own.mark[0],
                     own.mark[1]);
}

Result<PeerSegment> PeerSegment::open(const std::string& text, int node, int nodes) {
  Address address;
  if (!parse(text, address)) return Failure{fmt::format("\"{}\" is no address of --net sim", text)};
  PeerSegment peer;
  peer.process_ = address.process;
  peer.nodes_ = nodes;
  // Before the others: when the mark is right, this is the right process.
  peer.process_fd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, address.process, 0)));
  if (!peer.process_fd_) return cannot_open(address.process, errno);
  const Fd memory = open_other(address.process, address.memory, O_RDWR);
  if (!memory) return cannot_open(address.process, errno);
  struct stat status {};
  if (fstat(memory.get(), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != ring_offset(nodes, nodes))
    return cannot_open(address.process, ESRCH);
  peer.head_ = map_shared(memory.get(), 0, kHead);
  peer.ring_ = map_shared(memory.get(), ring_offset(node, nodes), kPageSize + ring_capacity(nodes));
  if (!peer.head_ || !peer.ring_)
    return Failure{fmt::format("its memory cannot be mapped: {}", std::strerror(errno))};
  if (std::memcmp(peer.state().mark, address.mark, sizeof address.mark) != 0)
    return cannot_open(address.process, ESRCH);
  // Open for reading too: then the pipe has a reader, and ringing raises no SIGPIPE, when the other has died.
  peer.wake_out_ = open_other(address.process, address.wake_out, O_RDWR | O_NONBLOCK);
  if (!peer.wake_out_) return cannot_open(address.process, errno);
  return peer;
}

RingWriter PeerSegment::writer() const noexcept {
  return {reinterpret_cast<RingState*>(ring_.at(0)), ring_.at(kPageSize), ring_capacity(nodes_)};
}

void PeerSegment::notify(int node, Nanoseconds due) const noexcept {
  state().inbox[node / 64].fetch_or(std::uint64_t{1} << (node % 64), std::memory_order_seq_cst);
  if (state().asleep.load(std::memory_order_seq_cst) > due &&
      state().asleep.exchange(0, std::memory_order_relaxed) != 0)
    wake(wake_out_.get());
}

bool is_segment_address(const std::string& text) {
  Address address;
  return parse(text, address);
}

}  // namespace tmpi::net::sim
