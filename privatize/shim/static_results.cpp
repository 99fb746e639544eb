// Functions of libc that answer in a static object, or keep one between calls: the object is the rank's. All
// over libc's _r forms.
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/ether.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "privatize/shim/descriptors.hpp"
#include "privatize/shim/host/libc_originals.hpp"

namespace {

char* strtok_rest;
char unknown_text[64];
struct hsearch_data hash_table;

char address_text[INET_ADDRSTRLEN];
char name_text[256];  // of a terminal, of who has logged in
char base64_text[7];  // 32 bits in sixes
ether_addr hardware_address;
char hardware_text[18];
char* digits;                         // of ecvt and its like
constexpr size_t kMostDigits = 5120;  // the largest long double has 4933 before its point

/// `convert(buffer, size)` is one of the _r forms.
template <class Convert>
char* to_digits(Convert convert) {
  if (digits == nullptr) digits = static_cast<char*>(malloc(kMostDigits));
  return digits != nullptr && convert(digits, kMostDigits) == 0 ? digits : nullptr;
}

}  // namespace

extern "C" {

char* strtok(char* text, const char* delimiters) {
  return strtok_r(text, delimiters, &strtok_rest);
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

char* inet_ntoa(in_addr address) noexcept {
  return const_cast<char*>(tmpi_libc.inet_ntop(AF_INET, &address, address_text, sizeof address_text));
}
char* ether_ntoa(const ether_addr* address) noexcept {
  return tmpi_libc.ether_ntoa_r(address, hardware_text);
}
ether_addr* ether_aton(const char* text) noexcept {
  return tmpi_libc.ether_aton_r(text, &hardware_address);
}

char* ttyname(int fd) noexcept {
  if (isatty(fd) == 0) return nullptr;
  const int error = tmpi_libc.ttyname_r(tmpi::shim::real_descriptor(fd), name_text, sizeof name_text);
  if (error == 0) return name_text;
  errno = error;
  return nullptr;
}
char* ptsname(int fd) noexcept {
  return tmpi_libc.ptsname_r(fd, name_text, sizeof name_text) == 0 ? name_text : nullptr;
}
char* getlogin() {
  const int error = tmpi_libc.getlogin_r(name_text, sizeof name_text);
  if (error == 0) return name_text;
  errno = error;
  return nullptr;
}
char* cuserid(char* text) {
  return tmpi_libc.cuserid(text != nullptr ? text : name_text);
}

char* l64a(long number) noexcept {
  static const char kDigits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  char* end = base64_text;
  for (auto rest = static_cast<unsigned>(number); rest != 0; rest >>= 6) *end++ = kDigits[rest & 63];
  *end = '\0';
  return base64_text;
}

char* ecvt(double value, int count, int* point, int* sign) noexcept {
  return to_digits(
      [=](char* text, size_t size) { return tmpi_libc.ecvt_r(value, count, point, sign, text, size); });
}
char* fcvt(double value, int count, int* point, int* sign) noexcept {
  return to_digits(
      [=](char* text, size_t size) { return tmpi_libc.fcvt_r(value, count, point, sign, text, size); });
}
char* qecvt(long double value, int count, int* point, int* sign) noexcept {
  return to_digits(
      [=](char* text, size_t size) { return tmpi_libc.qecvt_r(value, count, point, sign, text, size); });
}
char* qfcvt(long double value, int count, int* point, int* sign) noexcept {
  return to_digits(
      [=](char* text, size_t size) { return tmpi_libc.qfcvt_r(value, count, point, sign, text, size); });
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
