! Prints "rank R of N, seen S": S sums a module variable, a saved one and one of a COMMON block that each rank changed by itself.
module state
  integer :: of_module = 1
end module
program hello
  use mpi_f08
  use state
  implicit none
  integer :: rank, size
  integer, save :: saved = 2
  integer :: common_one
  common /shared/ common_one
  common_one = 3
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  of_module = of_module + rank
  saved = saved + rank
  common_one = common_one + rank
  call MPI_Barrier(MPI_COMM_WORLD)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ', seen ', of_module + saved + common_one
  call MPI_Finalize()
end program
