// Active messages that make no sense: the node that gets one says so and listens to its sender no longer. It
// never crashes, writes where nobody has asked for data, or waits.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>

#include "mpi/p2p/p2p.hpp"
#include "mpi/remote/wire.hpp"
#include "mpi/testing/nodes.hpp"

namespace tmpi::mpi::remote {
namespace {

struct Nonsense {
  const char* name;
  Kind kind;
  std::vector<std::byte> header;
  std::size_t payload = 0;
};

template <class Header>
std::vector<std::byte> bytes_of(const Header& header) {
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Envelope envelope(int dest, std::uint64_t bytes, std::uint16_t flags = 0) {
  return {kWorldContext, 0, 5, dest, 0, flags, bytes};
}

std::vector<Nonsense> all_nonsense() {
  constexpr std::uint64_t kId = std::uint64_t{1} << 32;
  Rts readable{envelope(1, 100), kId};
  readable.address = 4096;
  return {
      {"a kind that no protocol knows", static_cast<Kind>(200), std::vector<std::byte>(8)},
      {"kind 0", Kind{}, {}},
      {"eager, cut off", Kind::kEager, std::vector<std::byte>(3)},
      {"eager, no header", Kind::kEager, {}},
      {"eager, to nobody", Kind::kEager, bytes_of(envelope(999, 0))},
      {"eager, to a negative rank", Kind::kEager, bytes_of(envelope(-1, 0))},
      {"eager, to the sender's own rank", Kind::kEager, bytes_of(envelope(0, 0))},
      {"eager, less data than it says", Kind::kEager, bytes_of(envelope(1, 100)), 10},
      {"eager, more data than it says", Kind::kEager, bytes_of(envelope(1, 1)), 1000},
      {"eager, synchronous without a transfer", Kind::kEager, bytes_of(envelope(1, 0, kSynchronous))},
      {"RTS with data", Kind::kRts, bytes_of(Rts{envelope(1, 10), kId}), 10},
      {"RTS of more bytes than there are", Kind::kRts, bytes_of(Rts{envelope(1, ~std::uint64_t{0}), kId})},
      {"RTS, to be read where nothing can be read", Kind::kRts, bytes_of(readable)},
      {"CTS for nothing", Kind::kCts, bytes_of(Cts{kId, kId, 10, 0, 0, 0})},
      {"CTS, cut off", Kind::kCts, std::vector<std::byte>(sizeof(Cts) - 1)},
      {"DATA for nobody", Kind::kData, bytes_of(Data{kId, 0}), 100},
      {"DATA for an id out of range", Kind::kData, bytes_of(Data{~std::uint64_t{0}, 0}), 100},
      {"FIN for nothing", Kind::kFin, bytes_of(Transfer{kId})},
      {"credit that was not owed", Kind::kCredit, bytes_of(Credit{1, 0, 0})},
      {"credit of nobody", Kind::kCredit, bytes_of(Credit{0, -5, 0})},
      {"an answer to no question", Kind::kCancelReply, bytes_of(CancelReply{kId, kId, 1, 0})},
      {"a cancel for nobody", Kind::kCancel, bytes_of(Cancel{envelope(77, 0), kId})},
      {"an eager limit that nobody has asked for", Kind::kLimit, bytes_of(LimitChange{2, 0, 65536})},
      {"a request for an eager limit where all are fixed", Kind::kLimit, bytes_of(LimitChange{1, 0, 65536})},
      {"another connection that nobody has agreed to", Kind::kSwitched, bytes_of(LimitChange{5, 0, 65536})},
      {"that its ranks compute, where eager limits are fixed", Kind::kComputing, bytes_of(Computing{1, 0})},
      {"an announcement, cut off", Kind::kAnnounce, std::vector<std::byte>(sizeof(Announce) - 8)},
  };
}

// Node 1 has to notice; node 0 then loses it.
void noticed(int, const std::string& why) noexcept {
  const bool said = why.find("it has ") == 0 && why.find("its memory is damaged") != std::string::npos;
  if (job()->placement().node() == 1 && !said) std::fprintf(stderr, "node 0 is lost: %s\n", why.c_str());
  _exit(job()->placement().node() == 1 && !said ? 1 : 0);
}

}  // namespace

TEST_CASE("nonsense is noticed and ends the job with a sentence") {
  for (const Nonsense& nonsense : all_nonsense()) {
    CAPTURE(std::string(nonsense.name));
    testing::run_nodes({.nodes = 2, .ranks = 2, .lost = noticed}, [&](Rank& rank) {
      const Datatype& byte = *datatype_from(MPI_BYTE);
      if (rank.world_rank == 0) {
        std::vector<std::byte> data(nonsense.payload);
        const iovec payload{data.data(), data.size()};
        (void)engine()->wire().send(1, static_cast<std::uint8_t>(nonsense.kind), nonsense.header,
                                    {&payload, data.empty() ? std::size_t{0} : std::size_t{1}}, nullptr);
      }
      char never;
      (void)recv(rank.world, rank.world.context, &never, 1, byte, 1 - rank.world_rank, 99, MPI_STATUS_IGNORE)
          .error_class();
    });
  }
}

}  // namespace tmpi::mpi::remote
