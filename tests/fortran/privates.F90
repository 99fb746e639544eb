! What a rank of a Fortran program has of its own: COMMON, SAVE, modules, DATA, EQUIVALENCE, units, random numbers, arguments.
#define CHECK(condition) call check(__LINE__, condition)
#define EQUAL(got, wanted) call check(__LINE__, got, wanted)
module state
  implicit none
  integer :: counter = 5
  integer, allocatable :: grown(:)
  real, save :: table(1000) = 3
  type :: thing
    integer :: value = 9
    character(len=:), allocatable :: text
  end type
  type(thing), target :: a_thing
  class(*), pointer :: anything => null()
  procedure(twice), pointer :: chosen => null()
  integer :: of_thread = 0
!$omp threadprivate(of_thread)
contains
  integer function twice(x)
    integer, intent(in) :: x
    twice = 2*x + counter
  end function
  integer function thrice(x)
    integer, intent(in) :: x
    thrice = 3*x + counter
  end function
  integer function calls()
    integer, save :: n = 0
    n = n + 1
    calls = n
  end function
  recursive integer function deep(n) result(sum_)
    integer, intent(in) :: n
    real :: room(1000)
    room = n
    sum_ = int(room(n + 1))
    if (n > 0) sum_ = sum_ + deep(n - 1)
  end function
end module
block data
  common /shared/ first, values
  integer :: first
  real :: values(3)
  data first /42/, values /1., 2., 3./
end block data

program privates
  use mpi_f08
  use checks
  use state
  implicit none
  integer :: i, unit, status, x, words(2)
  double precision :: overlay
  equivalence (overlay, words)
  save words
  common /shared/ first, values
  integer :: first
  real :: values(3), draws(4)
  real, allocatable :: all_draws(:, :)
  character(len=80) :: line, name
  integer, allocatable :: seed(:)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  EQUAL(counter, 5)
  EQUAL(first, 42)
  CHECK(all(values == [1., 2., 3.]) .and. all(table == 3) .and. a_thing%value == 9)
  counter = counter + me
  first = first + me
  table = me
  a_thing%value = me
  a_thing%text = repeat('m', me)
  anything => a_thing
  if (mod(me, 2) == 0) then
    chosen => twice
  else
    chosen => thrice
  end if
  allocate (grown(me + 1), source=me)
  words = me
  of_thread = me
  do i = 1, me + 1
    x = calls()
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  EQUAL(counter, 5 + me)
  EQUAL(first, 42 + me)
  CHECK(all(table == me) .and. all(grown == me) .and. size(grown) == me + 1)
  EQUAL(len(a_thing%text), me)
  select type (anything)
  type is (thing)
    EQUAL(anything%value, me)
  end select
  EQUAL(chosen(10), merge(20, 30, mod(me, 2) == 0) + 5 + me)
  EQUAL(words(1), me)
  EQUAL(of_thread, me)
  EQUAL(calls(), me + 2)

  ! Unit 10 is another file in each rank; so is a scratch file.
  write (name, '(a,i0,a,i0)') 'fort_privates_', ranks, '_', me  ! jobs of other sizes run here at the same time
  open (10, file=name, status='replace', action='readwrite')
  do i = 1, 100
    write (10, *) me, i
    if (mod(i, 30) == 0) call MPI_Barrier(MPI_COMM_WORLD)
  end do
  rewind (10)
  do i = 1, 100
    read (10, *) words
    CHECK(words(1) == me .and. words(2) == i)
  end do
  read (10, *, iostat=status) words
  CHECK(is_iostat_end(status))
  inquire (10, name=line)
  CHECK(index(line, trim(name)) > 0)
  close (10, status='delete')
  open (newunit=unit, status='scratch', form='unformatted')
  write (unit) me
  call MPI_Barrier(MPI_COMM_WORLD)
  rewind (unit)
  read (unit) x
  EQUAL(x, me)
  close (unit)
  open (20 + me, status='scratch')
  if (ranks > 1) then
    inquire (20 + mod(me + 1, ranks), number=i)
    EQUAL(i, -1)
  end if
  ! Written and read in memory while others do the same.
  do i = 1, 50
    write (line, '(i6,f10.3)') me*1000 + i, me/8.
    if (mod(i, 10) == 0) call MPI_Barrier(MPI_COMM_WORLD)
    read (line, *) x, values(1)
    CHECK(x == me*1000 + i .and. abs(values(1) - me/8.) < 0.001)
  end do

  ! Each rank's own sequence: what it sets, it gets again, whatever others draw in between.
  call random_seed(size=i)
  allocate (seed(i), all_draws(4, ranks))
  seed = 1
  call random_seed(put=seed)
  do i = 1, 4
    call random_number(draws(i))
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Allgather(draws, 4, MPI_REAL, all_draws, 4, MPI_REAL, MPI_COMM_WORLD)
  do i = 1, ranks
    CHECK(all(all_draws(:, i) == draws))
  end do

  EQUAL(command_argument_count(), 2)
  call get_command_argument(1, line)
  EQUAL(trim(line), 'an argument')
  call get_command_argument(0, line)
  CHECK(index(line, 'privates') > 0)
  call get_environment_variable('TMPI_TEST_FORTRAN', line, status=status)
  EQUAL(status, 0)
  EQUAL(trim(line), 'seen')

  ! Standard input is rank 0's.
  read (*, '(a)', iostat=status) line
  if (me == 0) then
    EQUAL(status, 0)
    EQUAL(trim(line), 'a line of input')
    read (*, *) x
    EQUAL(x, 17)
  else
    CHECK(is_iostat_end(status))
  end if
  EQUAL(deep(500), 500*501/2)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (me == 0) print '(a,i0,a)', 'passed with ', ranks, ' ranks'
  call MPI_Finalize()
end program
