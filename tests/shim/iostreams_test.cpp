#include <doctest/doctest.h>

#include <string>

#include "guest_copy.hpp"

TEST_CASE("constructors of the program may print") {
  const GuestCopy guest;
  CHECK(guest.out() == "early ");
}

TEST_CASE("std::hex of one rank stays there; C and C++ output keep their order") {
  const GuestCopy first, second;
  first.out(), second.out();
  first.get<void()>("guest_cxx_hex")();
  first.get<void(int)>("guest_cxx_print")(255);
  second.get<void(int)>("guest_cxx_print")(255);
  CHECK(first.out() == "value ff\n");
  CHECK(second.out() == "value 255\n");
  for (const bool synchronised : {true, false}) {
    first.get<bool(bool)>("guest_cxx_sync")(synchronised);
    first.get<void()>("guest_cxx_mix")();
    CHECK(first.out() == "a b c d\n");
  }
  CHECK(first.get<bool(bool)>("guest_cxx_sync")(true) == false);
  CHECK(second.get<bool(bool)>("guest_cxx_sync")(true) == true);
}

TEST_CASE("all eight streams") {
  const GuestCopy zero(true);
  zero.out(), zero.err();
  zero.get<void()>("guest_cxx_all")();
  CHECK(zero.out() == "wcout 3\n");
  CHECK(zero.err() == "cerr 1\nclog 2\nwcerr 4\n");
  CHECK(zero.get<bool()>("guest_cxx_unitbuf_and_ties")());
  fake_node::set_input("17 word\n");
  int number = 0;
  char word[16];
  CHECK(zero.get<int(int*, char*)>("guest_cxx_read")(&number, word) == 1);
  CHECK(number == 17);
  CHECK(std::string(word) == "word");
}
