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
