#include <doctest/doctest.h>
#include <locale.h>
#include <stdlib.h>
#include <uchar.h>
#include <wchar.h>

#include "guest_copy.hpp"

TEST_CASE("half a character is kept for the rank that has begun it") {
  const locale_t utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
  REQUIRE(utf8 != nullptr);
  const locale_t before = uselocale(utf8);
  const GuestCopy first, second;
  wchar_t wide = 0;
  CHECK(GUEST(first, mbrtowc)(&wide, "\xc3", 1, nullptr) == static_cast<size_t>(-2));
  CHECK(GUEST(second, mbrtowc)(&wide, "a", 1, nullptr) == 1);
  CHECK(wide == L'a');
  CHECK(GUEST(first, mbrtowc)(&wide, "\xa9", 1, nullptr) == 1);
  CHECK(wide == L'\u00e9');
  char32_t character = 0;
  CHECK(GUEST(first, mbrtoc32)(&character, "\xc3", 1, nullptr) == static_cast<size_t>(-2));
  CHECK(GUEST(second, mbrtoc32)(&character, "b", 1, nullptr) == 1);
  CHECK(GUEST(first, mbrtoc32)(&character, "\xa9", 1, nullptr) == 1);
  uselocale(before);
  freelocale(utf8);
}

TEST_CASE("mbtowc, wctomb and mblen as libc's") {
  const GuestCopy rank;
  wchar_t wide = 0;
  char text[16];
  CHECK(GUEST(rank, mbtowc)(nullptr, nullptr, 0) == ::mbtowc(nullptr, nullptr, 0));
  CHECK(GUEST(rank, mbtowc)(&wide, "x", 1) == 1);
  CHECK(wide == L'x');
  CHECK(GUEST(rank, mbtowc)(&wide, "", 1) == 0);
  CHECK(GUEST(rank, mbtowc)(&wide, "x", 0) == -1);
  CHECK(GUEST(rank, wctomb)(text, L'y') == 1);
  CHECK(text[0] == 'y');
  CHECK(GUEST(rank, mblen)("z", 1) == 1);
  CHECK(GUEST(rank, mblen)("", 1) == 0);
}
