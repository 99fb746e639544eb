#include "launch/spec/node_spec.hpp"

#include <algorithm>
#include <cstring>

#include "launch/wire/fields.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kCutShort =
    "the job description from tmpirun is cut short: tmpirun and tmpi-node differ in version";

/// Neighbouring ranks on the same node process; blocks make few of them.
struct Run {
  std::int32_t node;
  std::int32_t count;
};

std::string placement_of(const std::vector<int>& node_of) {
  std::string runs;
  for (std::size_t begin = 0; begin < node_of.size();) {
    std::size_t end = begin;
    while (end < node_of.size() && node_of[end] == node_of[begin]) ++end;
    append_record(runs, Run{node_of[begin], static_cast<std::int32_t>(end - begin)});
    begin = end;
  }
  return runs;
}

// False: it does not fit the job.
bool read_placement(std::string_view runs, std::vector<int>& node_of, int ranks, int nodes) {
  for (Run run{}; read_record(runs, run);) {
    const auto room = static_cast<std::int64_t>(ranks) - static_cast<std::int64_t>(node_of.size());
    if (run.node < 0 || run.node >= nodes || run.count < 0 || run.count > room) return false;
    node_of.insert(node_of.end(), static_cast<std::size_t>(run.count), run.node);
  }
  return node_of.empty() || node_of.size() == static_cast<std::size_t>(ranks);
}

// All but the secret.
void fields(auto& archive, Of<NodeSpec> auto& node, auto& placement) {
  archive(node.node, node.hosts, placement, node.share, node.sharers, node.same_machine, node.universe,
          node.launcher, node.job, node.ports, node.remote, node.directory, node.environment);
}

std::string pack_node(const NodeSpec& node) {
  Packer packer;
  FieldWriter writer(packer);
  const std::string placement = placement_of(node.node_of);
  fields(writer, node, placement);
  // Last: no buffer that it has been written to grows afterwards and stays behind.
  packer.text(
      std::string_view(reinterpret_cast<const char*>(node.secret.bytes.data()), node.secret.bytes.size()));
  return packer.take();
}

Result<NodeSpec> unpack_node(std::string_view payload, int ranks) {
  Unpacker unpacker(payload);
  FieldReader reader(unpacker);
  NodeSpec node;
  std::string placement;
  fields(reader, node, placement);
  std::string secret = unpacker.text();
  const bool sensible = read_placement(placement, node.node_of, ranks, node.nodes()) &&
                        secret.size() == node.secret.bytes.size() && node.node >= 0 &&
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
