! LAPACK with the program's own XERBLA: what a program defines replaces what a library refers to.
module told
  implicit none
  integer :: times = 0, argument = 0
  character(6) :: routine = ''
end module

subroutine xerbla(name, info)
  use told
  implicit none
  character(*), intent(in) :: name
  integer, intent(in) :: info
  times = times + 1
  argument = info
  routine = name
end subroutine

program own_xerbla
  use mpi
  use told
  implicit none
  integer, parameter :: n = 12
  double precision :: a(n, n), b(n), found, all_found
  integer :: pivots(n), info, rank, ranks, error, round, i, j

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do round = 1, 5
    call MPI_Barrier(MPI_COMM_WORLD, error)
    do i = 1, 1 + mod(rank, 3)
      call dgesv(-1, 1, a, n, pivots, b, n, info)
      call check(info == -1)
      call check(argument == 1)
      call check(routine == 'DGESV')
    end do
    call check(times == round*(1 + mod(rank, 3)))
    call MPI_Barrier(MPI_COMM_WORLD, error)
    do j = 1, n
      do i = 1, n
        a(i, j) = merge(4 + rank, 1, i == j)
      end do
    end do
    b = sum(a, 2)
    call dgesv(n, 1, a, n, pivots, b, n, info)
    call check(info == 0)
    call check(maxval(abs(b - 1)) < 1d-12)
  end do
  call MPI_Reduce(dble(times), all_found, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  found = all_found
  if (rank == 0) print '(i0, a, f0.3)', ranks, ' ranks, result ', found
  call MPI_Finalize(error)

contains
  subroutine check(right)
    logical, intent(in) :: right
    if (right) return
    print '(a, i0, a, i0, a, 3i6, 2a)', 'FAILED rank ', rank, ' round ', round, ': ', info, times, argument, ' ', routine
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine
end program
