#include "launch/spec/node_spec.hpp"

#include <algorithm>
#include <cstring>

#include "launch/wire/frames.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kCutShort =
    "the job description from tmpirun is cut short: tmpirun and tmpi-node differ in version";

/// Neighbouring ranks on the same node process; blocks make few of them.
struct Run {
  std::int32_t node;
  std::int32_t count;
};

void pack_placement(Packer& packer, const std::vector<int>& node_of) {
  std::string runs;
  for (std::size_t begin = 0; begin < node_of.size();) {
    std::size_t end = begin;
    while (end < node_of.size() && node_of[end] == node_of[begin]) ++end;
    append_record(runs, Run{node_of[begin], static_cast<std::int32_t>(end - begin)});
    begin = end;
  }
  packer.text(runs);
}

// False: it does not fit the job.
bool unpack_placement(Unpacker& unpacker, std::vector<int>& node_of, int ranks, int nodes) {
  const std::string text = unpacker.text();
  std::string_view runs = text;
  for (Run run{}; read_record(runs, run);) {
    const auto room = static_cast<std::int64_t>(ranks) - static_cast<std::int64_t>(node_of.size());
    if (run.node < 0 || run.node >= nodes || run.count < 0 || run.count > room) return false;
    node_of.insert(node_of.end(), static_cast<std::size_t>(run.count), run.node);
  }
  return node_of.empty() || node_of.size() == static_cast<std::size_t>(ranks);
}

std::string pack_node(const NodeSpec& node) {
  Packer packer;
  packer.number(node.node);
  packer.texts(node.hosts);
  pack_placement(packer, node.node_of);
  packer.number(node.share);
  packer.number(node.sharers);
  packer.number(node.same_machine);
  packer.number(static_cast<std::int64_t>(node.job));
  packer.number(static_cast<std::int64_t>(node.ports));
  packer.number(node.remote);
  packer.text(node.directory);
  packer.texts(node.environment);
  // Last: no buffer that it has been written to grows afterwards and stays behind.
  packer.text(
      std::string_view(reinterpret_cast<const char*>(node.secret.bytes.data()), node.secret.bytes.size()));
  return packer.take();
}

Result<NodeSpec> unpack_node(std::string_view payload, int ranks) {
  Unpacker unpacker(payload);
  NodeSpec node;
  node.hosts.clear();
  node.node = static_cast<int>(unpacker.number());
  unpacker.texts(node.hosts);
  const bool placed = unpack_placement(unpacker, node.node_of, ranks, node.nodes());
  node.share = static_cast<int>(unpacker.number());
  node.sharers = static_cast<int>(unpacker.number());
  node.same_machine = unpacker.number() != 0;
  node.job = static_cast<std::uint64_t>(unpacker.number());
  node.ports = static_cast<std::uint64_t>(unpacker.number());
  node.remote = unpacker.number() != 0;
  node.directory = unpacker.text();
  unpacker.texts(node.environment);
  std::string secret = unpacker.text();
  const bool sensible = placed && secret.size() == node.secret.bytes.size() && node.node >= 0 &&
                        node.node < node.nodes() && node.share >= 0 && node.share < node.sharers;
  const bool good = unpacker.ok() && sensible;
  if (good) std::memcpy(node.secret.bytes.data(), secret.data(), secret.size());
  net::wipe(secret);
  if (!good) return Failure{kCutShort};
  return node;
}

}  // namespace

std::string pack(const Assignment& assignment) {
  Packer packer;
  packer.text(pack(assignment.job));
  std::string node = pack_node(assignment.node);
  packer.text(node);  // last, as the secret in it
  net::wipe(node);
  return packer.take();
}

Result<Assignment> unpack_assignment(std::string_view payload) {
  Unpacker unpacker(payload);
  const std::string job_bytes = unpacker.text();
  std::string node_bytes = unpacker.text();
  if (!unpacker.ok()) return Failure{kCutShort};
  Result<JobSpec> job = unpack_job(job_bytes);
  if (!job) {
    net::wipe(node_bytes);
    return job.failure();
  }
  Result<NodeSpec> node = unpack_node(node_bytes, job->total_ranks());
  net::wipe(node_bytes);
  if (!node) return node.failure();
  return Assignment{*std::move(job), *std::move(node)};
}

}  // namespace tmpi::launch
