// Conversions by the rank's time zone: what TZ is in its environment, and the variables that tell of it. libc has one zone
// for the process; the node process puts the rank's in its place (host/time_zones.cpp).
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

#include "privatize/shim/host/host_functions.h"

// libc's two names of each variable. A program may hold a COPY of them.
extern "C" {
char* __tzname[2] = {const_cast<char*>("GMT"), const_cast<char*>("GMT")};
long __timezone;
int __daylight;
extern char* tzname[2] __attribute__((weak, alias("__tzname")));
extern long timezone __attribute__((weak, alias("__timezone")));
extern int daylight __attribute__((weak, alias("__daylight")));
}

namespace {

struct tm broken_down;  // one object for localtime and gmtime, as the standard allows and programs assume
char time_text[32];     // "Thu Nov 24 18:22:48 1986\n", 26 bytes in the years that asctime_r accepts
struct tm parsed;

/// The rank's zone; what the call has found out of it goes into the variables.
class Zone {
 public:
  Zone() noexcept : zone_{getenv("TZ"), {}, 0, 0} {}
  ~Zone() {
    __tzname[0] = zone_.names[0];
    __tzname[1] = zone_.names[1];
    __timezone = zone_.west;
    __daylight = zone_.daylight;
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;
  operator TmpiZone*() noexcept { return &zone_; }

 private:
  TmpiZone zone_;
};

}  // namespace

extern "C" {

void tzset() noexcept {
  tmpi_shim_tzset(Zone());
}

struct tm* localtime_r(const time_t* when, struct tm* fields) noexcept {
  return tmpi_shim_localtime(Zone(), when, fields);
}
struct tm* localtime(const time_t* when) noexcept {
  return localtime_r(when, &broken_down);
}
struct tm* gmtime(const time_t* when) noexcept {
  return gmtime_r(when, &broken_down);
}
char* asctime(const struct tm* fields) noexcept {
  return asctime_r(fields, time_text);
}
char* ctime_r(const time_t* when, char* text) noexcept {
  struct tm fields {};
  return localtime_r(when, &fields) != nullptr ? asctime_r(&fields, text) : nullptr;
}
char* ctime(const time_t* when) noexcept {
  const struct tm* fields = localtime(when);
  return fields != nullptr ? asctime(fields) : nullptr;
}

time_t mktime(struct tm* fields) noexcept {
  return tmpi_shim_mktime(Zone(), fields);
}
time_t timelocal(struct tm* fields) noexcept {
  return mktime(fields);
}

size_t strftime(char* text, size_t size, const char* format, const struct tm* fields) noexcept {
  return tmpi_shim_strftime(Zone(), text, size, format, fields, nullptr);
}
size_t strftime_l(char* text, size_t size, const char* format, const struct tm* fields,
                  locale_t locale) noexcept {
  return tmpi_shim_strftime(Zone(), text, size, format, fields, locale);
}
size_t __strftime_l(char* text, size_t size, const char* format, const struct tm* fields, locale_t locale) {
  return strftime_l(text, size, format, fields, locale);
}
size_t wcsftime(wchar_t* text, size_t size, const wchar_t* format, const struct tm* fields) noexcept {
  return tmpi_shim_wcsftime(Zone(), text, size, format, fields, nullptr);
}
size_t wcsftime_l(wchar_t* text, size_t size, const wchar_t* format, const struct tm* fields,
                  locale_t locale) noexcept {
  return tmpi_shim_wcsftime(Zone(), text, size, format, fields, locale);
}
size_t __wcsftime_l(wchar_t* text, size_t size, const wchar_t* format, const struct tm* fields,
                    locale_t locale) {
  return wcsftime_l(text, size, format, fields, locale);
}

char* strptime(const char* text, const char* format, struct tm* fields) noexcept {
  return tmpi_shim_strptime(Zone(), text, format, fields, nullptr);
}
char* strptime_l(const char* text, const char* format, struct tm* fields, locale_t locale) noexcept {
  return tmpi_shim_strptime(Zone(), text, format, fields, locale);
}

int getdate_err;
int getdate_r(const char* text, struct tm* fields) {
  return tmpi_shim_getdate(Zone(), text, fields);
}
struct tm* getdate(const char* text) {
  getdate_err = getdate_r(text, &parsed);
  return getdate_err == 0 ? &parsed : nullptr;
}

}  // extern "C"
