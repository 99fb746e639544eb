#include "mpi/datatype/kernels.hpp"

namespace tmpi::mpi {

namespace {

template <std::size_t kBytes>
void fixed_blocks(Address dst, MPI_Count dstride, Address src, MPI_Count sstride, MPI_Count count) noexcept {
  for (MPI_Count i = 0; i < count; ++i) {
    copy_fixed<kBytes>(dst, src);
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
    case 12:
      return fixed_blocks<12>(dst, dstride, src, sstride, count);
    case 16:
      return fixed_blocks<16>(dst, dstride, src, sstride, count);
    case 24:
      return fixed_blocks<24>(dst, dstride, src, sstride, count);
    case 32:
      return fixed_blocks<32>(dst, dstride, src, sstride, count);
    case 40:
      return fixed_blocks<40>(dst, dstride, src, sstride, count);
    case 48:
      return fixed_blocks<48>(dst, dstride, src, sstride, count);
    case 64:
      return fixed_blocks<64>(dst, dstride, src, sstride, count);
    case 128:
      return fixed_blocks<128>(dst, dstride, src, sstride, count);
    default:
      return any_blocks(dst, dstride, src, sstride, length, count);
  }
}

}  // namespace tmpi::mpi
