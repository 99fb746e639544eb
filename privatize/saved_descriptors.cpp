#include "privatize/saved_descriptors.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "privatize/descriptor_numbers.hpp"
#include "privatize/descriptor_owners.hpp"
#include "privatize/rank_saved_state.hpp"

namespace tmpi::privatize {
namespace {

/// What F_GETFL tells of how a file was opened, and open(2) takes.
constexpr int kOpenFlags = O_ACCMODE | O_APPEND | O_NONBLOCK | O_SYNC | O_DIRECT | O_NOATIME | O_PATH;

struct Place {
  int fd = -1;
  int stream = -1;               // of the launcher: 0 to 2; -1: it leads to a file
  int same_as = -1;              // another that has the same offset
  int of_number = 0, flags = 0;  // FD_CLOEXEC; kOpenFlags
  off_t offset = -1, size = 0;   // offset -1: it has none
};

std::string file_behind(int fd) {
  std::array<char, PATH_MAX> path;
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "?";
}

/// 0 to 2: the descriptor is a copy of that stream of the launcher's.
int stream_behind(int rank, int fd) {
  using Stream = int (*)(int);
  static_assert(sizeof(Stream) == sizeof(void*));
  return reinterpret_cast<Stream>(const_cast<void*>(function_of(rank, "tmpi_shim_stream_behind")))(fd);
}

std::string why_not(int rank, int fd) {
  struct stat status {
  }, named{};
  if (fstat(fd, &status) != 0) return "cannot be looked at";
  const bool of_launcher = stream_behind(rank, fd) >= 0;
  if (!of_launcher && !can_be_opened_again(status)) return "is no regular file";
  if (!of_launcher && status.st_nlink == 0) return "has been deleted";
  if (!of_launcher && (stat(file_behind(fd).c_str(), &named) != 0 || named.st_dev != status.st_dev ||
                       named.st_ino != status.st_ino))
    return "has another name now";
  if (!is_own_number(fd, rank))
    return "has a number that others may have elsewhere: chosen by dup2, or the limit on descriptors (ulimit "
           "-n) left "
           "no other";
  return "";
}

/// Two descriptors of regular files: whether what moves one moves the other.
bool share_offset(const Place& one, const Place& other) noexcept {
  if (one.offset < 0 || one.offset != other.offset) return false;
  const bool moved = lseek(one.fd, one.offset + 1, SEEK_SET) >= 0;
  const bool both = moved && lseek(other.fd, 0, SEEK_CUR) != other.offset;
  lseek(one.fd, one.offset, SEEK_SET);
  return both;
}

Place place_of(int rank, int fd) {
  Place place{.fd = fd, .stream = stream_behind(rank, fd), .of_number = fcntl(fd, F_GETFD)};
  struct stat status {};
  if (place.stream >= 0 || fstat(fd, &status) != 0) return place;
  place.flags = fcntl(fd, F_GETFL) & kOpenFlags;
  place.size = status.st_size;
  if (S_ISREG(status.st_mode)) place.offset = lseek(fd, 0, SEEK_CUR);  // none with O_PATH
  return place;
}

std::string what_went_wrong(const std::string& path) {
  return path + ", which it has open: " + std::strerror(errno);
}

/// A descriptor for `place`, whatever number it has. Failure: why not.
Result<int> open_again(const Place& place, const std::string& path) {
  const int copied = place.stream >= 0 ? place.stream : place.same_as;
  if (copied >= 0) {
    const int made = fcntl(copied, F_DUPFD_CLOEXEC, 0);
    return made >= 0 ? Result<int>(made) : Failure{what_went_wrong(path)};
  }
  // Not blocking: by now it may be a pipe with nobody at the other end.
  const int made = open(path.c_str(), place.flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  struct stat status {};
  if (made < 0 || fstat(made, &status) != 0) return Failure{what_went_wrong(path)};
  const bool cut = place.offset <= place.size && place.offset > status.st_size && S_ISREG(status.st_mode);
  if (!cut && can_be_opened_again(status) && fcntl(made, F_SETFL, place.flags) == 0 &&
      (place.offset < 0 || lseek(made, place.offset, SEEK_SET) == place.offset))
    return made;
  close(made);
  return Failure{path + ", which it has open, is " +
                 (cut ? "shorter than it was when the rank was saved" : "another file now")};
}

}  // namespace

std::string why_descriptors_not_saved(int rank) {
  for (int fd = 3; fd <= last_descriptor(); ++fd) {
    if (!is_own_descriptor(fd)) continue;
    const std::string why = why_not(rank, fd);
    if (!why.empty())
      return "has descriptor " + std::to_string(fd) + " open (" + file_behind(fd) + "), which " + why;
  }
  return "";
}

void save_descriptors(int rank, StateWriter& to) {
  std::vector<Place> all;
  for (int fd = 3; fd <= last_descriptor(); ++fd) {
    if (!is_own_descriptor(fd)) continue;
    Place place = place_of(rank, fd);
    const auto original =
        std::ranges::find_if(all, [&](const Place& other) { return share_offset(place, other); });
    if (original != all.end()) place.same_as = original->fd;
    all.push_back(place);
    to.value(true);
    to.value(place);
    to.text(file_behind(fd));
  }
  to.value(false);
}

Result<void> open_descriptors_again(int rank, StateReader& from) {
  while (from.value<bool>()) {
    const auto place = from.value<Place>();
    const std::string path = from.text();
    if (!is_own_number(place.fd, rank) || place.stream > 2 ||
        (place.same_as >= 0 && !is_own_number(place.same_as, rank)))
      return Failure{"its descriptors are damaged"};
    const Result<int> made = open_again(place, path);
    if (!made) return made.failure();
    const int command = (place.of_number & FD_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD;
    const int there = fcntl(*made, command, place.fd);
    const std::string why = there < 0 ? std::strerror(errno) : "in use";
    close(*made);
    if (there != place.fd)
      return Failure{"descriptor " + std::to_string(place.fd) + " for " + path +
                     ", which it has open, is not to be had here (ulimit -n): " + why};
    own_descriptor_here(there);
  }
  return {};
}

}  // namespace tmpi::privatize
