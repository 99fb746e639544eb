#include "launch/ports/port_wire.hpp"

#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kWrongLength =
    "a frame about a port is too short or too long: tmpirun and tmpi-node differ in version";

}  // namespace

std::string pack(const PortRequest& request) {
  Packer packer;
  packer.number(request.request);
  packer.number(static_cast<std::int64_t>(request.call.kind));
  packer.text(request.call.port);
  packer.text(request.call.name);
  packer.number(request.call.wide ? 1 : 0);
  return packer.take();
}

std::string pack(const PortReply& reply) {
  Packer packer;
  packer.number(reply.to.rank);
  packer.number(reply.to.request);
  packer.number(reply.queued ? 1 : 0);
  packer.number(reply.answer.error);
  packer.text(reply.answer.why);
  packer.text(reply.answer.port);
  packer.number(reply.answer.peer);
  packer.number(reply.answer.pairing);
  packer.number(reply.answer.node);
  packer.number(reply.answer.outside ? 1 : 0);
  return packer.take();
}

Result<PortRequest> unpack_port_request(std::string_view payload) {
  Unpacker unpacker(payload);
  PortRequest request;
  request.request = unpacker.number();
  const std::int64_t kind = unpacker.number();
  request.call.port = unpacker.text();
  request.call.name = unpacker.text();
  request.call.wide = unpacker.number() != 0;
  if (!unpacker.whole() || kind < 0 || kind > static_cast<std::int64_t>(mpi::PortCall::Kind::kLeave))
    return Failure{kWrongLength};
  request.call.kind = static_cast<mpi::PortCall::Kind>(kind);
  return request;
}

Result<PortReply> unpack_port_reply(std::string_view payload) {
  Unpacker unpacker(payload);
  PortReply reply;
  reply.to.rank = static_cast<int>(unpacker.number());
  reply.to.request = unpacker.number();
  reply.queued = unpacker.number() != 0;
  reply.answer.error = static_cast<int>(unpacker.number());
  reply.answer.why = unpacker.text();
  reply.answer.port = unpacker.text();
  reply.answer.peer = static_cast<int>(unpacker.number());
  reply.answer.pairing = unpacker.number();
  reply.answer.node = static_cast<int>(unpacker.number());
  reply.answer.outside = unpacker.number() != 0;
  if (!unpacker.whole()) return Failure{kWrongLength};
  return reply;
}

}  // namespace tmpi::launch
