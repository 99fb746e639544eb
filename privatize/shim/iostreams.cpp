// std::cout, cin, cerr, clog and the wide four as objects of the rank: a shared std::cout would carry one
// rank's std::hex into another's output. They stand on the rank's C streams, so C and C++ output keep their
// order; sync_with_stdio(false), which permits but does not demand a buffer of their own, changes nothing
// else.
#include "privatize/shim/iostreams.hpp"

#include <stdio.h>

#include <ext/stdio_sync_filebuf.h>
#include <istream>
#include <new>
#include <ostream>

#include "privatize/shim/wide_streambuf.hpp"

// Bytes under the objects' names, as in libstdc++: no constructor of this file may run by itself, and a
// program may hold COPYs (equally raw memory before construction). Together on pages of their own, which a C
// program never touches.
#define TMPI_STREAM(identifier, symbol, type)                                                               \
  extern "C" __attribute__((visibility("default"), section(".bss.tmpi_iostreams"), aligned(alignof(type)))) \
  std::byte identifier[sizeof(type)] __asm__(symbol);                                                       \
  std::byte identifier[sizeof(type)];
TMPI_STREAM(tmpi_cin, "_ZSt3cin", std::istream)
TMPI_STREAM(tmpi_cout, "_ZSt4cout", std::ostream)
TMPI_STREAM(tmpi_cerr, "_ZSt4cerr", std::ostream)
TMPI_STREAM(tmpi_clog, "_ZSt4clog", std::ostream)
TMPI_STREAM(tmpi_wcin, "_ZSt4wcin", std::wistream)
TMPI_STREAM(tmpi_wcout, "_ZSt5wcout", std::wostream)
TMPI_STREAM(tmpi_wcerr, "_ZSt5wcerr", std::wostream)
TMPI_STREAM(tmpi_wclog, "_ZSt5wclog", std::wostream)

namespace tmpi::shim {
namespace {

using NarrowBuffer = __gnu_cxx::stdio_sync_filebuf<char>;

template <class T>
struct Storage {
  alignas(T) std::byte bytes[sizeof(T)];
};
__attribute__((section(".bss.tmpi_iostreams"))) Storage<NarrowBuffer> narrow_buffers[3];
__attribute__((section(".bss.tmpi_iostreams"))) Storage<WideStreambuf> wide_buffers[3];

int init_count;  // of living std::ios_base::Init objects
bool constructed;
bool synchronised = true;

template <class Stream>
Stream& stream(std::byte* bytes) {
  return *std::launder(reinterpret_cast<Stream*>(bytes));
}

/// The four streams of one character type over buffers for stdin, stdout and stderr.
template <class Char, class Buffer>
void construct(Storage<Buffer> (&buffers)[3], std::byte* in, std::byte* out, std::byte* err, std::byte* log) {
  using Out = std::basic_ostream<Char>;
  Buffer* from = new (buffers[0].bytes) Buffer(stdin);
  Buffer* to = new (buffers[1].bytes) Buffer(stdout);
  Buffer* to_error = new (buffers[2].bytes) Buffer(stderr);
  auto* input = new (in) std::basic_istream<Char>(from);
  auto* output = new (out) Out(to);
  auto* error = new (err) Out(to_error);
  new (log) Out(to_error);
  input->tie(output);
  error->tie(output);
  error->setf(std::ios_base::unitbuf);
}

void construct_all() {
  if (constructed) return;
  constructed = true;
  construct<char>(narrow_buffers, tmpi_cin, tmpi_cout, tmpi_cerr, tmpi_clog);
  construct<wchar_t>(wide_buffers, tmpi_wcin, tmpi_wcout, tmpi_wcerr, tmpi_wclog);
}

/// What the last Init's destructor does: the program may have put buffers of its own behind the streams. No
/// exception leaves it.
void flush_streams() noexcept {
  try {
    for (std::byte* bytes : {tmpi_cout, tmpi_cerr, tmpi_clog}) stream<std::ostream>(bytes).flush();
    for (std::byte* bytes : {tmpi_wcout, tmpi_wcerr, tmpi_wclog}) stream<std::wostream>(bytes).flush();
  } catch (...) {
    // As in libstdc++: at this point nobody is left to be told.
  }
}

}  // namespace

void start_iostreams() noexcept {
#if _GLIBCXX_RELEASE >= 13
  construct_all();  // from here on <iostream> leaves the construction to libstdc++.so itself
#endif
}

}  // namespace tmpi::shim

// A static object of this class stands in every file that includes <iostream>.
__attribute__((visibility("default"))) std::ios_base::Init::Init() {
  ++tmpi::shim::init_count;
  tmpi::shim::construct_all();
}

__attribute__((visibility("default"))) std::ios_base::Init::~Init() {
  if (--tmpi::shim::init_count == 0) tmpi::shim::flush_streams();
}

__attribute__((visibility("default"))) bool std::ios_base::sync_with_stdio(bool synchronise) {
  const bool previous = tmpi::shim::synchronised;
  tmpi::shim::synchronised = synchronise;
  return previous;
}
