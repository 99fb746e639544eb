#include "mpi/remote/remote.hpp"

#include <utility>

#include "mpi/remote/instance.hpp"

namespace tmpi::mpi::remote {
namespace {

bool is_active = false;

Result<void> use(Result<std::unique_ptr<Engine>> made) {
  if (!made) return made.failure();
  detail::g_engine = std::move(*made);
  is_active = true;
  register_remote(remote_table());
  return {};
}

}  // namespace

std::atomic<int> detail::g_expected{0};
std::unique_ptr<Engine> detail::g_engine;

Result<void> begin_with(const net::Options& options, const Settings& settings, Engine::MakeTransport make) {
  return use(Engine::create(options, settings, make));
}

Result<void> begin_for_other_jobs(const Settings& settings) {
  return use(Engine::create_for_other_jobs(settings));
}

Result<void> begin(const net::Options& transport, const Settings& settings) {
  return begin_with(transport, settings, net::create_transport);
}

const std::string& address() {
  return engine()->wire().address();
}

std::string describe() {
  return engine()->wire().describe();
}

int numa_node() {
  return engine()->wire().numa_node();
}

Result<void> connect(std::vector<net::Peer> peers) {
  return engine()->wire().set_peers(std::move(peers));
}

Result<void> take_other_jobs() {
  return engine()->take_other_jobs();
}

bool takes_other_jobs() noexcept {
  return engine() != nullptr && engine()->takes_other_jobs();
}

Result<std::string> prepare_way(const net::Junction::Way& way, const net::Options& options) {
  engine()->wake();
  return engine()->with_junction([&](net::Junction& junction) { return junction.prepare(way, options); });
}

Result<void> join_way(int first_peer, std::vector<net::Peer> peers) {
  return engine()->with_junction(
      [&](net::Junction& junction) { return junction.join(first_peer, std::move(peers)); });
}

void drain_way(int first_peer) noexcept {
  if (takes_other_jobs())
    engine()->with_junction([&](net::Junction& junction) { junction.drain(first_peer); });
}

void part_way(int first_peer) noexcept {
  if (takes_other_jobs())
    engine()->with_junction([&](net::Junction& junction) { junction.part(first_peer); });
}

void on_lost(void (*lost)(int node, const std::string& why) noexcept) {
  engine()->on_lost(lost);
}

bool poll() noexcept {
  return engine() != nullptr && engine()->poll();
}

net::Arming arm(bool patient) noexcept {
  return engine()->arm(patient);
}

const std::atomic<int>& expected() noexcept {
  return detail::g_expected;
}

bool end(double seconds) noexcept {
  const bool complete = engine()->end(seconds);
  is_active = false;
  return complete;
}

bool active() noexcept {
  return is_active;
}

// The engine stays until the process ends: profiles are written late.
Balance balance() noexcept {
  return engine() != nullptr ? engine()->balance() : Balance{};
}

void progress_spins() noexcept {
  engine()->progress_spins();
}

MPI_Count eager_limit() noexcept {
  return engine() != nullptr ? engine()->eager_limits().base() : 0;
}

ProtocolCounters counters() noexcept {
  return engine() != nullptr ? engine()->read_counters() : ProtocolCounters{};
}

}  // namespace tmpi::mpi::remote
