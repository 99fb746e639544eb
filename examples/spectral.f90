! The heat equation on a periodic square by a spectral method: each rank owns columns, transforms them, exchanges blocks
! with all others (MPI_Alltoall) and transforms the rows. With -fopenmp the threads of a rank share its columns.
!   mpirun -n 4 ./spectral [N [STEPS]]     N: a power of two, a multiple of the number of ranks
program spectral
  use mpi_f08
  implicit none
  integer, parameter :: dp = kind(1d0)
  real(dp), parameter :: pi = 3.14159265358979323846_dp
  integer :: n = 128, steps = 20, ranks, rank, m, i, j, t, kx, ky
  complex(dp), allocatable :: u(:, :), other(:, :)
  real(dp) :: error, start, energy
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_arguments()
  m = n/ranks
  allocate (u(n, m), other(n, m))
  do j = 1, m
    do i = 1, n
      u(i, j) = initial(i, rank*m + j)
    end do
  end do
  start = MPI_Wtime()
  do t = 1, steps
    call transform(u, .false.)
    call transpose_all(u, other)
    call transform(other, .false.)
    ! Here the first index counts the wave numbers of y, the second, of this rank, those of x.
    do j = 1, m
      kx = wave(rank*m + j)
      do i = 1, n
        ky = wave(i)
        other(i, j) = other(i, j)*exp(-(kx*kx + ky*ky)*0.01_dp)
      end do
    end do
    call transform(other, .true.)
    call transpose_all(other, u)
    call transform(u, .true.)
    u = u/(real(n, dp)*n)
  end do
  ! Waves 1 x 2 and 3 x 1 have decayed by their own factors.
  error = 0
  do j = 1, m
    do i = 1, n
      error = max(error, abs(u(i, j) - exact(i, rank*m + j)))
    end do
  end do
  energy = sum(abs(u)**2)
  call MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  call MPI_Allreduce(MPI_IN_PLACE, energy, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) then
    print '(a,i0,a,i0,a,i0,a,i0,a,f0.3,a)', 'spectral: ', n, ' x ', n, ' points, ', steps, ' steps, ', ranks, &
      ' ranks: ', MPI_Wtime() - start, ' s'
    print '(a,es20.12)', 'result energy ', energy
    print '(3a,es8.1,a)', 'check  ', merge('passed', 'FAILED', error < 1d-10), ' (largest error:', error, ')'
  end if
  call MPI_Finalize()
contains
  subroutine read_arguments()
    character(len=20) :: text
    integer :: values(2), k
    values = [n, steps]
    do k = 1, min(2, command_argument_count())
      call get_command_argument(k, text)
      read (text, *) values(k)
    end do
    n = values(1)
    steps = values(2)
    if (n < 1 .or. iand(n, n - 1) /= 0 .or. mod(n, ranks) /= 0) then
      if (rank == 0) print '(a)', 'spectral: N has to be a power of two and a multiple of the number of ranks'
      call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
  end subroutine

  real(dp) function initial(i, j)
    integer, intent(in) :: i, j
    initial = sin(2*pi*(i - 1)/n)*cos(4*pi*(j - 1)/n) + cos(6*pi*(i - 1)/n + 2*pi*(j - 1)/n)
  end function

  real(dp) function exact(i, j)
    integer, intent(in) :: i, j
    exact = exp(-0.05_dp*steps)*sin(2*pi*(i - 1)/n)*cos(4*pi*(j - 1)/n) + exp(-0.1_dp*steps)*cos(6*pi*(i - 1)/n + 2*pi*(j - 1)/n)
  end function

  integer function wave(i)
    integer, intent(in) :: i
    wave = i - 1
    if (wave > n/2) wave = wave - n
  end function

  subroutine transform(a, back)
    complex(dp), intent(inout) :: a(:, :)
    logical, intent(in) :: back
    integer :: column
    !$omp parallel do
    do column = 1, size(a, 2)
      call fft(a(:, column), merge(1, -1, back))
    end do
  end subroutine

  ! In place, radix 2.
  subroutine fft(a, direction)
    complex(dp), intent(inout) :: a(:)
    integer, intent(in) :: direction
    complex(dp) :: factor, w, x
    integer :: k, l, bit, length, half, first
    l = 1
    do k = 1, size(a)
      if (l > k) then
        x = a(k)
        a(k) = a(l)
        a(l) = x
      end if
      bit = size(a)/2
      do while (bit >= 1 .and. l > bit)
        l = l - bit
        bit = bit/2
      end do
      l = l + bit
    end do
    length = 2
    do while (length <= size(a))
      half = length/2
      do k = 1, half
        factor = exp(cmplx(0, direction*2*pi*(k - 1)/length, dp))
        do first = k, size(a), length
          w = a(first + half)*factor
          a(first + half) = a(first) - w
          a(first) = a(first) + w
        end do
      end do
      length = 2*length
    end do
  end subroutine

  ! b becomes the transposed of a, which is distributed by columns as b is.
  subroutine transpose_all(a, b)
    complex(dp), intent(in) :: a(:, :)
    complex(dp), intent(out) :: b(:, :)
    complex(dp) :: sent(m, m, ranks), got(m, m, ranks)
    integer :: k
    do k = 1, ranks
      sent(:, :, k) = transpose(a((k - 1)*m + 1:k*m, :))
    end do
    call MPI_Alltoall(sent, m*m, MPI_DOUBLE_COMPLEX, got, m*m, MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD)
    do k = 1, ranks
      b((k - 1)*m + 1:k*m, :) = got(:, :, k)
    end do
  end subroutine
end program
