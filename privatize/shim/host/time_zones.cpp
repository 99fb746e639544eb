// libc's time zone, of which there is one for the process: that of the rank which asks, while it is asked.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include <mutex>

#include "privatize/shim/host/host_functions.h"

namespace {

std::mutex mutex;
bool known = false;        // `in_force` is
char* in_force = nullptr;  // what TZ was when libc has read it last; null: it was not set

bool same(const char* one, const char* other) noexcept {
  return one == other || (one != nullptr && other != nullptr && strcmp(one, other) == 0);
}

/// While one lives, libc converts by the rank's zone.
class InZone {
 public:
  explicit InZone(TmpiZone& zone) noexcept : zone_(zone), guard_(mutex) {
    if (!known) {
      const char* const setting = getenv("TZ");
      in_force = setting == nullptr ? nullptr : strdup(setting);
      known = true;
      tzset();
    }
    if (same(in_force, zone.setting)) return;
    // A variable that is there once keeps its place: whoever reads the environment meanwhile is not disturbed. What libc
    // takes where there is none is what it takes for the name of its file.
    setenv("TZ", zone.setting == nullptr ? "/etc/localtime" : zone.setting, 1);
    free(in_force);
    in_force = zone.setting == nullptr ? nullptr : strdup(zone.setting);
    tzset();
  }
  ~InZone() {
    zone_.names[0] = tzname[0];  // libc never frees these strings
    zone_.names[1] = tzname[1];
    zone_.west = timezone;
    zone_.daylight = daylight;
  }
  InZone(const InZone&) = delete;
  InZone& operator=(const InZone&) = delete;

 private:
  TmpiZone& zone_;
  std::lock_guard<std::mutex> guard_;
};

}  // namespace

extern "C" {

void tmpi_shim_tzset(TmpiZone* zone) {
  const InZone in_zone(*zone);
}
struct tm* tmpi_shim_localtime(TmpiZone* zone, const time_t* when, struct tm* fields) {
  const InZone in_zone(*zone);
  return localtime_r(when, fields);
}
time_t tmpi_shim_mktime(TmpiZone* zone, struct tm* fields) {
  const InZone in_zone(*zone);
  return mktime(fields);
}
size_t tmpi_shim_strftime(TmpiZone* zone, char* text, size_t size, const char* format,
                          const struct tm* fields, locale_t locale) {
  const InZone in_zone(*zone);
  return locale != nullptr ? strftime_l(text, size, format, fields, locale)
                           : strftime(text, size, format, fields);
}
size_t tmpi_shim_wcsftime(TmpiZone* zone, wchar_t* text, size_t size, const wchar_t* format,
                          const struct tm* fields, locale_t locale) {
  const InZone in_zone(*zone);
  return locale != nullptr ? wcsftime_l(text, size, format, fields, locale)
                           : wcsftime(text, size, format, fields);
}
char* tmpi_shim_strptime(TmpiZone* zone, const char* text, const char* format, struct tm* fields,
                         locale_t locale) {
  const InZone in_zone(*zone);
  return locale != nullptr ? strptime_l(text, format, fields, locale) : strptime(text, format, fields);
}
int tmpi_shim_getdate(TmpiZone* zone, const char* text, struct tm* fields) {
  const InZone in_zone(*zone);
  return getdate_r(text, fields);
}

}  // extern "C"
