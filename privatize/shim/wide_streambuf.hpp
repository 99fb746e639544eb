// Wide C++ streams over a rank's C streams, unbuffered: wide and narrow output of one stream keep their
// order.
#pragma once

#include <stdio.h>
#include <wchar.h>

#include <streambuf>

namespace tmpi::shim {

class WideStreambuf : public std::wstreambuf {
 public:
  explicit WideStreambuf(FILE* file) : file_(file) {}

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return sync() == 0 ? traits_type::not_eof(c) : c;
    return fputwc(traits_type::to_char_type(c), file_);
  }
  int sync() override { return fflush(file_); }
  int_type underflow() override {
    const int_type c = fgetwc(file_);
    return ungetwc(c, file_);
  }
  int_type uflow() override { return last_ = fgetwc(file_); }
  int_type pbackfail(int_type c) override {
    const int_type back = traits_type::eq_int_type(c, traits_type::eof()) ? last_ : c;
    last_ = traits_type::eof();
    return ungetwc(back, file_);
  }

 private:
  FILE* file_;
  int_type last_ = traits_type::eof();
};

}  // namespace tmpi::shim
