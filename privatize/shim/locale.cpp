// The rank's locale. Here, what "" means: the rank's environment; the rest is the node process's (host/locales.cpp).
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/shim.h"

namespace {

constexpr int kCategories = LC_IDENTIFICATION + 1;  // LC_ALL, which is none, among them
constexpr char kNames[kCategories][20] = {
    "LC_CTYPE", "LC_NUMERIC", "LC_TIME",    "LC_COLLATE",   "LC_MONETARY",    "LC_MESSAGES",      "LC_ALL",
    "LC_PAPER", "LC_NAME",    "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT", "LC_IDENTIFICATION"};

/// What the environment says of a category.
const char* wanted_name(int category) noexcept {
  for (const char* variable : {kNames[LC_ALL], kNames[category], static_cast<const char*>("LANG")}) {
    const char* const value = getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return "C";
}

/// What it says of all, as setlocale takes it: LC_CTYPE=...;LC_NUMERIC=.... To be freed; null: no memory.
char* wanted_names() noexcept {
  size_t size = 1;
  for (int category = 0; category < kCategories; ++category)
    size += strlen(kNames[category]) + strlen(wanted_name(category)) + 2;
  auto* const text = static_cast<char*>(malloc(size));
  if (text == nullptr) return nullptr;
  *text = '\0';
  for (int category = 0; category < kCategories; ++category) {
    if (category == LC_ALL) continue;
    if (*text != '\0') strcat(text, ";");
    strcat(strcat(strcat(text, kNames[category]), "="), wanted_name(category));
  }
  return text;
}

struct lconv conventions;

}  // namespace

extern "C" {

char* setlocale(int category, const char* name) noexcept {
  if (name == nullptr || *name != '\0' || category < 0 || category >= kCategories)
    return const_cast<char*>(tmpi_shim_setlocale(tmpi_image_rank, category, name));
  if (category != LC_ALL)
    return const_cast<char*>(tmpi_shim_setlocale(tmpi_image_rank, category, wanted_name(category)));
  char* const names = wanted_names();
  const char* const result = names == nullptr ? nullptr : tmpi_shim_setlocale(tmpi_image_rank, LC_ALL, names);
  free(names);
  return const_cast<char*>(result);
}

locale_t uselocale(locale_t locale) noexcept {
  return tmpi_shim_uselocale(tmpi_image_rank, locale);
}
locale_t __uselocale(locale_t locale) {
  return uselocale(locale);
}

locale_t newlocale(int mask, const char* name, locale_t base) noexcept {
  if (name == nullptr || *name != '\0') return tmpi_libc.newlocale(mask, name, base);
  if (mask == 1 << LC_ALL) mask = LC_ALL_MASK;
  if ((mask & ~LC_ALL_MASK) != 0) return tmpi_libc.newlocale(mask, name, base);
  // Made beside `base`, which stays as it is if a name is not known.
  locale_t made = base == nullptr ? tmpi_libc.newlocale(LC_ALL_MASK, "C", nullptr) : duplocale(base);
  for (int category = 0; made != nullptr && category < kCategories; ++category) {
    if ((mask & 1 << category) == 0) continue;
    const locale_t next = tmpi_libc.newlocale(1 << category, wanted_name(category), made);
    if (next == nullptr) tmpi_libc.freelocale(made);
    made = next;
  }
  if (made != nullptr && base != nullptr) tmpi_libc.freelocale(base);
  return made;
}
locale_t __newlocale(int mask, const char* name, locale_t base) {
  return newlocale(mask, name, base);
}

locale_t duplocale(locale_t locale) noexcept {
  return tmpi_shim_duplocale(tmpi_image_rank, locale);
}
locale_t __duplocale(locale_t locale) {
  return duplocale(locale);
}

struct lconv* localeconv() noexcept {
  tmpi_shim_localeconv(&conventions);
  return &conventions;
}

}  // extern "C"
