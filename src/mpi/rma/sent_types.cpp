#include "mpi/rma/sent_types.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/rank/rank.hpp"
#include "mpi/rma/layout_wire.hpp"
#include "mpi/rma/limits.hpp"
#include "mpi/rma/wire.hpp"

namespace tmpi::mpi::rma {

bool send_header(remote::Core& core, int peer, const Header& header, remote::Bytes payload,
                 net::Completion* completion) noexcept {
  ++core.counters.one_sided;
  core.counters.one_sided_bytes += payload.size;
  return core.backlog.post(peer, remote::Kind::kOneSided, header, payload, completion);
}

void send_owned(remote::Core& core, int peer, const Header& header, const void* data, std::size_t size,
                std::unique_ptr<OwnPayload> payload) {
  if (size <= core.transport->limits().most_buffered) {
    (void)send_header(core, peer, header, {data, size});
  } else if (!send_header(core, peer, header, {data, size}, payload.get())) {
    (void)payload.release();  // deletes itself
  }
}

std::uint32_t SentTypes::number_for(remote::Core& core, int peer, const Datatype& type) {
  if (is_predefined(type.handle()))
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(type.handle()));
  auto found = types_.find(&type);
  if (found == types_.end()) {
    if (types_.size() >= kMostSentTypes && held_ == 0) forget(core);
    found = types_.try_emplace(&type).first;
    found->second.number = next_++;
    found->second.peers.resize(static_cast<std::size_t>(job()->nodes()));
    type.retain();
  }
  Known& known = found->second;
  if (!known.peers[static_cast<std::size_t>(peer)]) {
    known.peers[static_cast<std::size_t>(peer)] = true;
    send(core, peer, type, known.number);
  }
  return kSentType | known.number;
}

void SentTypes::send(remote::Core& core, int peer, const Datatype& type, std::uint32_t number) {
  told_.resize(static_cast<std::size_t>(job()->nodes()));
  told_[static_cast<std::size_t>(peer)] = true;
  Packer packer;
  pack_type(packer, type);
  const std::size_t size = packer.bytes().size();
  auto payload = std::make_unique<OwnPayload>();
  payload->bytes = std::make_unique<std::byte[]>(size);
  std::memcpy(payload->bytes.get(), packer.bytes().data(), size);
  Header header;
  header.what = What::kType;
  header.id = number;
  const void* const data = payload->bytes.get();
  send_owned(core, peer, header, data, size, std::move(payload));
}

void SentTypes::forget(remote::Core& core) {
  Header header;
  header.what = What::kForget;
  for (int peer = 0; peer < job()->nodes(); ++peer) {
    if (static_cast<std::size_t>(peer) < told_.size() && told_[static_cast<std::size_t>(peer)])
      (void)send_header(core, peer, header);
  }
  told_.clear();
  for (const auto& [type, known] : types_) type->release();
  types_.clear();
  next_ = 0;
}

}  // namespace tmpi::mpi::rma
