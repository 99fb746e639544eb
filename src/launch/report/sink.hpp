// Sink: one of tmpirun's own output descriptors, written without ever blocking, so that a stuck terminal or
// pipe does not keep tmpirun from handling signals. The descriptor's flags are left alone (it is shared with
// whoever started tmpirun).
#pragma once

#include <string>
#include <string_view>

namespace tmpi::launch {

class Sink {
 public:
  explicit Sink(int fd);

  void append(std::string_view bytes) { pending_.append(bytes); }

  /// Writes what the descriptor takes at once. Afterwards pending() says what is left.
  void flush();

  int fd() const { return fd_; }
  std::size_t pending() const { return pending_.size() - written_; }
  bool is_terminal() const { return terminal_; }
  /// The reader has gone (| head) or the file cannot be written; whatever is appended is dropped.
  bool broken() const { return error_ != 0; }
  int error() const { return error_; }  ///< errno of the failed write, 0: none

 private:
  bool writable() const;

  int fd_;
  bool terminal_;
  bool regular_file_;
  int error_ = 0;
  std::string pending_;
  std::size_t written_ = 0;  // bytes of pending_ that are out
};

}  // namespace tmpi::launch
