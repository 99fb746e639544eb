// The C++ half: <iostream> here means a static std::ios_base::Init, as in any program.
#include <cstdio>
#include <exception>
#include <iomanip>
#include <iostream>
#include <string>

namespace {

struct Early {
  Early() { std::cout << "early " << std::flush; }
};
const Early early;  // a constructor that prints

thread_local struct ThreadObject {
  std::string name;
  ~ThreadObject() {
    if (!name.empty()) std::fprintf(stderr, "thread object %s gone\n", name.c_str());
  }
} thread_object;

}  // namespace

extern "C" {

void guest_cxx_print(int value) {
  std::cout << "value " << value << '\n';
}
void guest_cxx_hex() {
  std::cout << std::hex;
}
void guest_cxx_mix() {
  std::cout << "a ";
  std::printf("b ");
  std::cout << "c ";
  std::fputs("d\n", stdout);
}
void guest_cxx_all() {
  std::cerr << "cerr " << 1 << "\n";
  std::clog << "clog " << 2 << "\n";
  std::wcout << L"wcout " << 3 << L"\n";
  std::wcerr << L"wcerr " << 4 << L"\n";
}
bool guest_cxx_sync(bool on) {
  return std::ios_base::sync_with_stdio(on);
}
bool guest_cxx_unitbuf_and_ties() {
  return (std::cerr.flags() & std::ios_base::unitbuf) != 0 && std::cin.tie() == &std::cout &&
         std::cerr.tie() == &std::cout;
}
int guest_cxx_read(int* number, char* word) {
  std::string text;
  std::cin >> *number >> text;
  text.copy(word, text.size());
  word[text.size()] = '\0';
  return std::cin.good() ? 1 : 0;
}
void guest_cxx_thread_object(const char* name) {
  thread_object.name = name;
}
std::terminate_handler guest_cxx_set_terminate(std::terminate_handler handler) {
  return std::set_terminate(handler);
}
void guest_cxx_call_terminate() {
  std::terminate();
}
}
