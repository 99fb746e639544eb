// Reading: memory that another node has exposed (net::Transport::expose) is read into memory here, a few pieces at a
// time, without help of a CPU there. Large puts are read by the target, large gets by the origin. Who reads from a peer
// gets in a queue, as large messages do. Used under the lock of the protocol layer.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "mpi/remote/core.hpp"
#include "mpi/remote/transfer_queue.hpp"

namespace tmpi::mpi::rma {

/// Where it is, as it travels.
struct Exposure {
  std::uint64_t key[2] = {0, 0};
  std::uint64_t address = 0;
};
static_assert(sizeof(Exposure) == 24 && std::has_unique_object_representations_v<Exposure>);

Exposure exposure_of(const net::RemoteKey& key, const void* memory) noexcept;

class Reading : public remote::InTransferQueue<Reading> {
 public:
  using Done = void (*)(Reading& self) noexcept;  ///< may end the Reading's life

  /// `done` is called when all is there, during this call or later. The Reading must stay until then.
  void begin(remote::Core& core, int peer, const Exposure& from, std::byte* to, MPI_Count bytes,
             Done done) noexcept;

 private:
  struct Piece : net::Completion {
    Reading* owner = nullptr;
    MPI_Count bytes = 0;
    bool busy = false;
  };
  static void got(net::Completion& completion) noexcept;
  using Queue = remote::TransferQueue<Reading>;
  static Queue& queue_from(const remote::Core& core, int peer);
  static void serve(Queue& queue) noexcept;
  void post_piece(Queue& queue) noexcept;
  void take_in(Piece& piece, Queue& queue) noexcept;
  void go_on(Queue& queue) noexcept;

  remote::Core* core_ = nullptr;
  int peer_ = 0;
  Exposure from_;
  std::byte* to_ = nullptr;
  MPI_Count bytes_ = 0, begun_ = 0, arrived_ = 0;
  Done done_ = nullptr;
  std::array<Piece, 2> pieces_;
};

}  // namespace tmpi::mpi::rma
