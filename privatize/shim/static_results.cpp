// Functions of libc that answer in a static object, or keep one between calls: the object is the rank's. All
// over libc's _r forms.
#include <math.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "privatize/shim/host/libc_originals.hpp"

namespace {

char* strtok_rest;
struct tm broken_down;  // one object for localtime and gmtime, as the standard allows and programs assume
char time_text[32];     // "Thu Nov 24 18:22:48 1986\n", 26 bytes in the years that asctime_r accepts
char unknown_text[64];
struct hsearch_data hash_table;

}  // namespace

extern "C" {

char* strtok(char* text, const char* delimiters) {
  return strtok_r(text, delimiters, &strtok_rest);
}

struct tm* localtime(const time_t* when) {
  tzset();  // localtime must, localtime_r need not
  return localtime_r(when, &broken_down);
}
struct tm* gmtime(const time_t* when) {
  return gmtime_r(when, &broken_down);
}
char* asctime(const struct tm* fields) {
  return asctime_r(fields, time_text);
}
char* ctime(const time_t* when) {
  const struct tm* fields = localtime(when);
  return fields != nullptr ? asctime(fields) : nullptr;
}

char* strerror(int number) {
  return strerror_r(number, unknown_text, sizeof unknown_text);
}

char* strsignal(int number) {
  if (sigdescr_np(number) != nullptr) return tmpi_libc.strsignal(number);  // a constant text of the locale
  snprintf(unknown_text, sizeof unknown_text, "%s", tmpi_libc.strsignal(number));
  return unknown_text;
}

int hcreate(size_t size) noexcept {
  return hcreate_r(size, &hash_table);
}
void hdestroy() noexcept {
  hdestroy_r(&hash_table);
}
ENTRY* hsearch(ENTRY item, ACTION action) noexcept {
  ENTRY* found;
  hsearch_r(item, action, &found, &hash_table);
  return found;
}

// The sign of the gamma function, which lgamma leaves in a global.
int signgam;
double lgamma(double x) {
  return lgamma_r(x, &signgam);
}
float lgammaf(float x) {
  return lgammaf_r(x, &signgam);
}
long double lgammal(long double x) {
  return lgammal_r(x, &signgam);
}
double gamma(double x) {
  return lgamma_r(x, &signgam);
}
float gammaf(float x) {
  return lgammaf_r(x, &signgam);
}
long double gammal(long double x) {
  return lgammal_r(x, &signgam);
}

}  // extern "C"
