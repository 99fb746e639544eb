! ARPACK: reverse communication, whose state between two calls is in SAVE variables. Each rank looks for the largest eigenvalues of
! a diagonal matrix of its own.
program arpack
  use mpi
  implicit none
  integer, parameter :: n = 100, wanted = 4, basis = 20
  double precision :: residual(n), v(n, basis), workd(3*n), workl(basis*(basis + 8)), d(wanted)
  double precision :: scale, sigma, found
  integer :: iparam(11), ipntr(11), ido, info, rank, ranks, error, i
  logical :: done, all_done, chosen(basis)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  scale = 1 + rank
  iparam = 0
  iparam(1) = 1
  iparam(3) = 300 + rank
  iparam(7) = 1
  residual = [(1 + mod(i*(rank + 3), 7), i=1, n)]
  info = 1
  ido = 0
  done = .false.
  do
    if (.not. done) then
      call dsaupd(ido, 'I', n, 'LA', wanted, 1d-10, residual, basis, v, n, iparam, ipntr, workd, workl, size(workl), info)
      if (abs(ido) == 1) then
        do i = 1, n
          workd(ipntr(2) + i - 1) = scale*i*workd(ipntr(1) + i - 1)
        end do
      else
        done = .true.
      end if
    end if
    call MPI_Allreduce(done, all_done, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
    if (all_done) exit
  end do
  if (info /= 0) call fail('dsaupd', info)
  call dseupd(.false., 'A', chosen, d, v, n, sigma, 'I', n, 'LA', wanted, 1d-10, residual, basis, v, n, iparam, ipntr, workd, workl, &
              size(workl), info)
  if (info /= 0) call fail('dseupd', info)
  do i = 1, wanted
    if (abs(d(i) - scale*(n - wanted + i)) > 1d-6*scale) call fail('eigenvalue', i)
  end do
  call MPI_Reduce(d(wanted), found, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(i0, a, f0.4)', ranks, ' ranks, result ', found
  call MPI_Finalize(error)

contains
  subroutine fail(what, code)
    character(*), intent(in) :: what
    integer, intent(in) :: code
    print '(a, i0, 3a, i0, 4f12.4)', 'FAILED rank ', rank, ': ', what, ' ', code, d
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine
end program
