#include "launch/ports/port_wire.hpp"

#include "launch/wire/fields.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kWrongLength =
    "a frame about a port is too short or too long: tmpirun and tmpi-node differ in version";

}  // namespace

void fields(auto& archive, Of<mpi::PortCall> auto& call) {
  archive(call.kind, call.port, call.name, call.wide);
}

void fields(auto& archive, Of<PortRequest> auto& request) {
  archive(request.request, request.call);
}

void fields(auto& archive, Of<PortCaller> auto& caller) {
  archive(caller.rank, caller.request);
}

void fields(auto& archive, Of<mpi::PortAnswer> auto& answer) {
  archive(answer.error, answer.why, answer.port, answer.peer, answer.pairing, answer.node, answer.outside);
}

void fields(auto& archive, Of<PortReply> auto& reply) {
  archive(reply.to, reply.queued, reply.answer);
}

std::string pack(const PortRequest& request) {
  return packed(request);
}

std::string pack(const PortReply& reply) {
  return packed(reply);
}

Result<PortRequest> unpack_port_request(std::string_view payload) {
  Result<PortRequest> request = unpacked<PortRequest>(payload, kWrongLength);
  if (request && request->call.kind > mpi::PortCall::Kind::kLeave) return Failure{kWrongLength};
  return request;
}

Result<PortReply> unpack_port_reply(std::string_view payload) {
  return unpacked<PortReply>(payload, kWrongLength);
}

}  // namespace tmpi::launch
