#include "launch/launcher/job_start.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launch/launcher/mpir.hpp"
#include "launch/spec/node_spec.hpp"
#include "launch/system/version.hpp"

extern char** environ;

namespace tmpi::launch {
namespace {

std::vector<std::string> own_environment() {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry != nullptr; ++entry) lines.emplace_back(*entry);
  return lines;
}

// How the node process differs from this tmpirun; empty: not at all.
std::string difference(const Hello& hello) {
  if (hello.wire_version != kWireVersion) {
    return fmt::format("speaks version {} of the control protocol, tmpirun speaks {}", hello.wire_version,
                       kWireVersion);
  }
  if (!hello.version.empty() && hello.version != kVersion)
    return fmt::format("is of tmpi {}, tmpirun of tmpi {}", hello.version, kVersion);
  return {};
}

}  // namespace

void JobStart::begin() {
  // Under a debugger ranks do not run before it has been shown where.
  if (!plan_.any_remote() && !mpir::being_debugged()) send_jobs();
}

// With node processes elsewhere, only their hellos tell which machines they are on.
void JobStart::on_hello(Node& node, const Frame& frame) {
  node.hello = unpack_hello(frame.payload);
  if (const std::string differs = difference(*node.hello); !differs.empty()) {
    end_.because(
        JobEnd::Cause::kProtocol, 1,
        fmt::format("tmpi-node on host {} {}; install the same tmpi for both", node.host(), differs));
    return end_.kill_nodes();
  }
  if (nodes_.any([](const Node& other) { return !other.hello; })) return;
  mpir::publish(plan_, nodes_, settings_.job);
  if (!jobs_sent_) send_jobs();
}

// Node processes that others have started have the key already, and share it with tmpirun (attachment.hpp).
bool JobStart::key_of_job(net::JobKey& key) {
  if (plan_.key) {
    key = *plan_.key;
    return true;
  }
  Result<net::JobKey> drawn = net::JobKey::draw();
  if (drawn) {
    key = *std::move(drawn);
    return true;
  }
  end_.because(
      JobEnd::Cause::kStartFailed, 1,
      fmt::format("cannot draw the key of the connections between node processes: {}", drawn.message()));
  end_.kill_nodes();
  return false;
}

void JobStart::send_jobs() {
  jobs_sent_ = true;
  Assignment assignment{settings_.job, {}};
  NodeSpec& spec = assignment.node;
  net::JobKey key;
  if (nodes_.several()) {
    if (!key_of_job(key)) return;
    spec.job = key.job;
    spec.node_of = plan_.node_of;
  }
  spec.hosts.clear();
  std::map<std::string, int> sharers;  // by machine
  std::vector<std::string> machines;
  for (const auto& node : nodes_) {
    spec.hosts.push_back(node->host());
    machines.push_back(plan_.any_remote() ? node->hello->machine + " " + node->hello->cores : "");
    ++sharers[machines.back()];
    if (!plan_.any_remote()) continue;
    spec.same_machine &= node->hello->network == nodes_[0].hello->network;
    // All take the same; on one machine they find out themselves.
    if (assignment.job.net == "auto" && !node->hello->no_verbs.empty()) assignment.job.net = "tcp";
  }
  spec.ports = plan_.ports;
  spec.universe = plan_.universe;
  std::error_code unknown;
  spec.directory = std::filesystem::current_path(unknown).string();
  std::map<std::string, int> shares;
  for (const auto& node : nodes_) {
    const std::string& machine = machines[static_cast<std::size_t>(node->number())];
    const bool adopted = node->process().adopted();
    spec.node = node->number();
    spec.share = shares[machine]++;
    spec.sharers = sharers[machine];
    spec.remote = node->remote();
    spec.launcher = node->remote() ? 0 : getpid();
    spec.secret = adopted ? net::Secret() : key.secret;  // an adopted one has it
    const bool has_none = node->remote() && !adopted;    // of what tmpirun was started with
    spec.environment = has_none ? own_environment() : std::vector<std::string>{};
    std::string payload = pack(assignment);
    node->send(FrameType::kJob, 0, payload);
    net::wipe(payload);
  }
  if (plan_.any_remote()) heartbeat_.begin();
}

void JobStart::on_address(Node& node, const Frame& frame) {
  if (node.address) return;
  node.address = std::string(frame.payload);
  workers_ += std::max(frame.header.rank, 0);
  if (++addresses_ < nodes_.planned()) return;
  Packer packer;
  packer.number(nodes_.planned());
  for (const auto& other : nodes_) {
    packer.text(*other->address);
    packer.text(other->host());
  }
  packer.number(workers_);
  for (const auto& other : nodes_) other->send(FrameType::kAddresses, 0, packer.bytes());
}

}  // namespace tmpi::launch
