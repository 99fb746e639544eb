#include "mpi/testing/flaky.hpp"

#include <deque>
#include <random>
#include <utility>

namespace tmpi::mpi::testing {
namespace {

class Flaky final : public net::Transport {
 public:
  Flaky(std::unique_ptr<net::Transport> inner, int seed)
      : inner_(std::move(inner)), limits_(inner_->limits()), random_(static_cast<unsigned>(seed)) {
    limits_.segment = 100'000;
    limits_.most_buffered = 4'000;
  }

  const net::Limits& limits() const noexcept override { return limits_; }
  std::string describe() const override { return "flaky " + inner_->describe(); }
  const std::string& address() const noexcept override { return inner_->address(); }
  Result<void> set_peers(std::vector<net::Peer> peers) override {
    return inner_->set_peers(std::move(peers));
  }

  net::Post send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                 net::Completion* completion) noexcept override {
    if (random_() % 3 == 0) return net::Post::kNoResource;
    Entry entry;
    entry.peer = peer;
    entry.id = id;
    entry.header.assign(header.begin(), header.end());
    std::size_t bytes = 0;
    for (const iovec& piece : payload) bytes += piece.iov_len;
    if (bytes > limits_.most_buffered && completion == nullptr) std::abort();
    const bool borrow = completion != nullptr && bytes > limits_.most_buffered;
    for (const iovec& piece : payload) {
      const auto* first = static_cast<const std::byte*>(piece.iov_base);
      if (borrow)
        entry.borrowed = {first, piece.iov_len};
      else
        entry.data.insert(entry.data.end(), first, first + piece.iov_len);
    }
    if (borrow) entry.completion = completion;
    entries_.push_back(std::move(entry));
    return borrow ? net::Post::kInProgress : net::Post::kDone;
  }

  Result<net::RemoteKey> expose(int peer, const void* buffer, std::size_t bytes) override {
    return inner_->expose(peer, buffer, bytes);
  }
  void conceal(const net::RemoteKey& key) noexcept override { inner_->conceal(key); }
  net::Post get(int peer, const net::RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
                net::Completion* completion) noexcept override {
    if (random_() % 3 == 0) return net::Post::kNoResource;
    return inner_->get(peer, key, remote, buffer, bytes, completion);
  }

  bool poll() noexcept override {
    if (random_() % 4 == 0) return false;
    bool progress = inner_->poll();
    for (auto n = random_() % 8; n > 0 && !entries_.empty() && post_first(); --n) progress = true;
    return progress;
  }
  net::Arming arm(bool) noexcept override { return {.ready = true}; }
  bool idle() const noexcept override { return entries_.empty() && inner_->idle(); }
  bool close(double seconds) noexcept override {
    while (!entries_.empty()) (void)poll();
    return inner_->close(seconds);
  }
  Traffic traffic() const noexcept override { return inner_->traffic(); }

 private:
  struct Entry {
    int peer = 0;
    std::uint8_t id = 0;
    std::vector<std::byte> header, data;
    std::span<const std::byte> borrowed;
    net::Completion* completion = nullptr;
  };
  struct Gone : net::Completion {
    std::vector<std::byte> data;
  };

  // False: the real transport has no resources.
  bool post_first() noexcept {
    Entry& first = entries_.front();
    if (first.completion != nullptr) first.data.assign(first.borrowed.begin(), first.borrowed.end());
    auto gone = std::make_unique<Gone>();
    gone->data = first.data;
    gone->done = [](net::Completion& self) noexcept { delete &static_cast<Gone&>(self); };
    const iovec payload{gone->data.data(), gone->data.size()};
    const net::Post result = inner_->send(first.peer, first.id, first.header,
                                          {&payload, payload.iov_len > 0 ? std::size_t{1} : 0}, gone.get());
    if (result == net::Post::kNoResource) return false;
    if (result == net::Post::kInProgress) (void)gone.release();
    net::Completion* const completion = first.completion;
    entries_.pop_front();
    if (completion != nullptr) completion->done(*completion);
    return true;
  }

  std::unique_ptr<net::Transport> inner_;
  net::Limits limits_;
  std::mt19937 random_;
  std::deque<Entry> entries_;
};

}  // namespace

Result<std::unique_ptr<net::Transport>> make_flaky(const net::Options& options, net::Sink& sink) {
  auto inner = net::create_transport(options, sink);
  if (!inner) return inner.failure();
  return std::unique_ptr<net::Transport>(new Flaky(std::move(*inner), options.node));
}

}  // namespace tmpi::mpi::testing
