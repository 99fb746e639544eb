#include "words.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace tmpi::wrapper;
using Words = std::vector<std::string>;

TEST_CASE("words are split at white space, quotes and backslashes keep them together") {
  CHECK(split_words("") == Words{});
  CHECK(split_words("  gcc\t-O2\n-g ") == Words{"gcc", "-O2", "-g"});
  CHECK(split_words(R"(-DA="x y" 'b c' d\ e)") == Words{"-DA=x y", "b c", "d e"});
  CHECK(split_words(R"("" a)") == Words{"", "a"});
  CHECK(split_words(R"("-DNAME=\"q\"")") == Words{"-DNAME=\"q\""});
}

TEST_CASE("a printed line reads back as the same words") {
  const Words words{"gcc", "-DTEXT=\"it's $HOME\"", "", "a b", "*.c", "-Wl,-rpath,/x"};
  CHECK(split_words(shell_line({"gcc", "-O2"})) == Words{"gcc", "-O2"});
  const std::string command = "for w in " + shell_line(words) + "; do printf '%s\\n' \"$w\"; done";
  FILE* shell = popen(command.c_str(), "r");
  REQUIRE(shell != nullptr);
  std::string text;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) text += static_cast<char>(c);
  CHECK(pclose(shell) == 0);
  CHECK(text == "gcc\n-DTEXT=\"it's $HOME\"\n\na b\n*.c\n-Wl,-rpath,/x\n");
}

TEST_CASE("response files are read, nested ones too, and one that names itself ends") {
  char directory[] = "/tmp/tmpi_words_XXXXXX";
  REQUIRE(mkdtemp(directory) != nullptr);
  const std::string outer = std::string(directory) + "/outer", inner = std::string(directory) + "/inner";
  std::ofstream(outer) << "-O2 @" << inner << "\n'main file.c'";
  std::ofstream(inner) << "-static";
  CHECK(expand_response_files({"-c", "@" + outer, "@/no/such/file"}) ==
        Words{"-c", "-O2", "-static", "main file.c", "@/no/such/file"});
  std::ofstream(inner) << "@" << inner;
  CHECK(expand_response_files({"@" + inner}).size() == 1);
  std::remove(outer.c_str());
  std::remove(inner.c_str());
  rmdir(directory);
}
