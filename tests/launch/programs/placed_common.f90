! A THREADPRIVATE common block and a saved variable in a program that a plain compiler has linked.
program placed_common
  implicit none
  include 'mpif.h'
  integer :: rank, ierror, round, wrong, value(4)
  integer, save :: kept = -1
  common /block/ value
  !$omp threadprivate(/block/, kept)

  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  wrong = 0
  do round = 1, 10
    !$omp parallel num_threads(2)
    value = rank + round
    kept = rank - round
    !$omp end parallel
    call MPI_BARRIER(MPI_COMM_WORLD, ierror)
    !$omp parallel num_threads(2) reduction(+:wrong)
    if (any(value /= rank + round) .or. kept /= rank - round) wrong = wrong + 1
    !$omp end parallel
  end do
  print '(a,i0,a,i0,a)', 'rank ', rank, ': ', wrong, ' failures'
  call MPI_FINALIZE(ierror)
end program
