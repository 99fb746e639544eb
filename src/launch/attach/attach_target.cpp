#include "launch/attach/attach_target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <sstream>

#include "launch/attach/attach_socket.hpp"
#include "launch/wire/hello.hpp"
#include "net/handshake_io.hpp"
#include "net/tcp/endpoint.hpp"
#include "net/tcp/socket.hpp"

namespace tmpi::launch {
namespace {

using Clock = std::chrono::steady_clock;

// One address that is being tried.
struct Attempt {
  std::string address;
  Fd fd;  // none: it has failed
  bool connected = false;
  net::Handshake handshake;
  std::string problem;

  void fail(std::string why) {
    problem = std::move(why);
    fd.reset();
  }
};

Attempt begin(const std::string& address, std::uint16_t port, const net::Identity& self) {
  std::optional<net::tcp::Endpoint> endpoint = net::tcp::address_from_text(address);
  int error = EADDRNOTAVAIL;
  Fd fd;
  if (endpoint) {
    endpoint->set_port(port);
    fd = net::tcp::connect_to(*endpoint, error);
  }
  std::string problem = fd ? "" : strerror(error);
  return {address, std::move(fd), false, net::Handshake::initiate(self, net::kLauncherNode),
          std::move(problem)};
}

void go_on(Attempt& attempt) {
  if (!attempt.connected) {
    const int error = net::tcp::connect_state(attempt.fd.get());
    if (error == EINPROGRESS) return;
    if (error != 0) return attempt.fail(strerror(error));
    attempt.connected = true;
  }
  net::pump(attempt.fd.get(), attempt.handshake);
  if (attempt.handshake.state() == net::Handshake::State::kRefused) attempt.fail(attempt.handshake.message());
}

bool won(const Attempt& attempt) {
  return attempt.fd && attempt.handshake.state() == net::Handshake::State::kAccepted &&
         attempt.handshake.to_send().empty();
}

// Waits for any of the attempts, and goes on with those that are ready. False: none is left, or it is late.
bool advance(std::vector<Attempt>& attempts, Clock::time_point deadline) {
  std::vector<pollfd> requests;
  bool any = false;
  for (const Attempt& attempt : attempts) {
    const bool sending = !attempt.connected || !attempt.handshake.to_send().empty();
    requests.push_back({attempt.fd.get(), static_cast<short>(sending ? POLLOUT : POLLIN), 0});
    any |= static_cast<bool>(attempt.fd);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (!any || left <= 0) return false;
  if (poll(requests.data(), requests.size(), static_cast<int>(left)) < 0) return errno == EINTR;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (requests[i].revents != 0) go_on(attempts[i]);
  }
  return true;
}

// What the AttachPort sends behind the handshake, and no byte more.
Result<net::JobKey> receive_key(int fd, const net::Secret& delivery, Clock::time_point deadline) {
  net::SealedKey sealed;
  for (std::size_t filled = 0; filled < sealed.size();) {
    const ssize_t got = recv(fd, sealed.data() + filled, sealed.size() - filled, MSG_DONTWAIT);
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
      continue;
    }
    const bool later = got < 0 && (errno == EAGAIN || errno == EINTR);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd request{fd, POLLIN, 0};
    if (!later || left <= 0 || (poll(&request, 1, static_cast<int>(left)) < 0 && errno != EINTR))
      return Failure{"tmpirun has accepted the connection, but the job's key has not come; has it ended?"};
  }
  return net::unseal(sealed, delivery);
}

std::string tried(const std::vector<Attempt>& attempts) {
  std::vector<std::string> parts;
  parts.reserve(attempts.size());
  for (const Attempt& attempt : attempts) {
    parts.push_back(fmt::format("{} ({})", attempt.address, attempt.fd ? "no answer" : attempt.problem));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string to_text(const AttachTarget& target) {
  return fmt::format("{:x} {} {} {} {}", target.job, net::to_text(target.key), target.port, target.network,
                     fmt::join(target.addresses, " "));
}

Result<AttachTarget> target_from_text(std::string_view text) {
  AttachTarget target;
  std::istringstream words{std::string(text)};
  std::string key;
  words >> std::hex >> target.job >> key >> std::dec >> target.port >> target.network;
  if (!words) return Failure{"it is cut short"};
  const Result<net::PublicKey> known = net::public_key_from_text(key);
  if (!known) return known.failure();
  target.key = *known;
  for (std::string address; words >> address;) target.addresses.push_back(address);
  if (target.addresses.empty()) return Failure{"it is cut short"};
  return target;
}

std::vector<std::string> addresses_from(const AttachTarget& target, std::string_view network) {
  std::vector<std::string> all;
  for (const std::string& text : target.addresses) {
    const std::optional<net::tcp::Endpoint> address = net::tcp::address_from_text(text);
    if (address && address->is_loopback() == (target.network == network)) all.push_back(text);
  }
  return all;
}

Result<Attached> attach(const AttachTarget& target, const net::KeyPair& own, int node, double seconds) {
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const Result<net::SharedSecrets> shared = own.share_with_launcher(target.key);
  if (!shared) return shared.failure();
  net::Identity self;
  self.node = node;
  self.role = net::Role::kControl;
  self.job = target.job;
  self.secret = shared->handshake;
  const Hello here = own_hello();
  self.host = here.host;
  std::vector<Attempt> attempts;
  const std::vector<std::string> addresses = addresses_from(target, here.network);
  if (addresses.empty())
    return Failure{fmt::format("tmpirun's machine has no address that this one could reach; it has {}",
                               fmt::join(target.addresses, ", "))};
  attempts.reserve(addresses.size());
  for (const std::string& address : addresses) attempts.push_back(begin(address, target.port, self));
  auto winner = attempts.end();
  do {
    winner = std::ranges::find_if(attempts, won);
  } while (winner == attempts.end() && advance(attempts, deadline));
  if (winner != attempts.end()) {
    Result<net::JobKey> key = receive_key(winner->fd.get(), shared->delivery, deadline);
    if (!key) return key.failure();
    tune_channel(winner->fd.get());
    return Attached{std::move(winner->fd), *std::move(key)};
  }
  return Failure{fmt::format(
      "cannot reach tmpirun at port {} of {}. Is there a network between the two hosts, and does a firewall "
      "let TCP connections between them pass?",
      target.port, tried(attempts))};
}

}  // namespace tmpi::launch
