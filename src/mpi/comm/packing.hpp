// Packing: what members bring to the making of a communicator, as bytes for the other node processes. All of
// them run the same build on the same kind of machine, which the handshake between them makes sure of, so
// values travel as they lie in memory. Internal to comm/.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "mpi/comm/group.hpp"

namespace tmpi::mpi {

class Packer {
 public:
  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    append(&value, sizeof value);
  }
  void values(const std::vector<int>& values);
  void text(const std::string& text);
  /// May be null. One that equals the group packed last costs a few bytes. Other jobs understand it.
  void group(const std::shared_ptr<const Group>& group);
  /// The same in all processes of all its members, whatever else they are connected with: a name for it.
  void name_of_group(const std::shared_ptr<const Group>& group);

  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  void append(const void* data, std::size_t size);
  void ranks_here(const Group& group);
  void ranks_by_job(const Group& group);
  std::vector<std::byte> bytes_;
  std::shared_ptr<const Group> last_;
};

/// Takes out in the same order. The bytes stay the caller's.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class T>
  T value() {
    T value;
    take(&value, sizeof value);
    return value;
  }
  std::vector<int> values();
  std::string text();
  /// Null, too, if it has ranks of a job that this one is not connected with; then all_known() is false from now on.
  std::shared_ptr<const Group> group();
  bool all_known() const noexcept { return all_known_; }

 private:
  void take(void* data, std::size_t size);
  std::span<const std::byte> rest_;
  std::shared_ptr<const Group> last_;
  bool all_known_ = true;
};

}  // namespace tmpi::mpi
