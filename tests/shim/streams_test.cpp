#include <doctest/doctest.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <string>
#include <thread>
#include <vector>

#include "guest_copy.hpp"

TEST_CASE("output goes to the rank, a line at a time; stderr at once") {
  const GuestCopy first, second;
  first.out(), second.out();
  FILE* out = first.get<FILE*()>("guest_stdout")();
  GUEST(first, printf)("one %d", 1);
  CHECK(first.out().empty());
  GUEST(second, puts)("other");
  GUEST(first, printf)(" two\nrest");
  CHECK(first.out() == "one 1 two\n");
  CHECK(second.out() == "other\n");
  fprintf(out, "!");
  GUEST(first, putchar)('\n');
  CHECK(first.out() == "rest!\n");
  fake_node::take_writes(first.rank());
  fprintf(first.get<FILE*()>("guest_stderr")(), "%s %d %s\n", "one", 2, "three");
  CHECK(first.err() == "one 2 three\n");
  CHECK(fake_node::take_writes(first.rank()) == 1);
  using PrintfChk = int(int, const char*, ...);
  first.get<PrintfChk>("__printf_chk")(1, "%s\n", "checked");
  CHECK(first.out() == "checked\n");
}

TEST_CASE("a launcher that takes little at a time loses nothing") {
  const GuestCopy guest;
  guest.out();
  fake_node::limit_writes(7);
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    GUEST(guest, printf)("line %d of many\n", i);
    expected += "line " + std::to_string(i) + " of many\n";
  }
  const std::string large(100000, 'x');
  GUEST(guest, printf)("%s\n", large.c_str());
  fake_node::limit_writes(0);
  CHECK(guest.out() == expected + large + "\n");
}

TEST_CASE("fflush(NULL), setvbuf and closing concern this rank only") {
  const GuestCopy first, second;
  first.out(), second.out();
  GUEST(first, printf)("half");
  GUEST(second, printf)("half");
  GUEST(first, fflush)(nullptr);
  CHECK(first.out() == "half");
  CHECK(second.out().empty());
  static char buffer[4096];
  setvbuf(first.get<FILE*()>("guest_stdout")(), buffer, _IOFBF, sizeof buffer);
  GUEST(first, puts)("buffered");
  CHECK(first.out().empty());
  CHECK(GUEST(first, fclose)(first.get<FILE*()>("guest_stdout")()) == 0);
  CHECK(first.out() == "buffered\n");
  CHECK((GUEST(first, puts)("after") == EOF || GUEST(first, fflush)(nullptr) == EOF));
  CHECK(first.out().empty());
  GUEST(second, puts)(" and on");
  CHECK(second.out() == "half and on\n");
}

TEST_CASE("rank 0 reads, all others see the end") {
  const GuestCopy zero(true), other;
  zero.out();
  fake_node::set_input("12 words\nnext line\n\nlast");
  int number = 0;
  char word[64];
  GUEST(zero, printf)("number? ");
  using Scanf = int(const char*, ...);
  CHECK(zero.get<Scanf>("__isoc99_scanf")("%d %63s", &number, word) == 2);
  CHECK(zero.out().substr(0, 8) == "number? ");  // the prompt came out first
  CHECK(number == 12);
  CHECK(std::string(word) == "words");
  CHECK(GUEST(zero, getchar)() == '\n');
  FILE* in = zero.get<FILE*()>("guest_stdin")();
  CHECK(fgets(word, sizeof word, in) != nullptr);
  CHECK(std::string(word) == "next line\n");
  CHECK(zero.get<char*(char*)>("gets")(word) != nullptr);
  CHECK(std::string(word).empty());
  CHECK(GUEST(zero, fgetwc)(in) == L'l');
  CHECK(GUEST(zero, ungetwc)(L'k', in) == L'k');
  CHECK(zero.get<char*(char*)>("gets")(word) != nullptr);
  CHECK(std::string(word) == "kast");
  CHECK(GUEST(zero, getchar)() == EOF);
  CHECK(GUEST(other, getchar)() == EOF);
}

TEST_CASE("wide and narrow text keep their order") {
  const GuestCopy guest;
  guest.out();
  guest.get<void()>("guest_wide")();
  CHECK(guest.out() == "wide 42 text! narrow\n");
  const std::wstring large(5000, L'y');
  GUEST(guest, wprintf)(L"%ls\n", large.c_str());
  CHECK(guest.out() == std::string(5000, 'y') + "\n");
}

TEST_CASE("helper threads of a rank may print at the same time") {
  const GuestCopy guest;
  guest.out();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&guest, t] {
      for (int i = 0; i < 500; ++i) GUEST(guest, printf)("%d%d%d%d\n", t, t, t, t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = guest.out();
  REQUIRE(text.size() == 4 * 500 * 5);
  for (size_t i = 0; i < text.size(); i += 5) CHECK((text[i] == text[i + 3] && text[i + 4] == '\n'));
}
