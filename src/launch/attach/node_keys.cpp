#include "launch/attach/node_keys.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <unistd.h>

#include <charconv>

namespace tmpi::launch {
namespace {

constexpr std::string_view kBegin = "tmpi-node-key ";
constexpr std::size_t kLongest = 4096;  // of a line that may still become an announcement

}  // namespace

bool NodeKeys::learn(std::size_t node, const net::PublicKey& key) {
  if (node >= known_.size()) return false;
  if (known_[node]) return *known_[node] == key;
  known_[node] = key;
  return true;
}

std::string announcement(std::size_t node, const net::PublicKey& key) {
  return fmt::format("{}{} {}\n", kBegin, node, net::to_text(key));
}

void AnnouncedKeys::read_more() {
  char buffer[4096];
  const ssize_t got = read(stream_, buffer, sizeof(buffer));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {  // who has started the tasks is gone; others see to that
    finish();
    stream_ = -1;
    return;
  }
  line_.append(buffer, static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end; (end = line_.find('\n', begin)) != std::string::npos; begin = end + 1)
    on_line(std::string_view(line_).substr(begin, end + 1 - begin));
  line_.erase(0, begin);
  if (line_.size() > kLongest) finish();
}

void AnnouncedKeys::on_line(std::string_view line) {
  if (!line.starts_with(kBegin)) return pass_on(line);
  std::string_view rest = line.substr(kBegin.size());
  rest.remove_suffix(1);
  std::size_t node = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), node);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (error != std::errc() || !rest.starts_with(' ')) return pass_on(line);
  const Result<net::PublicKey> key = net::public_key_from_text(rest.substr(1));
  if (!key || !learn(node, *key)) pass_on(line);
}

void AnnouncedKeys::finish() {
  pass_on(line_);
  line_.clear();
}

void AnnouncedKeys::pass_on(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t done = write(others_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;  // nobody reads it
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace tmpi::launch
