! The ways in which a rank of a Fortran program ends: the first argument says which.
program ends
  use mpi_f08
  integer :: me, i
  character(20) :: what
  real, allocatable :: a(:)
  real :: x, y
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call get_command_argument(1, what)
  if (what == 'stop') then
     call MPI_Finalize()
     print *, 'before stop', me
     stop
  else if (what == 'stop3') then
     call MPI_Finalize()
     if (me == 1) stop 3
  else if (what == 'stoptext') then
     call MPI_Finalize()
     stop 'all done'
  else if (what == 'error') then
     if (me == 1) error stop 4
     call MPI_Barrier(MPI_COMM_WORLD)
  else if (what == 'exit') then
     call MPI_Finalize()
     call exit(0)
  else if (what == 'fpe') then
     y = 0
     x = me / y
     print *, x
     call MPI_Finalize()
     stop
  else if (what == 'bounds') then
     allocate(a(3))
     i = 5 
     if (me == 1) a(i) = 1
     call MPI_Barrier(MPI_COMM_WORLD)
  else if (what == 'read') then
     if (me == 1) open(11, file='/nonexistent/x', status='old')
     call MPI_Barrier(MPI_COMM_WORLD)
  else if (what == 'alloc') then
     if (me == 1) deallocate(a)
     call MPI_Barrier(MPI_COMM_WORLD)
  else if (what == 'null') then
     if (me == 1) call MPI_Send(a, 10, MPI_REAL, 0, 1, MPI_COMM_WORLD)
     if (me == 0) call MPI_Recv(x, 1, MPI_REAL, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  else if (what == 'segv') then
    if (me == 1) call write_to(64_8)
    call MPI_Barrier(MPI_COMM_WORLD)
  else if (what == 'numbers') then
     call wrong_numbers()
     call MPI_Finalize()
  else if (what == 'buffers') then
     call buffers_gone()
     call MPI_Finalize()
  else if (what == 'kinds') then
     call wrong_kinds()
     call MPI_Finalize()
  else if (what == 'operators') then
    call too_many_operators(70)
  else if (what == 'overflow') then
     if (me == 1) call big(1)
     call MPI_Barrier(MPI_COMM_WORLD)
  else if (what == 'partial') then
     write(*,'(a)',advance='no') 'part '
     call MPI_Barrier(MPI_COMM_WORLD)
     write(*,'(a,i0)') 'of rank ', me
     call MPI_Finalize()
  else if (what == 'report' .or. what == 'misuse') then
     call reported(what == 'misuse')
     call MPI_Finalize()
  else if (what == 'abort') then
     if (me == 1) call abort()
     call MPI_Barrier(MPI_COMM_WORLD)
  end if
contains
  subroutine write_to(address)
    use, intrinsic :: iso_c_binding
    integer(8), intent(in) :: address
    integer, pointer :: x
    call c_f_pointer(transfer(address, c_null_ptr), x)
    x = 5
  end subroutine
  recursive subroutine big(k)
    integer :: k
    real :: room(100000)
    room = k
    call big(k+1)
    print *, room(k)
  end subroutine
end program

! What --profile, --trace and --check name lines of: calls by all ways through the bindings. The section makes a datatype.
subroutine reported(wrong)
  use mpi_f08
  implicit none
  logical, intent(in) :: wrong
  type(MPI_Comm) :: comm
  type(MPI_Request) :: request
  integer :: grid(6, 6), other
  grid = 1
  call MPI_Bcast(grid(2, :), 6, MPI_INTEGER, 0, MPI_COMM_WORLD) ! section
  call old_way(other)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm) ! not freed
  if (.not. wrong) return
  call MPI_Isend(grid, 36, MPI_INTEGER, 0, 0, MPI_COMM_SELF, request) ! pending
  call MPI_Recv(grid, 36, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE) ! overwrites
  call MPI_Wait(request, MPI_STATUS_IGNORE)
end subroutine
subroutine old_way(other)
  integer :: other
  include 'mpif.h'
  call MPI_Allreduce(MPI_IN_PLACE, other, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror) ! by mpif.h
end subroutine

! Internal procedures of one host that is active many times are all different.
recursive subroutine too_many_operators(n)
  use mpi_f08
  implicit none
  integer, intent(in) :: n
  type(MPI_Op) :: op
  integer :: mine
  mine = n
  call MPI_Op_create(nothing, .true., op)
  if (n > 1) call too_many_operators(n - 1)
  call MPI_Op_free(op)
contains
  subroutine nothing(a, b, len, type)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: a, b
    integer :: len
    type(MPI_Datatype) :: type
    len = mine
  end subroutine
end subroutine

! Integers that are no handles of the kind that is asked for, which modules of INTEGER handles cannot see: each is an error, none a crash.
subroutine wrong_numbers()
  implicit none
  include 'mpif.h'
  integer, parameter :: many = 15, made = 8
  integer :: numbers(many + made), i, k, x(4), e, s(MPI_STATUS_SIZE), n, refused
  logical :: f
  refused = 0
  numbers(:many) = [-2147483647 - 1, -1000, -1, 5, 77, 255, 256, 1023, 4000, 4095, 5000, 70000, 16777216, 1140850688, 2147483647]
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
  call MPI_Comm_dup(MPI_COMM_SELF, numbers(many + 1), e)
  call MPI_Type_contiguous(3, MPI_INTEGER, numbers(many + 2), e)
  call MPI_Comm_group(MPI_COMM_SELF, numbers(many + 3), e)
  call MPI_Info_create(numbers(many + 4), e)
  call MPI_Recv_init(x, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, numbers(many + 5), e)
  call MPI_Win_create(x, 16_8, 4, MPI_INFO_NULL, MPI_COMM_SELF, numbers(many + 6), e)
  call MPI_File_open(MPI_COMM_SELF, '/dev/null', MPI_MODE_RDONLY, MPI_INFO_NULL, numbers(many + 7), e)
  numbers(many + 8) = MPI_SUM
  do i = 1, many + made
    k = numbers(i)
    if (i /= many + 1) call MPI_Send(x, 1, MPI_INTEGER, MPI_PROC_NULL, 0, k, e)
    call note(1)
    if (i /= many + 2) call MPI_Type_dup(k, n, e)
    call note(2)
    if (i /= many + 8) call MPI_Allreduce(x, x(2), 1, MPI_INTEGER, k, MPI_COMM_SELF, e)
    call note(8)
    if (i /= many + 3) call MPI_Group_size(k, n, e)
    call note(3)
    if (i /= many + 4) call MPI_Info_get_nkeys(k, n, e)
    call note(4)
    if (i /= many + 6) call MPI_Win_fence(0, k, e)
    call note(6)
    if (i /= many + 7) call MPI_File_get_amode(k, n, e)
    call note(7)
    n = k
    if (i /= many + 5) call MPI_Test(n, f, s, e)
    call note(5)
    n = k
    call MPI_Mrecv(x, 1, MPI_INTEGER, n, s, e)
    call note(-many) ! none of ours is one
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, k, e)
    call note(-many) ! none of ours is one
  end do
  print '(i0,a,i0,a)', refused, ' of ', 10*(many + made) - made, ' are refused'
contains
  subroutine note(own)
    integer, intent(in) :: own
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length, error
    if (i == many + own) return
    if (e == MPI_SUCCESS) print *, k, 'is taken'
    if (e /= MPI_SUCCESS) refused = refused + 1
    call MPI_Error_string(e, text, length, error)
    if (index(text(:length), ': ') == 0) print *, text(:length)
    e = MPI_SUCCESS
  end subroutine
end subroutine

! An array that is not allocated, or no longer, is a buffer of no address.
subroutine buffers_gone()
  use mpi_f08
  implicit none
  real, allocatable :: never(:), gone(:)
  integer :: e(8), class, i
  type(MPI_Request) :: request
  interface
    subroutine gone_by_mpi(a, e)
      real, allocatable :: a(:)
      integer :: e(2)
    end subroutine
    subroutine gone_by_mpif(a, e)
      real, allocatable :: a(:)
      integer :: e(2)
    end subroutine
  end interface
  allocate (gone(10))
  deallocate (gone)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  e = -1
  call MPI_Send(gone, 10, MPI_REAL, 0, 0, MPI_COMM_SELF, e(1))
  call MPI_Irecv(never, 10, MPI_REAL, 0, 0, MPI_COMM_SELF, request, e(2))
  call MPI_Bcast(gone, 10, MPI_REAL, 0, MPI_COMM_SELF, e(3))
  call MPI_Allreduce(MPI_IN_PLACE, never, 10, MPI_REAL, MPI_SUM, MPI_COMM_SELF, e(4))
  call gone_by_mpi(gone, e(5:6))
  call gone_by_mpif(gone, e(7:8))
  do i = 1, 8
    call MPI_Error_class(e(i), class)
    if (class /= MPI_ERR_BUFFER) print *, 'call', i, 'ends with', e(i)
  end do
  print '(a)', 'all are refused'
end subroutine
subroutine gone_by_mpi(a, e)
  use mpi
  real, allocatable :: a(:)
  integer :: e(2)
  call MPI_Send(a, 10, MPI_REAL, 0, 0, MPI_COMM_SELF, e(1))
  call MPI_Bcast(a, 10, MPI_REAL, 0, MPI_COMM_SELF, e(2))
end subroutine
subroutine gone_by_mpif(a, e)
  include 'mpif.h'
  real, allocatable :: a(:)
  integer :: e(2)
  call MPI_Send(a, 10, MPI_REAL, 0, 0, MPI_COMM_SELF, e(1))
  call MPI_Bcast(a, 10, MPI_REAL, 0, MPI_COMM_SELF, e(2))
end subroutine

! Arguments of other types than INTEGER, which nobody checks with mpif.h.
subroutine wrong_kinds()
  implicit none
  include 'mpif.h'
  integer :: a(4), e(6), class, i
  integer, parameter :: wanted(6) = [MPI_ERR_RANK, MPI_ERR_COUNT, MPI_ERR_TAG, MPI_ERR_COMM, MPI_ERR_TYPE, MPI_ERR_ROOT]
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e(1))
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e(1))
  a = 0
  call MPI_Send(a, 1, MPI_INTEGER, 1.5, 0, MPI_COMM_SELF, e(1))
  call MPI_Send(a, -1.0, MPI_INTEGER, 0, 0, MPI_COMM_SELF, e(2))
  call MPI_Send(a, 1, MPI_INTEGER, 0, -2.5, MPI_COMM_SELF, e(3))
  call MPI_Send(a, 1, MPI_INTEGER, 0, 0, 'MPI_COMM_SELF', e(4))
  call MPI_Send(a, 1, .true., 0, 0, MPI_COMM_SELF, e(5))
  call MPI_Bcast(a, 1, MPI_INTEGER, 3.0, MPI_COMM_SELF, e(6))
  do i = 1, 6
    call MPI_Error_class(e(i), class, a)
    if (class /= wanted(i)) print *, 'call', i, 'ends with class', class
  end do
  print '(a)', 'all are refused'
end subroutine
