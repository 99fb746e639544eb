// NodeKeys: the public keys of node processes that somebody else has started, as the starter brings them to the
// AttachPort: all at once from a PMIx server's store, or one by one in what srun's tasks print.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "net/key_agreement.hpp"

namespace tmpi::launch {

class NodeKeys {
 public:
  explicit NodeKeys(std::size_t nodes) : known_(nodes) {}
  NodeKeys(const NodeKeys&) = delete;
  NodeKeys& operator=(const NodeKeys&) = delete;
  virtual ~NodeKeys() = default;

  /// Of node process `node`; null: it has not come yet.
  const net::PublicKey* of(std::size_t node) const {
    return node < known_.size() && known_[node] ? &*known_[node] : nullptr;
  }
  /// The first one for a node process counts. False: there is no such node process, or it has another one already.
  bool learn(std::size_t node, const net::PublicKey& key);

  /// Readable when more of them have come; -1: no more will.
  virtual int descriptor() const { return -1; }
  /// It is readable.
  virtual void read_more() {}

 private:
  std::vector<std::optional<net::PublicKey>> known_;
};

/// A task's own key as a line that it prints, with the line's end.
std::string announcement(std::size_t node, const net::PublicKey& key);

/// The keys in a stream of lines, among other lines.
class AnnouncedKeys : public NodeKeys {
 public:
  /// `stream`: a descriptor that stays the caller's. What comes there and is no announcement is written to `others`
  /// as it is.
  AnnouncedKeys(std::size_t nodes, int stream, int others)
      : NodeKeys(nodes), stream_(stream), others_(others) {}

  int descriptor() const override { return stream_; }
  void read_more() override;
  /// Writes what has come of a line that has no end yet to `others`: no more is read here.
  void finish();

 private:
  void on_line(std::string_view line);
  void pass_on(std::string_view bytes) const;

  int stream_;
  int others_;
  std::string line_;
};

}  // namespace tmpi::launch
