// Conversions of multibyte characters that are asked to go on from where the last one of their name ended: that state
// is the rank's. libc keeps one for each function whose argument is null; so do we.
#include <stdlib.h>
#include <uchar.h>
#include <wchar.h>

#include "privatize/shim/host/libc_originals.hpp"

namespace {

struct {
  mbstate_t mblen, mbtowc, wctomb, mbrlen, mbrtowc, wcrtomb, mbsrtowcs, mbsnrtowcs, wcsrtombs, wcsnrtombs,
      mbrtoc8, mbrtoc16, mbrtoc32, c8rtomb, c16rtomb, c32rtomb;
} kept;

mbstate_t* or_kept(mbstate_t* given, mbstate_t& own) noexcept {
  return given != nullptr ? given : &own;
}

/// Begins anew. As mbtowc(nullptr): whether the encoding has shift states at all.
int begin(mbstate_t& state) noexcept {
  state = {};
  return tmpi_libc.mbtowc(nullptr, nullptr, 0);
}

int fold(size_t length) noexcept {
  return length >= static_cast<size_t>(-2) ? -1 : static_cast<int>(length);
}

void check_room(size_t wanted, size_t room) noexcept {
  if (room < wanted) tmpi_libc.__chk_fail();
}

}  // namespace

extern "C" {

int mblen(const char* text, size_t length) {
  if (text == nullptr) return begin(kept.mblen);
  if (*text == '\0') return 0;
  return fold(tmpi_libc.mbrtowc(nullptr, text, length, &kept.mblen));
}
int mbtowc(wchar_t* wide, const char* text, size_t length) {
  return text == nullptr ? begin(kept.mbtowc) : fold(tmpi_libc.mbrtowc(wide, text, length, &kept.mbtowc));
}
int wctomb(char* text, wchar_t wide) {
  return text == nullptr ? begin(kept.wctomb) : fold(tmpi_libc.wcrtomb(text, wide, &kept.wctomb));
}
int __wctomb_chk(char* text, wchar_t wide, size_t room) {
  check_room(tmpi_libc.__ctype_get_mb_cur_max(), room);
  return wctomb(text, wide);
}

size_t mbrlen(const char* text, size_t length, mbstate_t* state) {
  return tmpi_libc.mbrlen(text, length, or_kept(state, kept.mbrlen));
}
size_t __mbrlen(const char* text, size_t length, mbstate_t* state) {
  return mbrlen(text, length, state);
}
size_t mbrtowc(wchar_t* wide, const char* text, size_t length, mbstate_t* state) {
  return tmpi_libc.mbrtowc(wide, text, length, or_kept(state, kept.mbrtowc));
}
size_t __mbrtowc(wchar_t* wide, const char* text, size_t length, mbstate_t* state) {
  return mbrtowc(wide, text, length, state);
}
size_t wcrtomb(char* text, wchar_t wide, mbstate_t* state) {
  return tmpi_libc.wcrtomb(text, wide, or_kept(state, kept.wcrtomb));
}
size_t __wcrtomb_chk(char* text, wchar_t wide, mbstate_t* state, size_t room) {
  check_room(tmpi_libc.__ctype_get_mb_cur_max(), room);
  return wcrtomb(text, wide, state);
}

size_t mbsrtowcs(wchar_t* wide, const char** text, size_t length, mbstate_t* state) {
  return tmpi_libc.mbsrtowcs(wide, text, length, or_kept(state, kept.mbsrtowcs));
}
size_t __mbsrtowcs_chk(wchar_t* wide, const char** text, size_t length, mbstate_t* state, size_t room) {
  check_room(length, room);
  return mbsrtowcs(wide, text, length, state);
}
size_t mbsnrtowcs(wchar_t* wide, const char** text, size_t bytes, size_t length, mbstate_t* state) {
  return tmpi_libc.mbsnrtowcs(wide, text, bytes, length, or_kept(state, kept.mbsnrtowcs));
}
size_t __mbsnrtowcs_chk(wchar_t* wide, const char** text, size_t bytes, size_t length, mbstate_t* state,
                        size_t room) {
  check_room(length, room);
  return mbsnrtowcs(wide, text, bytes, length, state);
}
size_t wcsrtombs(char* text, const wchar_t** wide, size_t length, mbstate_t* state) {
  return tmpi_libc.wcsrtombs(text, wide, length, or_kept(state, kept.wcsrtombs));
}
size_t __wcsrtombs_chk(char* text, const wchar_t** wide, size_t length, mbstate_t* state, size_t room) {
  check_room(length, room);
  return wcsrtombs(text, wide, length, state);
}
size_t wcsnrtombs(char* text, const wchar_t** wide, size_t characters, size_t length, mbstate_t* state) {
  return tmpi_libc.wcsnrtombs(text, wide, characters, length, or_kept(state, kept.wcsnrtombs));
}
size_t __wcsnrtombs_chk(char* text, const wchar_t** wide, size_t characters, size_t length, mbstate_t* state,
                        size_t room) {
  check_room(length, room);
  return wcsnrtombs(text, wide, characters, length, state);
}

size_t mbrtoc8(char8_t* to, const char* text, size_t length, mbstate_t* state) noexcept {
  return tmpi_libc.mbrtoc8(to, text, length, or_kept(state, kept.mbrtoc8));
}
size_t c8rtomb(char* text, char8_t from, mbstate_t* state) noexcept {
  return tmpi_libc.c8rtomb(text, from, or_kept(state, kept.c8rtomb));
}
size_t mbrtoc16(char16_t* to, const char* text, size_t length, mbstate_t* state) noexcept {
  return tmpi_libc.mbrtoc16(to, text, length, or_kept(state, kept.mbrtoc16));
}
size_t c16rtomb(char* text, char16_t from, mbstate_t* state) noexcept {
  return tmpi_libc.c16rtomb(text, from, or_kept(state, kept.c16rtomb));
}
size_t mbrtoc32(char32_t* to, const char* text, size_t length, mbstate_t* state) noexcept {
  return tmpi_libc.mbrtoc32(to, text, length, or_kept(state, kept.mbrtoc32));
}
size_t c32rtomb(char* text, char32_t from, mbstate_t* state) noexcept {
  return tmpi_libc.c32rtomb(text, from, or_kept(state, kept.c32rtomb));
}

}  // extern "C"
