#include "launch/neighbours/job_link.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kNonsense =
    "a frame about another job is too short, too long or nonsense: the two tmpis differ in version";

int whole_number(Unpacker& unpacker) {
  const std::int64_t value = unpacker.number();
  return value >= 0 && value <= std::numeric_limits<int>::max() ? static_cast<int>(value) : -1;
}

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

std::string pack(const LinkHello& hello) {
  std::string bytes;
  append_record(bytes, HelloRecord{kWireMagic, hello.wire_version, 0});
  Packer packer;
  packer.text(hello.version);
  packer.text(hello.network);
  packer.number(static_cast<std::int64_t>(hello.job));
  packer.text(hello.name);
  packer.number(hello.nodes);
  return bytes + packer.bytes();
}

// Of another version only the version is understood.
Result<LinkHello> unpack_link_hello(std::string_view payload) {
  HelloRecord record{};
  if (!read_record(payload, record) || record.magic != kWireMagic) return Failure{kNonsense};
  LinkHello hello;
  hello.wire_version = record.version;
  Unpacker unpacker(payload);
  hello.version = unpacker.text();
  hello.network = unpacker.text();
  hello.job = static_cast<std::uint64_t>(unpacker.number());
  hello.name = unpacker.text();
  hello.nodes = whole_number(unpacker);
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
  Packer packer;
  packer.number(addresses.index);
  packer.texts(addresses.addresses);
  packer.texts(addresses.hosts);
  return packer.take();
}

Result<WayAddresses> unpack_way_addresses(std::string_view payload) {
  Unpacker unpacker(payload);
  WayAddresses all;
  all.index = whole_number(unpacker);
  unpacker.texts(all.addresses);
  unpacker.texts(all.hosts);
  if (!unpacker.whole() || all.index < 0 || all.addresses.size() != all.hosts.size())
    return Failure{kNonsense};
  return all;
}

std::string pack(const WayOrder& order) {
  Packer packer;
  packer.number(order.index);
  packer.number(static_cast<std::int64_t>(order.other_job));
  packer.text(order.other_name);
  packer.number(order.other_nodes);
  packer.number(order.first);
  packer.number(order.other_first);
  std::string key = bytes_of(order.key);
  packer.text(key);  // last: no buffer that it has been written to grows afterwards and stays behind
  net::wipe(key);
  return packer.take();
}

Result<WayOrder> unpack_way_order(std::string_view payload) {
  Unpacker unpacker(payload);
  WayOrder order;
  order.index = whole_number(unpacker);
  order.other_job = static_cast<std::uint64_t>(unpacker.number());
  order.other_name = unpacker.text();
  order.other_nodes = whole_number(unpacker);
  order.first = whole_number(unpacker);
  order.other_first = whole_number(unpacker);
  std::string key = unpacker.text();
  const bool good = unpacker.whole() && read_key(key, order.key) && order.index > 0 &&
                    order.other_nodes > 0 && order.first >= 0 && order.other_first >= 0;
  net::wipe(key);
  if (!good) return Failure{kNonsense};
  return order;
}

std::string pack(const WayAnswer& answer) {
  Packer packer;
  packer.number(answer.index);
  packer.text(answer.address);
  packer.text(answer.problem);
  return packer.take();
}

Result<WayAnswer> unpack_way_answer(std::string_view payload) {
  Unpacker unpacker(payload);
  WayAnswer answer;
  answer.index = whole_number(unpacker);
  answer.address = unpacker.text();
  answer.problem = unpacker.text();
  if (!unpacker.whole()) return Failure{kNonsense};
  return answer;
}

std::string pack(const WayEnding& ending) {
  Packer packer;
  packer.number(ending.index);
  packer.text(ending.why);
  return packer.take();
}

Result<WayEnding> unpack_way_ending(std::string_view payload) {
  Unpacker unpacker(payload);
  WayEnding ending;
  ending.index = whole_number(unpacker);
  ending.why = unpacker.text();
  if (!unpacker.whole()) return Failure{kNonsense};
  return ending;
}

std::string pack(const LinkCall& call) {
  Packer packer;
  packer.number(call.rank);
  packer.number(call.node);
  packer.text(pack(call.request));
  return packer.take();
}

Result<LinkCall> unpack_link_call(std::string_view payload) {
  Unpacker unpacker(payload);
  LinkCall call;
  call.rank = whole_number(unpacker);
  call.node = whole_number(unpacker);
  Result<PortRequest> request = unpack_port_request(unpacker.text());
  if (!unpacker.whole() || !request || call.rank < 0 || call.node < 0) return Failure{kNonsense};
  call.request = *std::move(request);
  return call;
}

std::string pack(const LinkVerdict& verdict) {
  Packer packer;
  packer.number(verdict.rank);
  packer.number(verdict.request);
  return packer.take();
}

Result<LinkVerdict> unpack_link_verdict(std::string_view payload) {
  Unpacker unpacker(payload);
  LinkVerdict verdict;
  verdict.rank = whole_number(unpacker);
  verdict.request = unpacker.number();
  if (!unpacker.whole() || verdict.rank < 0) return Failure{kNonsense};
  return verdict;
}

}  // namespace tmpi::launch
