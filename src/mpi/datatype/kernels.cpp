#include "mpi/datatype/kernels.hpp"

namespace tmpi::mpi {

namespace {

/// Blocks of a size the compiler knows. Four at a time, so that the stores do not wait for the address
/// arithmetic.
template <std::size_t kBytes>
void fixed_blocks(Address dst, MPI_Count dstride, Address src, MPI_Count sstride, MPI_Count count) noexcept {
  MPI_Count i = 0;
  for (; i + 4 <= count; i += 4) {
    copy_fixed<kBytes>(dst, src);
    copy_fixed<kBytes>(moved(dst, dstride), moved(src, sstride));
    copy_fixed<kBytes>(moved(dst, 2 * dstride), moved(src, 2 * sstride));
    copy_fixed<kBytes>(moved(dst, 3 * dstride), moved(src, 3 * sstride));
    dst = moved(dst, 4 * dstride);
    src = moved(src, 4 * sstride);
  }
  for (; i < count; ++i) {
    copy_fixed<kBytes>(dst, src);
    dst = moved(dst, dstride);
    src = moved(src, sstride);
  }
}

/// Blocks of kPiece to 2 * kPiece bytes: a piece from the start and one from the end, which may overlap.
template <std::size_t kPiece>
void overlapped_blocks(Address dst, MPI_Count dstride, Address src, MPI_Count sstride, MPI_Count length,
                       MPI_Count count) noexcept {
  const MPI_Count tail = length - static_cast<MPI_Count>(kPiece);
  for (MPI_Count i = 0; i < count; ++i) {
    copy_fixed<kPiece>(dst, src);
    copy_fixed<kPiece>(moved(dst, tail), moved(src, tail));
    dst = moved(dst, dstride);
    src = moved(src, sstride);
  }
}

void any_blocks(Address dst, MPI_Count dstride, Address src, MPI_Count sstride, MPI_Count length,
                MPI_Count count) noexcept {
  for (MPI_Count i = 0; i < count; ++i) {
    copy_run(dst, src, length);
    dst = moved(dst, dstride);
    src = moved(src, sstride);
  }
}

}  // namespace

void copy_blocks(Address dst, MPI_Count dstride, Address src, MPI_Count sstride, MPI_Count length,
                 MPI_Count count) noexcept {
  switch (length) {
    case 1:
      return fixed_blocks<1>(dst, dstride, src, sstride, count);
    case 2:
      return fixed_blocks<2>(dst, dstride, src, sstride, count);
    case 4:
      return fixed_blocks<4>(dst, dstride, src, sstride, count);
    case 8:
      return fixed_blocks<8>(dst, dstride, src, sstride, count);
    case 16:
      return fixed_blocks<16>(dst, dstride, src, sstride, count);
    case 24:
      return fixed_blocks<24>(dst, dstride, src, sstride, count);
    default:
      break;
  }
  if (length > 64 || length < 4) return any_blocks(dst, dstride, src, sstride, length, count);
  if (length > 32) return overlapped_blocks<32>(dst, dstride, src, sstride, length, count);
  if (length > 16) return overlapped_blocks<16>(dst, dstride, src, sstride, length, count);
  if (length > 8) return overlapped_blocks<8>(dst, dstride, src, sstride, length, count);
  return overlapped_blocks<4>(dst, dstride, src, sstride, length, count);
}

}  // namespace tmpi::mpi
