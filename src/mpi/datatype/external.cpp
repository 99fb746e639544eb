#include "mpi/datatype/external.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "mpi/datatype/description.hpp"
#include "mpi/datatype/machine_types.hpp"

namespace tmpi::mpi {

namespace {

/// How a number changes beside its byte order.
enum class Form : unsigned char { kSame, kSigned, kUnsigned, kLongDouble };

/// A number as it stands in memory and in external32; `times` equal ones follow each other.
struct Number {
  int native = 0;
  int external = 0;
  Form form = Form::kSame;
  int times = 1;
};

/// What a basic element consists of: one or two kinds of numbers (a pair type).
struct Parts {
  std::array<Number, 2> numbers;
  int count = 1;
};

constexpr Number same(int bytes, int times = 1) noexcept {
  return {bytes, bytes, Form::kSame, times};
}
constexpr Number long_double(int times = 1) noexcept {
  return {16, 16, Form::kLongDouble, times};
}
constexpr Number kLong{8, 4, Form::kSigned, 1};

/// The parts of a predefined type.
Parts parts_of(const Datatype& type) noexcept {
  const MPI_Datatype handle = type.handle();
  if (handle == MPI_LONG) return {{kLong}, 1};
  if (handle == MPI_UNSIGNED_LONG) return {{Number{8, 4, Form::kUnsigned, 1}}, 1};
  if (handle == MPI_WCHAR) return {{Number{4, 2, Form::kUnsigned, 1}}, 1};
  switch (type.kind()) {
    case Kind::kLongDouble:
      return {{long_double()}, 1};
    case Kind::kLongDoubleComplex:
      return {{long_double(2)}, 1};
    case Kind::kHalfComplex:
    case Kind::kFloatComplex:
    case Kind::kDoubleComplex:
    case Kind::kQuadComplex:
    case Kind::kFloatFloat:
    case Kind::kDoubleDouble:
      return {{same(static_cast<int>(type.size() / 2), 2)}, 1};
    case Kind::kFloatInt:
    case Kind::kIntInt:
      return {{same(4, 2)}, 1};
    case Kind::kDoubleInt:
      return {{same(8), same(4)}, 2};
    case Kind::kLongInt:
      return {{kLong, same(4)}, 2};
    case Kind::kShortInt:
      return {{same(2), same(4)}, 2};
    case Kind::kLongDoubleInt:
      return {{long_double(), same(4)}, 2};
    default:
      return {{same(static_cast<int>(type.size()))}, 1};
  }
}

/// Calls visit(predefined type, how many) for the basic elements of `count` elements of `type`, in order;
/// ends when a visit fails. As deep as types are nested.
template <class Visit>
Err each_basic(const Datatype& type, MPI_Count count, Visit&& visit) {
  if (type.size() == 0 || count == 0) return kOk;
  if (type.predefined()) return visit(type, count);
  const Description& description = type.description();
  if (description.blocklengths.empty()) {  // one type, repeated as often as the size says
    const Datatype& old = *description.types[0];
    return each_basic(old, count * (type.size() / old.size()), visit);
  }
  for (MPI_Count i = 0; i < count; ++i) {
    for (std::size_t block = 0; block < description.types.size(); ++block)
      TMPI_TRY(each_basic(*description.types[block], description.blocklengths[block], visit));
  }
  return kOk;
}

void reverse_bytes(void* to, const void* from, int bytes) noexcept {
  const auto* source = static_cast<const std::byte*>(from);
  std::reverse_copy(source, source + bytes, static_cast<std::byte*>(to));
}

/// The low bytes of an integer, most significant first, and back; the sign fills what is missing.
bool narrow(void* external, const void* native, const Number& number) noexcept {
  std::int64_t value = 0;
  std::memcpy(&value, native, static_cast<std::size_t>(number.native));  // little-endian, zero-extended
  const int bits = 8 * number.external;
  if (number.form == Form::kUnsigned
          ? (static_cast<std::uint64_t>(value) >> bits) != 0
          : value < -(std::int64_t{1} << (bits - 1)) || value >= std::int64_t{1} << (bits - 1))
    return false;
  reverse_bytes(external, &value, number.external);
  return true;
}
void widen(void* native, const void* external, const Number& number) noexcept {
  std::uint64_t value = 0;
  reverse_bytes(&value, external, number.external);
  const std::uint64_t sign = std::uint64_t{1} << (8 * number.external - 1);
  if (number.form == Form::kSigned) value = (value ^ sign) - sign;
  std::memcpy(native, &value, static_cast<std::size_t>(number.native));
}

Err out_of_range(const Datatype& type, const Number& number) {
  return fail(MPI_ERR_CONVERSION,
              "a value of {} does not fit into the {} bytes it has in external32; use a type of fixed size, "
              "such as MPI_INT64_T",
              type.name(), number.external);
}

/// One number to external32.
bool externalize(void* external, const void* native, const Number& number) noexcept {
  switch (number.form) {
    case Form::kSame:
      reverse_bytes(external, native, number.native);
      return true;
    case Form::kLongDouble: {
      long double value;
      std::memcpy(&value, native, sizeof value);
      const Quad quad = value;  // exact: more digits, the same range
      reverse_bytes(external, &quad, sizeof quad);
      return true;
    }
    default:
      return narrow(external, native, number);
  }
}

/// One number from external32.
void internalize(void* native, const void* external, const Number& number) noexcept {
  switch (number.form) {
    case Form::kSame:
      reverse_bytes(native, external, number.native);
      return;
    case Form::kLongDouble: {
      Quad quad;
      reverse_bytes(&quad, external, sizeof quad);
      long double value{};
      std::memset(&value, 0, sizeof value);  // the padding too
      const auto rounded = static_cast<long double>(quad);
      std::memcpy(&value, &rounded, 10);
      std::memcpy(native, &value, sizeof value);
      return;
    }
    default:
      widen(native, external, number);
  }
}

/// The native packed stream of a message, moved through a window of some thousand bytes.
class Window {
 public:
  Window(const void* buf, MPI_Count count, const Datatype& type)
      : buffer_(const_cast<void*>(buf)), count_(count), type_(type), left_(count * type.size()) {}

  /// The next `bytes` bytes of the stream, to be read.
  const std::byte* read(int bytes) {
    if (end_ - begin_ < bytes) refill();
    begin_ += bytes;
    return window_.data() + begin_ - bytes;
  }
  /// Room for the next `bytes` bytes, to be written before the next call.
  std::byte* write(int bytes) {
    if (kSize - end_ < bytes) flush();
    end_ += bytes;
    return window_.data() + end_ - bytes;
  }
  void flush() {
    unpack_segment(buffer_, count_, type_, window_.data(), offset_, end_);
    offset_ += end_;
    end_ = 0;
  }

 private:
  static constexpr int kSize = 4096;
  void refill() {
    const int kept = end_ - begin_;
    std::memmove(window_.data(), window_.data() + begin_, static_cast<std::size_t>(kept));
    const MPI_Count more = std::min<MPI_Count>(kSize - kept, left_);
    pack_segment(window_.data() + kept, buffer_, count_, type_, offset_, more);
    offset_ += more;
    left_ -= more;
    begin_ = 0;
    end_ = kept + static_cast<int>(more);
  }

  void* buffer_;
  MPI_Count count_;
  const Datatype& type_;
  MPI_Count left_;        // of the stream, not yet read
  MPI_Count offset_ = 0;  // of the stream, where the window ends (reading) or begins (writing)
  int begin_ = 0, end_ = 0;
  std::array<std::byte, kSize> window_;
};

}  // namespace

MPI_Count external_size(const Datatype& type) {
  if (type.predefined()) {
    const Parts parts = parts_of(type);
    MPI_Count bytes = 0;
    for (int i = 0; i < parts.count; ++i) bytes += parts.numbers[i].external * parts.numbers[i].times;
    return bytes;
  }
  if (type.size() == 0) return 0;
  const Description& description = type.description();
  if (description.blocklengths.empty()) {
    const Datatype& old = *description.types[0];
    return type.size() / old.size() * external_size(old);
  }
  MPI_Count bytes = 0;
  for (std::size_t block = 0; block < description.types.size(); ++block)
    bytes += description.blocklengths[block] * external_size(*description.types[block]);
  return bytes;
}

Err pack_external(void* external, const void* buf, MPI_Count count, const Datatype& type) {
  Window window(buf, count, type);
  auto* out = static_cast<std::byte*>(external);
  return each_basic(type, count, [&](const Datatype& basic, MPI_Count n) -> Err {
    const Parts parts = parts_of(basic);
    for (MPI_Count i = 0; i < n; ++i) {
      for (int part = 0; part < parts.count; ++part) {
        const Number& number = parts.numbers[part];
        for (int k = 0; k < number.times; ++k, out += number.external) {
          if (!externalize(out, window.read(number.native), number)) return out_of_range(basic, number);
        }
      }
    }
    return kOk;
  });
}

void unpack_external(void* buf, MPI_Count count, const Datatype& type, const void* external) {
  Window window(buf, count, type);
  const auto* in = static_cast<const std::byte*>(external);
  (void)each_basic(type, count, [&](const Datatype& basic, MPI_Count n) -> Err {
    const Parts parts = parts_of(basic);
    for (MPI_Count i = 0; i < n; ++i) {
      for (int part = 0; part < parts.count; ++part) {
        const Number& number = parts.numbers[part];
        for (int k = 0; k < number.times; ++k, in += number.external)
          internalize(window.write(number.native), in, number);
      }
    }
    return kOk;
  });
  window.flush();
}

}  // namespace tmpi::mpi
