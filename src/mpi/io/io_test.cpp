// Views against the type map of the report, byte by byte; system calls that do less than they are asked, are
// interrupted or fail; coverage against a list of bytes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/type_map.hpp"
#include "mpi/io/access.hpp"
#include "mpi/io/coverage.hpp"
#include "mpi/io/exclusion.hpp"
#include "mpi/io/raw_io.hpp"
#include "mpi/io/view.hpp"

namespace tmpi::mpi {
namespace {

const Datatype& byte() {
  return *datatype_from(MPI_BYTE);
}

// What may be a filetype: the model says so by itself.
bool fit_for_view(const test::TypeMap& map) {
  if (map.size() == 0 || map.extent() <= 0) return false;
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
    if (!fit) continue;
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
    g_system_calls = {.read = bad_read, .write = bad_write};
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

TEST_CASE("short and interrupted calls are continued, whatever the number of bytes") {
  for (const int most : {1, 3, 10, 1000}) {
    for (const int interrupted : {1, 2, 5}) {
      const Temporary file;
      std::vector<std::byte> data = numbered(50), got(50);
      const Piece pieces[] = {
          {0, 7, data.data()}, {7, 13, data.data() + 7}, {40, 0, nullptr}, {100, 30, data.data() + 20}};
      const Piece back[] = {{0, 20, got.data()}, {100, 30, got.data() + 20}};
      const BadCalls bad(most, interrupted, EINTR);
      const IoResult written = write_pieces(file.fd(), pieces);
      CHECK(written.bytes == 50);
      CHECK(written.error == 0);
      calls = 0;
      const IoResult read = read_pieces(file.fd(), back);
      CHECK(read.bytes == 50);
      CHECK(read.error == 0);
      CHECK(got == data);
    }
  }
}

TEST_CASE("an error says where, and how much is done") {
  const Temporary file;
  std::vector<std::byte> data = numbered(50);
  const Piece pieces[] = {{10, 20, data.data()}, {200, 30, data.data() + 20}};
  {
    const BadCalls bad(8, 5, ENOSPC);  // 8 + 8 + 4, 8, then
    const IoResult result = write_pieces(file.fd(), pieces);
    CHECK(result.error == ENOSPC);
    CHECK(result.bytes == 28);
    CHECK(result.where == 208);
  }
  CHECK(lseek(file.fd(), 0, SEEK_END) == 208);
  std::vector<std::byte> got(60);
  const Piece back[] = {{10, 20, got.data()}, {200, 30, got.data() + 20}, {0, 10, got.data() + 50}};
  const IoResult ended = read_pieces(file.fd(), back);
  CHECK(ended.error == 0);
  CHECK(ended.bytes == 28);
  CHECK(ended.where == 208);
  CHECK(std::equal(got.begin(), got.begin() + 28, data.begin()));
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
