// The C++ half.
#include <cstdio>
#include <string>

namespace {

thread_local struct ThreadObject {
  std::string name;
  ~ThreadObject() {
    if (!name.empty()) std::fprintf(stderr, "thread object %s gone\n", name.c_str());
  }
} thread_object;

}  // namespace

extern "C" void guest_cxx_thread_object(const char* name) {
  thread_object.name = name;
}
