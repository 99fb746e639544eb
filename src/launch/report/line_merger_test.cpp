#include "launch/report/line_merger.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace tmpi::launch {
namespace {

/// A merger over a temporary file, and what has come out of it.
class Fixture {
 public:
  explicit Fixture(Tags tags = Tags::kNone) : sink_(fileno(file_)), lines(sink_, tags) {}
  ~Fixture() { fclose(file_); }

  std::string text() {
    sink_.flush();
    std::string bytes(static_cast<std::size_t>(lseek(fileno(file_), 0, SEEK_END)), '\0');
    REQUIRE(pread(fileno(file_), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return bytes;
  }

 private:
  FILE* file_ = tmpfile();
  Sink sink_;

 public:
  LineMerger lines;
};

TEST_CASE("incomplete lines wait for their end") {
  Fixture f;
  f.lines.output(0, 1, "one ");
  f.lines.output(1, 1, "two\n");
  f.lines.output(0, 1, "three\nfour");
  CHECK(f.text() == "two\none three\n");
  f.lines.finish();
  CHECK(f.text() == "two\none three\nfour");
}

TEST_CASE("an unterminated last line gets a newline only if something follows") {
  Fixture f;
  f.lines.output(0, 1, "a");
  f.lines.output(1, 1, "b");
  f.lines.release(0);
  CHECK(f.text() == "a");
  f.lines.release(1);
  CHECK(f.text() == "a\nb");
  f.lines.message("tmpirun: end\n");
  CHECK(f.text() == "a\nb\ntmpirun: end\n");
}

TEST_CASE("a prompt goes on where it stopped") {
  Fixture f;
  f.lines.output(0, 1, "Name? ");
  f.lines.release(0);
  CHECK(f.text() == "Name? ");
  f.lines.output(0, 1, "thanks\n");
  CHECK(f.text() == "Name? thanks\n");
}

TEST_CASE("stdout and stderr of a rank are different lines") {
  Fixture f;
  f.lines.output(0, 1, "out");
  f.lines.output(0, 2, "err\n");
  f.lines.output(0, 1, "put\n");
  CHECK(f.text() == "err\noutput\n");
}

TEST_CASE("tags stand at the start of each line") {
  Fixture f(Tags::kSource);
  f.lines.output(3, 1, "a\nb\nc");
  f.lines.output(12, 2, "x\n");
  f.lines.release(3);
  f.lines.output(3, 1, "d\n\n");
  CHECK(f.text() == "[1,3]<stdout>:a\n[1,3]<stdout>:b\n[1,12]<stderr>:x\n[1,3]<stdout>:cd\n[1,3]<stdout>:\n");
}

TEST_CASE("zero bytes and output of no rank pass") {
  Fixture f;
  f.lines.output(0, 1, std::string_view("a\0b\n", 4));
  f.lines.output(-1, 1, "child\n");
  CHECK(f.text() == std::string("a\0b\nchild\n", 10));
}

TEST_CASE("a giant line does not fill the memory") {
  Fixture f;
  const std::string piece(LineMerger::kLongestLine / 4, 'x');
  for (int i = 0; i < 6; ++i) f.lines.output(0, 1, piece);
  CHECK(f.text().size() > LineMerger::kLongestLine);
  f.lines.output(0, 1, "\n");
  CHECK(f.text() == std::string(piece.size() * 6, 'x') + "\n");
}

TEST_CASE("idle release shows one line, the open one first") {
  Fixture f;
  f.lines.output(0, 1, ".");
  f.lines.release_when_idle();
  f.lines.output(1, 1, "-");
  f.lines.output(0, 1, ".");
  f.lines.release_when_idle();
  CHECK(f.text() == "..");
  f.lines.release_when_idle();
  CHECK(f.text() == "..");
}

TEST_CASE("the rank alone as a tag") {
  Fixture f(Tags::kRank);
  f.lines.output(3, 1, "a\nb\n");
  f.lines.output(12, 2, "c\n");
  CHECK(f.text() == "[3] a\n[3] b\n[12] c\n");
}

}  // namespace
}  // namespace tmpi::launch
