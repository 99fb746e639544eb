#include "replay/choice.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace tmpi::replay {
namespace {

Choice receive(ChoiceKind kind, int source, int tag, std::uint64_t number = 0) {
  Choice choice{kind, number};
  choice.source = source;
  choice.tag = tag;
  return choice;
}

std::vector<Choice> all_kinds() {
  std::vector<Choice> choices;
  for (const int source : {0, 1, 3, 4, 511, 512, 100000, std::numeric_limits<int>::max()}) {
    for (const int tag : {0, 0, 5, 127, 128, std::numeric_limits<int>::max()}) {
      choices.push_back(receive(ChoiceKind::kReceive, source, tag));
      choices.push_back(receive(ChoiceKind::kProbe, source, tag));
      choices.push_back(receive(ChoiceKind::kLate, source, tag, zigzag(-source)));
      choices.push_back(receive(ChoiceKind::kPlanned, source, tag, 9));
      choices.push_back(receive(ChoiceKind::kDecided, source, tag, 10));
    }
  }
  choices.push_back({ChoiceKind::kLate, 7, 0, 0, true});
  for (const std::uint64_t number : {0ULL, 1ULL, 7ULL, 8ULL, 1023ULL, 1024ULL, ~0ULL}) {
    for (const ChoiceKind kind :
         {ChoiceKind::kPoll, ChoiceKind::kIndex, ChoiceKind::kTime, ChoiceKind::kNumber})
      choices.push_back({kind, number});
  }
  choices.push_back({ChoiceKind::kSome, 3, 0, 0, false, {0, 5, 200}});
  choices.push_back({ChoiceKind::kSome});
  choices.push_back({ChoiceKind::kText, 5, 0, 0, false, {}, std::string("a\0b c", 5)});
  choices.push_back({ChoiceKind::kEnd});
  choices.push_back({ChoiceKind::kSynchronous});
  return choices;
}

TEST_CASE("what has been written is read again, and nothing behind it") {
  std::string bytes;
  int tag = 0;
  for (const Choice& choice : all_kinds()) encode(choice, tag, bytes);
  bytes.append(10, '\0');
  std::string_view rest = bytes;
  tag = 0;
  Choice choice;
  for (const Choice& written : all_kinds()) {
    REQUIRE(decode(rest, tag, choice));
    CHECK(choice == written);
  }
  CHECK_FALSE(decode(rest, tag, choice));
}

TEST_CASE("a match takes two bytes, of up to 512 ranks") {
  int tag = 5;
  for (const int source : {0, 3, 4, 511}) {
    std::string bytes;
    encode(receive(ChoiceKind::kReceive, source, 5), tag, bytes);
    CHECK(bytes.size() <= 2);
  }
  std::string late;
  encode(receive(ChoiceKind::kLate, 60, 5, zigzag(3)), tag, late);
  CHECK(late.size() == 2);
}

TEST_CASE("whatever a file has in it is read or refused") {
  std::string bytes;
  int tag = 0;
  for (const Choice& choice : all_kinds()) encode(choice, tag, bytes);
  Choice choice;
  for (std::size_t begin = 0; begin < bytes.size(); ++begin) {
    for (std::size_t length = 0; length < 12 && begin + length <= bytes.size(); ++length) {
      std::string_view cut(bytes.data() + begin, length);
      while (decode(cut, tag, choice)) CHECK_FALSE(describe(choice).empty());
    }
  }
  std::string_view unknown("\x0f\x01", 2);
  CHECK_FALSE(decode(unknown, tag, choice));
}

TEST_CASE("numbers around zero are short with their sign") {
  for (const std::int64_t value : {0L, 1L, -1L, 63L, -64L, std::numeric_limits<long>::min()})
    CHECK(unzigzag(zigzag(value)) == value);
  CHECK(zigzag(-1) == 1);
}

}  // namespace
}  // namespace tmpi::replay
