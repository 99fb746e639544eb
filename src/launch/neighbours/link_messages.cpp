#include "launch/neighbours/link_messages.hpp"

#include <cstring>
#include <utility>

#include "launch/wire/fields.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kNonsense =
    "a frame about another job is too short, too long or nonsense: the two tmpis differ in version";

// The caller wipes what comes of it.
std::string bytes_of(const net::JobKey& key) {
  std::string bytes;
  bytes.reserve(sizeof key.job + key.secret.bytes.size());
  append_record(bytes, key.job);
  bytes.append(reinterpret_cast<const char*>(key.secret.bytes.data()), key.secret.bytes.size());
  return bytes;
}

bool read_key(std::string_view bytes, net::JobKey& key) {
  if (bytes.size() != sizeof key.job + key.secret.bytes.size() || !read_record(bytes, key.job)) return false;
  std::memcpy(key.secret.bytes.data(), bytes.data(), bytes.size());
  return !key.secret.empty();
}

}  // namespace

void fields(auto& archive, Of<LinkHello> auto& hello) {
  archive(hello.version, hello.network, hello.job, hello.name, hello.nodes);
}

void fields(auto& archive, Of<WayAddresses> auto& addresses) {
  archive(addresses.index, addresses.addresses, addresses.hosts);
}

// All but the key.
void fields(auto& archive, Of<WayOrder> auto& order) {
  archive(order.index, order.other_job, order.other_name, order.other_nodes, order.first, order.other_first);
}

void fields(auto& archive, Of<WayAnswer> auto& answer) {
  archive(answer.index, answer.address, answer.problem);
}

void fields(auto& archive, Of<WayEnding> auto& ending) {
  archive(ending.index, ending.why);
}

void fields(auto& archive, Of<LinkVerdict> auto& verdict) {
  archive(verdict.rank, verdict.request);
}

std::string pack(const LinkHello& hello) {
  std::string bytes;
  append_record(bytes, HelloRecord{kWireMagic, hello.wire_version, 0});
  return bytes + packed(hello);
}

// Of another version only the version is understood.
Result<LinkHello> unpack_link_hello(std::string_view payload) {
  HelloRecord record{};
  if (!read_record(payload, record) || record.magic != kWireMagic) return Failure{kNonsense};
  LinkHello hello;
  hello.wire_version = record.version;
  Unpacker unpacker(payload);
  FieldReader{unpacker}(hello);
  if (record.version == kWireVersion && (!unpacker.whole() || hello.nodes < 1)) return Failure{kNonsense};
  return hello;
}

std::string pack(const net::JobKey& key) {
  return bytes_of(key);
}

Result<net::JobKey> unpack_link_key(std::string_view payload) {
  net::JobKey key;
  if (!read_key(payload, key)) return Failure{kNonsense};
  return key;
}

std::string pack(const WayAddresses& addresses) {
  return packed(addresses);
}

Result<WayAddresses> unpack_way_addresses(std::string_view payload) {
  Result<WayAddresses> all = unpacked<WayAddresses>(payload, kNonsense);
  if (all && (all->index < 0 || all->addresses.size() != all->hosts.size())) return Failure{kNonsense};
  return all;
}

std::string pack(const WayOrder& order) {
  Packer packer;
  FieldWriter{packer}(order);
  std::string key = bytes_of(order.key);
  packer.text(key);  // last: no buffer that it has been written to grows afterwards and stays behind
  net::wipe(key);
  return packer.take();
}

Result<WayOrder> unpack_way_order(std::string_view payload) {
  Unpacker unpacker(payload);
  WayOrder order;
  FieldReader{unpacker}(order);
  std::string key = unpacker.text();
  const bool good = unpacker.whole() && read_key(key, order.key) && order.index > 0 &&
                    order.other_nodes > 0 && order.first >= 0 && order.other_first >= 0;
  net::wipe(key);
  if (!good) return Failure{kNonsense};
  return order;
}

std::string pack(const WayAnswer& answer) {
  return packed(answer);
}

Result<WayAnswer> unpack_way_answer(std::string_view payload) {
  return unpacked<WayAnswer>(payload, kNonsense);
}

std::string pack(const WayEnding& ending) {
  return packed(ending);
}

Result<WayEnding> unpack_way_ending(std::string_view payload) {
  return unpacked<WayEnding>(payload, kNonsense);
}

std::string pack(const LinkCall& call) {
  Packer packer;
  FieldWriter{packer}(call.rank, call.node, pack(call.request));
  return packer.take();
}

Result<LinkCall> unpack_link_call(std::string_view payload) {
  Unpacker unpacker(payload);
  LinkCall call;
  FieldReader{unpacker}(call.rank, call.node);
  Result<PortRequest> request = unpack_port_request(unpacker.text());
  if (!unpacker.whole() || !request || call.rank < 0 || call.node < 0) return Failure{kNonsense};
  call.request = *std::move(request);
  return call;
}

std::string pack(const LinkVerdict& verdict) {
  return packed(verdict);
}

Result<LinkVerdict> unpack_link_verdict(std::string_view payload) {
  Result<LinkVerdict> verdict = unpacked<LinkVerdict>(payload, kNonsense);
  if (verdict && verdict->rank < 0) return Failure{kNonsense};
  return verdict;
}

}  // namespace tmpi::launch
