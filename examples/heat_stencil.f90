! The numbers of the three heat programs, without MPI: a part of the grid on the unit square with a halo one point wide,
! the explicit five-point step, and the exact discrete solution (u = sin(pi x) sin(pi y) is an eigenvector of the
! discrete Laplacian).
module heat_stencil
  implicit none
  integer, parameter :: dp = kind(1d0)
  real(dp), parameter :: pi = 3.14159265358979323846_dp
  integer :: nx = 256, ny = 256, steps = 200 ! the whole problem: arguments of the program
  integer :: mx, my, first_x, first_y        ! the part of this rank, and where it begins
  real(dp) :: rx, ry, dt
  real(dp), allocatable, asynchronous :: u(:, :)
  real(dp), allocatable, private :: next(:, :)

contains

  subroutine read_arguments()
    character(len=20) :: text
    integer :: values(3), i
    values = [nx, ny, steps]
    do i = 1, min(3, command_argument_count())
      call get_command_argument(i, text)
      read (text, *) values(i)
    end do
    nx = values(1)
    ny = values(2)
    steps = values(3)
  end subroutine

  ! The part at these coordinates of a process grid of these dimensions.
  subroutine create_part(dims, coords)
    integer, intent(in) :: dims(2), coords(2)
    real(dp) :: dx, dy
    first_x = share(nx, dims(1), coords(1))
    first_y = share(ny, dims(2), coords(2))
    mx = share(nx, dims(1), coords(1) + 1) - first_x
    my = share(ny, dims(2), coords(2) + 1) - first_y
    dx = 1._dp/(nx + 1)
    dy = 1._dp/(ny + 1)
    dt = 0.2_dp*min(dx*dx, dy*dy) ! stable: dt (1/dx^2 + 1/dy^2) <= 1/2
    rx = dt/(dx*dx)
    ry = dt/(dy*dy)
    allocate (u(0:mx + 1, 0:my + 1), next(0:mx + 1, 0:my + 1))
    call set_initial(u)
    next = 0
  end subroutine

  pure integer function share(n, parts, i)
    integer, intent(in) :: n, parts, i
    share = 1 + int(int(n, 8)*i/parts)
  end function

  subroutine set_initial(a)
    real(dp), intent(out) :: a(0:, 0:)
    integer :: i, j
    a = 0
    do j = 1, my
      do i = 1, mx
        a(i, j) = sin(pi*(first_x + i - 1)/(nx + 1))*sin(pi*(first_y + j - 1)/(ny + 1))
      end do
    end do
  end subroutine

  ! One step; the largest change of a point.
  real(dp) function step() result(largest)
    call update(u, next, largest)
    call exchange_arrays()
  end function

  subroutine update(from, to, largest)
    real(dp), intent(in) :: from(0:mx + 1, 0:my + 1)
    real(dp), intent(inout) :: to(0:mx + 1, 0:my + 1)
    real(dp), intent(out) :: largest
    integer :: i, j
    real(dp) :: change
    largest = 0
    do j = 1, my
      do i = 1, mx
        change = rx*(from(i - 1, j) - 2*from(i, j) + from(i + 1, j)) + ry*(from(i, j - 1) - 2*from(i, j) + from(i, j + 1))
        to(i, j) = from(i, j) + change
        if (abs(change) > largest) largest = abs(change)
      end do
    end do
  end subroutine

  subroutine exchange_arrays()
    real(dp), allocatable :: previous(:, :)
    call move_alloc(u, previous)
    call move_alloc(next, u)
    call move_alloc(previous, next)
  end subroutine

  ! Largest difference of this rank's points from the exact discrete solution.
  real(dp) function error_of_part()
    real(dp) :: start(0:mx + 1, 0:my + 1), factor
    factor = 1 - 4*rx*sin(pi/(2*(nx + 1)))**2 - 4*ry*sin(pi/(2*(ny + 1)))**2
    call set_initial(start)
    error_of_part = 0
    if (mx > 0 .and. my > 0) error_of_part = maxval(abs(u(1:mx, 1:my) - factor**steps*start(1:mx, 1:my)))
  end function

  subroutine report(name, ranks, seconds, residual, error)
    character(len=*), intent(in) :: name
    integer, intent(in) :: ranks
    real(dp), intent(in) :: seconds, residual, error
    print '(2a,i0,a,i0,a,i0,a,i0,a,f0.3,a,f0.1,a)', name, ': ', nx, ' x ', ny, ' points, ', steps, ' steps, ', ranks, &
      ' ranks: ', seconds, ' s, ', 1d-6*nx*ny*steps/seconds, ' Mpoints/s'
    print '(a,es20.12)', 'result residual ', residual
    print '(3a,es8.1,a)', 'check  ', merge('passed', 'FAILED', error < 1d-10), &
      ' (error against the exact discrete solution:', error, ')'
  end subroutine
end module
