// Views against the type map of the report, byte by byte; system calls that do less than they are asked, are
// interrupted or fail; coverage against a list of bytes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/type_map.hpp"
#include "mpi/io/access.hpp"
#include "mpi/io/coverage.hpp"
#include "mpi/io/exclusion.hpp"
#include "mpi/io/hints.hpp"
#include "mpi/io/raw_io.hpp"
#include "mpi/io/striping.hpp"
#include "mpi/io/two_phase.hpp"
#include "mpi/io/view.hpp"

namespace tmpi::mpi {
namespace {

const Datatype& byte() {
  return *datatype_from(MPI_BYTE);
}

// What may be a filetype: the model says so by itself.
bool fit_for_view(const test::TypeMap& map) {
  if (map.size() == 0) return true;
  if (map.extent() <= 0) return false;
  MPI_Count end = 0;
  for (const test::Element& element : map.elements) {
    if (element.offset < end) return false;
    end = element.offset + element.size;
  }
  return true;
}

TEST_CASE("a view's stream is the filetype's data, repeated") {
  int views = 0, refused = 0, backward = 0;
  for (unsigned seed = 1; views < 60; ++seed) {
    test::Generator generator(seed, 40);
    test::Pair pair = generator.make(3);
    pair.type->commit();
    const bool fit = fit_for_view(pair.map);
    CHECK(static_cast<bool>(View::check(17, byte(), *pair.type)) == !fit);
    refused += !fit;
    if (!fit || pair.map.size() == 0) continue;
    ++views;
    const View view(17, byte(), *pair.type, byte(), *pair.type, nullptr);
    const std::vector<MPI_Count> where = pair.map.bytes(3);
    const auto size = static_cast<MPI_Count>(where.size());
    const bool ascending = std::is_sorted(where.begin(), where.end());
    backward += !ascending;
    CHECK(view.ascending(0, size) == ascending);
    for (MPI_Count from = 0; from < size; from += generator.pick(1, 7)) {
      ViewCursor cursor(view, from);
      CHECK(view.offset_of(from) == 17 + where[static_cast<std::size_t>(from)]);
      for (MPI_Count at = from; at < size;) {
        const MPI_Count step = std::min({cursor.length(), size - at, generator.pick(1, 9)});
        REQUIRE(step > 0);
        for (MPI_Count i = 0; i < step; ++i)
          REQUIRE(cursor.offset() + i == 17 + where[static_cast<std::size_t>(at + i)]);
        cursor.advance(step);
        at += step;
      }
    }
    for (MPI_Offset offset = 0; offset < 17 + where[static_cast<std::size_t>(size / 3 - 1)]; ++offset) {
      const auto end = where.begin() + size / 3;  // one repetition is always ascending
      const auto before = std::count_if(where.begin(), end, [&](MPI_Count at) { return 17 + at < offset; });
      REQUIRE(view.first_from(offset, 0, size / 3) == before);
    }
    // Up to the last byte before it, also where repetitions go back: of all that begin before the third one.
    for (MPI_Offset offset = 0; offset <= 17 + where[static_cast<std::size_t>(size / 3 * 2)]; ++offset) {
      const auto last =
          std::find_if(where.rbegin(), where.rend(), [&](MPI_Count at) { return 17 + at < offset; });
      REQUIRE(view.bytes_before(offset) == where.rend() - last);
    }
    if (!ascending) continue;
    for (MPI_Offset offset = 0; offset < 17 + where.back(); ++offset) {
      const auto before =
          std::count_if(where.begin(), where.end(), [&](MPI_Count at) { return 17 + at < offset; });
      REQUIRE(view.bytes_before(offset) == before);
    }
  }
  CHECK(refused > 0);
  CHECK(backward > 0);
}

TEST_CASE("offsets that no file has are seen") {
  const auto view = View::bytes();
  CHECK(view->reaches(1000));
  CHECK(view->reaches(std::numeric_limits<MPI_Offset>::max()));
  Datatype* type = nullptr;
  REQUIRE(!construct_resized(byte(), 0, 1 << 20, true, type));
  type->commit();
  const View sparse(5, byte(), *type, byte(), *type, nullptr);
  CHECK(sparse.reaches(MPI_Count{1} << 42));
  CHECK_FALSE(sparse.reaches(MPI_Count{1} << 43));
  type->release();
}

// --- system calls that do not do what they are asked

int calls = 0, most_bytes = 0, failing_call = 0, failure = 0;
std::size_t few(const iovec* vectors) {
  return std::min(vectors[0].iov_len, static_cast<std::size_t>(most_bytes));
}
ssize_t bad_write(int fd, const iovec* vectors, int, off_t offset) {
  if (++calls == failing_call) {
    errno = failure;
    return -1;
  }
  return ::pwrite(fd, vectors[0].iov_base, few(vectors), offset);
}
ssize_t bad_read(int fd, const iovec* vectors, int, off_t offset) {
  if (++calls == failing_call) {
    errno = failure;
    return -1;
  }
  return ::pread(fd, vectors[0].iov_base, few(vectors), offset);
}

struct BadCalls {
  BadCalls(int most, int failing, int error) : saved(g_system_calls) {
    calls = 0, most_bytes = most, failing_call = failing, failure = error;
    g_system_calls = {.read = bad_read,
                      .write = bad_write,
                      .read_cached = bad_read,
                      .read_beside = bad_read,
                      .write_beside = bad_write};
  }
  ~BadCalls() { g_system_calls = saved; }
  const SystemCalls saved;
};

struct Temporary {
  std::FILE* stream = std::tmpfile();
  ~Temporary() { std::fclose(stream); }
  int fd() const { return fileno(stream); }
};

std::vector<std::byte> numbered(int bytes) {
  std::vector<std::byte> data;
  for (int i = 0; i < bytes; ++i) data.push_back(static_cast<std::byte>(i * 7 + 1));
  return data;
}

// On the calling thread, and beside it, by io_uring or a thread.
struct Way {
  IoResult (*write)(int, std::span<const Piece>) noexcept;
  IoResult (*read)(int, std::span<const Piece>) noexcept;
};
constexpr Way kWays[] = {
    {write_pieces, read_pieces},
    {write_beside,
     [](int fd, std::span<const Piece> pieces) noexcept { return read_beside(fd, pieces, {}); }},
};

void check_continued(const Way& way) {
  for (const int most : {1, 3, 10, 1000}) {
    for (const int interrupted : {1, 2, 5}) {
      const Temporary file;
      std::vector<std::byte> data = numbered(50), got(50);
      const std::vector<Piece> pieces = {
          {0, 7, data.data()}, {7, 13, data.data() + 7}, {40, 0, nullptr}, {100, 30, data.data() + 20}};
      const std::vector<Piece> back = {{0, 20, got.data()}, {100, 30, got.data() + 20}};
      const BadCalls bad(most, interrupted, EINTR);
      const IoResult written = way.write(file.fd(), pieces);
      CHECK(written.bytes == 50);
      CHECK(written.error == 0);
      calls = 0;
      const IoResult read = way.read(file.fd(), back);
      CHECK(read.bytes == 50);
      CHECK(read.error == 0);
      CHECK(got == data);
    }
  }
}

TEST_CASE("short and interrupted calls are continued, whatever the number of bytes") {
  for (const Way& way : kWays) check_continued(way);
}

void check_told(const Way& way, int error) {
  const Temporary file;
  std::vector<std::byte> data = numbered(50);
  const std::vector<Piece> pieces = {{10, 20, data.data()}, {200, 30, data.data() + 20}};
  {
    const BadCalls bad(8, 5, error);  // 8 + 8 + 4, 8, then
    const IoResult result = way.write(file.fd(), pieces);
    CHECK(result.error == error);
    CHECK(result.bytes == 28);
    CHECK(result.where == 208);
  }
  CHECK(lseek(file.fd(), 0, SEEK_END) == 208);
  std::vector<std::byte> got(60);
  const std::vector<Piece> back = {
      {10, 20, got.data()}, {200, 30, got.data() + 20}, {0, 10, got.data() + 50}};
  {
    const BadCalls bad(8, 0, 0);
    const IoResult ended = way.read(file.fd(), back);
    CHECK(ended.error == 0);
    CHECK(ended.bytes == 28);
    CHECK(ended.where == 208);
    CHECK(std::equal(got.begin(), got.begin() + 28, data.begin()));
  }
  const BadCalls bad(8, 2, error);
  const IoResult failed = way.read(file.fd(), back);
  CHECK(failed.error == error);
  CHECK(failed.bytes == 8);
  CHECK(failed.where == 18);
}

TEST_CASE("an error says where, and how much is done") {
  for (const Way& way : kWays) {
    for (const int error : {ENOSPC, EIO, EROFS}) check_told(way, error);
  }
}

TEST_CASE("what is a few system calls is known") {
  std::byte data[8];
  std::vector<Piece> pieces;
  CHECK(in_few_calls(pieces));
  for (int i = 0; i < 600; ++i) pieces.push_back({i * 8, 8, data});  // one run, of more than 512 vectors
  CHECK(in_few_calls(pieces));
  for (int gap = 1; gap <= 2; ++gap) {
    pieces.push_back({10'000 * gap, 8, data});
    CHECK(in_few_calls(pieces) == (gap == 1));
  }
}

// --- striping: a file system that keeps what it is given

std::vector<std::byte> layout;
int layout_error = 0;
int keep_layout(int, const char* name, const void* value, std::size_t size, int) {
  if (std::string_view(name) != "lustre.lov" || layout_error != 0) {
    errno = layout_error != 0 ? layout_error : ENOTSUP;
    return -1;
  }
  layout.assign(static_cast<const std::byte*>(value), static_cast<const std::byte*>(value) + size);
  return 0;
}
ssize_t tell_layout(int, const char* name, void* value, std::size_t room) {
  if (std::string_view(name) != "lustre.lov" || layout.empty() || layout.size() > room) {
    errno = ENODATA;
    return -1;
  }
  std::copy(layout.begin(), layout.end(), static_cast<std::byte*>(value));
  return static_cast<ssize_t>(layout.size());
}
template <class T>
T layout_at(std::size_t offset) {
  T value;
  std::memcpy(&value, layout.data() + offset, sizeof value);
  return value;
}

std::string hint(const std::vector<Info::Entry>& entries, std::string_view key) {
  for (const auto& [name, value] : entries) {
    if (name == key) return value;
  }
  return "none";
}

TEST_CASE("striping hints are passed as Lustre has them, and told as the file lies") {
  const LayoutCalls saved = g_layout_calls;
  g_layout_calls = {.set = keep_layout, .get = tell_layout};
  CHECK(can_stripe(0x0bd00bd0));
  CHECK_FALSE(can_stripe(0xef53));
  Hints hints;
  CHECK(hint(entries_of(hints, 1), "striping_factor") == "none");
  Info info;
  for (const auto& [key, value] :
       {std::pair{"striping_factor", "4"}, {"striping_unit", "1000000"}, {"start_iodevice", "0"}})
    info.set(key, value);
  take_hints(hints, info);
  CHECK(hints.striping.any());
  CHECK(set_striping(0, hints.striping) == 0);
  REQUIRE(layout.size() == 32);
  CHECK(layout_at<std::uint32_t>(0) == 0x0bd10bd0);
  CHECK(layout_at<std::uint32_t>(4) == 1);
  CHECK(layout_at<std::uint32_t>(24) == 1048576);  // a multiple of 64 KiB
  CHECK(layout_at<std::uint16_t>(28) == 4);
  CHECK(layout_at<std::uint16_t>(30) == 0);
  // As it is read: with an object for each device, here of a pool.
  const std::uint32_t magic = 0x0bd30bd0, device = 7;
  layout.resize(32 + 16 + 4 * 24);
  std::memcpy(layout.data(), &magic, sizeof magic);
  std::memcpy(layout.data() + 48 + 20, &device, sizeof device);
  hints.striping = striping_of(0);
  CHECK(hint(entries_of(hints, 1), "striping_factor") == "4");
  CHECK(hint(entries_of(hints, 1), "striping_unit") == "1048576");
  CHECK(hint(entries_of(hints, 1), "start_iodevice") == "7");
  layout.resize(48 + 2000 * 24);  // on as many devices as there can be
  const std::uint16_t most = 2000;
  std::memcpy(layout.data() + 28, &most, sizeof most);
  CHECK(striping_of(0).factor == most);
  CHECK(striping_of(0).first == 7);
  layout.resize(20);  // nonsense
  CHECK_FALSE(striping_of(0).any());
  CHECK(set_striping(0, {.unit = std::numeric_limits<MPI_Count>::max()}) == 0);
  CHECK(layout_at<std::uint32_t>(24) == 0xffff0000);
  layout_error = EEXIST;
  CHECK(set_striping(0, {}) == EEXIST);
  for (const char* bad : {"-1", "many", "4x", ""}) {
    Hints other;
    info.set("striping_factor", bad);
    info.set("striping_unit", bad);
    info.set("start_iodevice", bad);
    take_hints(other, info);
    CHECK_FALSE(other.striping.any());
  }
  g_layout_calls = saved;
}

// Every byte between the lowest and the highest is in one window, and where domains meet there is a stripe's beginning.
void check_domains(MPI_Offset begin, MPI_Offset end, int aggregators, MPI_Count stripe,
                   MPI_Count most_rounds) {
  constexpr MPI_Count kWindow = 4 << 20;
  CAPTURE(begin);
  CAPTURE(end);
  CAPTURE(stripe);
  Contribution part;
  part.begin = begin;
  part.end = end;
  part.bytes = end - begin;
  const Domains domains({part}, aggregators, kWindow, stripe);
  CHECK(domains.rounds() <= most_rounds);
  MPI_Offset at = begin / 4096 * 4096;
  for (int aggregator = 0; aggregator < aggregators; ++aggregator) {
    if (at < end && aggregator > 0) CHECK(at % std::max<MPI_Count>(stripe, 1) == 0);
    for (MPI_Count round = 0; round < domains.rounds() + 2; ++round) {
      const FileRange window = domains.window(aggregator, round);
      if (window.empty()) continue;
      CHECK(round < domains.rounds());
      CHECK(window.begin == at);
      CHECK(window.end - window.begin <= kWindow);
      at = window.end;
    }
  }
  CHECK(at == end);
}

TEST_CASE("domains begin on stripes, and no window lies below what is accessed") {
  constexpr MPI_Count kMiB = 1 << 20, kGiB = 1 << 30;
  check_domains(0, 64 * kMiB, 4, 0, 4);
  check_domains(5000, 64 * kMiB + 77, 4, 0, 5);
  check_domains(5 * kMiB + 5000, 64 * kMiB + 77, 4, kMiB, 4);
  check_domains(5 * kMiB + 5000, 64 * kMiB + 77, 4, 8 * kMiB, 6);
  check_domains(7 * kMiB, 9 * kMiB, 3, 4 * kMiB, 1);
  check_domains(7 * kMiB, 7 * kMiB + 1, 3, 4 * kMiB, 1);
  check_domains(3 * kGiB - 4096, 4 * kGiB, 1, kGiB, 257);
  // A stripe that is too large for the access is none of its business.
  const MPI_Offset high = kGiB + kGiB / 2;
  Contribution part;
  part.begin = high;
  part.end = high + 8 * kMiB;
  part.bytes = 8 * kMiB;
  const Domains domains({part}, 2, 4 * kMiB, kGiB);
  CHECK(domains.rounds() == 1);
  CHECK(domains.window(0, 0).begin == high);
  CHECK(domains.window(1, 0).end == high + 8 * kMiB);
  CHECK(Domains({}, 2, 4 * kMiB, kGiB).rounds() == 0);
}

TEST_CASE("coverage") {
  std::mt19937 random(5);
  Coverage coverage(1000);
  for (int round = 0; round < 200; ++round) {
    std::vector<bool> model(1000);
    coverage.clear(1000);
    for (int run = 0; run < 6; ++run) {
      const MPI_Count begin = random() % 1000, length = 1 + random() % std::min<MPI_Count>(1000 - begin, 200);
      coverage.add(begin, length);
      std::fill_n(model.begin() + begin, length, true);
    }
    for (const bool covered : {false, true}) {
      for (MPI_Count from = 0; from < 1000; from += 1 + random() % 90) {
        const auto found = std::find(model.begin() + from, model.end(), covered) - model.begin();
        CHECK(coverage.find(from, 1000, covered) == found);
      }
    }
  }
}

}  // namespace
}  // namespace tmpi::mpi
