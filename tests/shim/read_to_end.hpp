// What a child process says through a pipe, in however many pieces.
#pragma once

#include <unistd.h>

#include <string>

/// Until the last copy of the pipe's other end is closed.
inline std::string read_to_end(int fd) {
  std::string text;
  char piece[512];
  for (ssize_t length; (length = read(fd, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(length));
  return text;
}
