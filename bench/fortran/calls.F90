! What a call costs through each interface, beside the same call in C (calls_c.c): nanoseconds, the least of several rounds.
!   tmpirun -n 1 ./fortran_calls
subroutine by_mpif(comm, n, seconds)
  implicit none
  include 'mpif.h'
  integer :: comm, n, i, ierr, request, a(100), status(MPI_STATUS_SIZE)
  double precision :: seconds(4), start
  start = MPI_WTIME()
  do i = 1, n
    call MPI_SEND(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, ierr)
  end do
  seconds(1) = MPI_WTIME() - start
  start = MPI_WTIME()
  do i = 1, n
    call MPI_RECV(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, status, ierr)
  end do
  seconds(2) = MPI_WTIME() - start
  start = MPI_WTIME()
  do i = 1, n
    call MPI_ISEND(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, request, ierr)
    call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
  end do
  seconds(3) = MPI_WTIME() - start
  start = MPI_WTIME()
  do i = 1, n
    call MPI_COMM_RANK(comm, a, ierr)
  end do
  seconds(4) = MPI_WTIME() - start
end subroutine

subroutine by_mpi(comm, n, seconds)
  use mpi
  implicit none
  integer :: comm, n, i, ierr, request, a(100), status(MPI_STATUS_SIZE)
  double precision :: seconds(4), start
  start = MPI_Wtime()
  do i = 1, n
    call MPI_Send(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, ierr)
  end do
  seconds(1) = MPI_Wtime() - start
  start = MPI_Wtime()
  do i = 1, n
    call MPI_Recv(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, status, ierr)
  end do
  seconds(2) = MPI_Wtime() - start
  start = MPI_Wtime()
  do i = 1, n
    call MPI_Isend(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end do
  seconds(3) = MPI_Wtime() - start
  start = MPI_Wtime()
  do i = 1, n
    call MPI_Comm_rank(comm, a(1), ierr)
  end do
  seconds(4) = MPI_Wtime() - start
end subroutine

subroutine by_f08(comm_value, n, seconds)
  use mpi_f08
  implicit none
  integer :: comm_value, n, i, a(100)
  type(MPI_Comm) :: comm
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  double precision :: seconds(4), start
  comm%MPI_VAL = comm_value
  start = MPI_Wtime()
  do i = 1, n
    call MPI_Send(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm)
  end do
  seconds(1) = MPI_Wtime() - start
  start = MPI_Wtime()
  do i = 1, n
    call MPI_Recv(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, status)
  end do
  seconds(2) = MPI_Wtime() - start
  start = MPI_Wtime()
  do i = 1, n
    call MPI_Isend(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end do
  seconds(3) = MPI_Wtime() - start
  start = MPI_Wtime()
  do i = 1, n
    call MPI_Comm_rank(comm, a(1))
  end do
  seconds(4) = MPI_Wtime() - start
end subroutine

program fortran_calls
  use mpi
  implicit none
  external :: by_mpif, by_mpi, by_f08, by_c
  integer, parameter :: n = 200000
  integer :: comm, ierr, k
  double precision :: seconds(4), least(4, 4)
  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  least = huge(least)
  do k = 1, 20
    call by_c(comm, n, seconds)
    least(:, 1) = min(least(:, 1), seconds)
    call by_mpif(comm, n, seconds)
    least(:, 2) = min(least(:, 2), seconds)
    call by_mpi(comm, n, seconds)
    least(:, 3) = min(least(:, 3), seconds)
    call by_f08(comm, n, seconds)
    least(:, 4) = min(least(:, 4), seconds)
  end do
  print '(a)', 'ns per call            C    mpif.h       mpi   mpi_f08'
  print '(a,4f10.1)', 'Send         ', least(1, :)/n*1e9
  print '(a,4f10.1)', 'Recv         ', least(2, :)/n*1e9
  print '(a,4f10.1)', 'Isend + Wait ', least(3, :)/n*1e9
  print '(a,4f10.1)', 'Comm_rank    ', least(4, :)/n*1e9
  call MPI_Finalize(ierr)
end program
