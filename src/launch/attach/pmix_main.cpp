// tmpi-pmix's main: what tmpi-node becomes when a PMIx server has started it (mpirun of Open MPI, prterun,
// srun --mpi=pmix). PMIx is used for what it does best, to let processes find each other: process 0 opens a
// port, the others connect to it, and then process 0 becomes tmpirun and every other one a node process of
// its job (attachment.hpp). From there on the job is one of tmpirun's like any other, with its messages, exit
// codes, state dumps and deadlock reports; the PMIx server sees processes that end, process 0 with the job's
// code.
#include <fmt/core.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "launch/attach/attach_port.hpp"
#include "launch/attach/attach_target.hpp"
#include "launch/attach/attachment.hpp"
#include "launch/attach/exec.hpp"
#include "launch/attach/pmix_client.hpp"
#include "launch/system/affinity.hpp"
#include "launch/system/program_path.hpp"
#include "launch/wire/hello.hpp"

namespace tmpi::launch {
namespace {

constexpr double kConnectTime = 30;  // seconds; all processes are there already
constexpr double kGatherTime = 35;   // more: who cannot connect says why
constexpr const char* kCardKey = "tmpi.card";
constexpr const char* kTargetKey = "tmpi.target";

// What each process tells the others (in MPI's history its business card).
struct Card {
  std::string host;
  std::string machine;
  std::string mask;
  int cores = 1;
  std::string key;  // its public key, of process 0: any text
};

std::string to_text(const Card& card) {
  return fmt::format("{} {} {} {} {}", card.host, card.machine, card.mask, card.cores, card.key);
}

Card card_from_text(const std::string& text) {
  Card card;
  std::istringstream(text) >> card.host >> card.machine >> card.mask >> card.cores >> card.key;
  return card;
}

// Launchers tend to bind a process to one core, which is not what is wanted of a node process.
void warn_of_narrow_binding(const PmixClient& client, const Card& card, const Affinity& affinity) {
  if (client.rank() != 0 || affinity.processors * client.local_size() >= affinity.all_processors) return;
  fmt::print(stderr,
             "tmpirun: warning: the launcher lets the node process{} on host {} use {} of {} processors; if "
             "that is not intended, tell it not to bind processes to cores (mpirun --bind-to none, srun "
             "--cpu-bind=none --cpus-per-task=N)\n",
             client.local_size() > 1 ? "es" : "", card.host, affinity.processors * client.local_size(),
             affinity.all_processors);
}

// Cores of the node process, which may share them with others on its machine.
std::vector<AttachedNode> nodes_of(const std::vector<Card>& cards) {
  std::vector<AttachedNode> nodes;
  for (const Card& card : cards) {
    const auto sharers = std::ranges::count_if(
        cards, [&](const Card& other) { return other.machine == card.machine && other.mask == card.mask; });
    nodes.push_back({card.host, -1, std::max(1, card.cores / static_cast<int>(sharers))});
  }
  return nodes;
}

Result<void> gather_nodes(const AttachPort& port, const std::vector<Card>& cards,
                          std::vector<AttachedNode>& nodes) {
  NodeKeys keys(nodes.size());
  for (std::size_t node = 1; node < nodes.size(); ++node) {
    const Result<net::PublicKey> key = net::public_key_from_text(cards[node].key);
    if (!key) return Failure{fmt::format("the card of process {} is cut short: {}", node, key.message())};
    keys.learn(node, *key);
  }
  std::vector<Fd> channels(nodes.size());
  const auto outcome = port.gather(channels, 1, keys, -1, kGatherTime);
  for (std::size_t node = 1; node < nodes.size(); ++node) {
    nodes[node].channel = channels[node].release();  // open across exec
    if (outcome != AttachPort::Outcome::kComplete && nodes[node].channel < 0) {
      return Failure{fmt::format(
          "node process {} on host {} has not connected to port {} of host {} within {} seconds. Is there a "
          "network between the two hosts, and does a firewall let TCP connections between them pass?",
          node, nodes[node].host, port.target().port, nodes[0].host, kGatherTime)};
    }
  }
  return {};
}

Result<std::vector<Card>> collect_cards(const PmixClient& client) {
  std::vector<Card> cards;
  for (int rank = 0; rank < client.size(); ++rank) {
    const Result<std::string> text = client.get(rank, kCardKey);
    if (!text) return text.failure();
    cards.push_back(card_from_text(*text));
  }
  return cards;
}

// Process 0. Returns only on failure.
Result<void> lead(const PmixClient& client, const AttachPort& port, char** argv) {
  const Result<std::vector<Card>> cards = collect_cards(client);
  if (!cards) return cards.failure();
  Attachment attachment;
  attachment.nodes = nodes_of(*cards);
  if (Result<void> gathered = gather_nodes(port, *cards, attachment.nodes); !gathered) return gathered;
  client.finish();
  return exec_tmpirun(std::move(attachment), port.key(), argv);
}

// Every other process. Returns only on failure.
Result<void> follow(const PmixClient& client, const net::KeyPair& pair) {
  const Result<std::string> text = client.get(0, kTargetKey);
  if (!text) return text.failure();
  const Result<AttachTarget> target = target_from_text(*text);
  if (!target) return target.failure();
  const Result<Attached> attached = attach(*target, pair, client.rank(), kConnectTime);
  if (!attached) return attached.failure();
  client.finish();
  return exec_node(attached->channel.get(), attached->key, client.rank());
}

Result<void> take_part(const PmixClient& client, char** argv) {
  const Hello hello = own_hello();
  const Affinity affinity = own_affinity();
  const Result<net::KeyPair> pair = net::KeyPair::draw();
  if (!pair) return pair.failure();
  const Card card{hello.host, hello.machine, affinity.mask, affinity.cores, net::to_text(pair->public_key())};
  warn_of_narrow_binding(client, card, affinity);
  if (Result<void> stored = client.put(kCardKey, to_text(card)); !stored) return stored;
  if (client.rank() != 0) {
    if (Result<void> together = client.fence(); !together) return together;
    return follow(client, *pair);
  }
  Result<AttachPort> port = AttachPort::open(
      client.local_size() == client.size() ? AttachPort::Reach::kThisMachine : AttachPort::Reach::kAnywhere);
  if (!port) return port.failure();
  if (Result<void> stored = client.put(kTargetKey, to_text(port->target())); !stored) return stored;
  if (Result<void> together = client.fence(); !together) return together;
  return lead(client, *port, argv);
}

int main(int, char** argv) {
  const Result<PmixClient> client = PmixClient::connect();
  if (!client) {
    fmt::print(stderr, "tmpi-node: {}\n", client.message());
    return 1;
  }
  const Result<void> failed = take_part(*client, argv);
  fmt::print(stderr, "tmpi-node: {}\n", failed.message());
  client->abort(1, failed.message());
  fflush(nullptr);
  _exit(1);  // no destructors of libraries that wait for the server
}

}  // namespace
}  // namespace tmpi::launch

int main(int argc, char** argv) {
  return tmpi::launch::main(argc, argv);
}
