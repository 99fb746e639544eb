! mpi_f08: sections of arrays whose elements are not next to each other travel as they would in a contiguous copy.
#define CHECK(condition) call check(__LINE__, condition)
#define EQUAL(got, wanted) call check(__LINE__, got, wanted)
program sections
  use mpi_f08
  use checks
  implicit none
  integer :: right, left, i, j, k
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = mod(me + 1, ranks)
  left = mod(me - 1 + ranks, ranks)
  CHECK(MPI_SUBARRAYS_SUPPORTED)
  CHECK(MPI_ASYNC_PROTECTS_NONBLOCKING)
  call messages()
  call cubes()
  call parts()
  call collectives()
  call nonblocking()
  call nonblocking_copies()
  call untouched()
  call one_element()
  call unused_buffers()
  call refused()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (me == 0) print '(a,i0,a)', 'passed with ', ranks, ' ranks'
  call MPI_Finalize()
contains
  ! Rows of a matrix, there and back: by nonblocking and blocking calls, into other shapes.
  subroutine messages()
    double precision :: a(6, 7), b(6, 7), row(7)
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: statuses(2), status
    integer :: n
    a = reshape([(me*1000d0 + i, i=1, 42)], [6, 7])
    b = -1
    call MPI_Irecv(b(3, :), 7, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(a(5, :), 7, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call MPI_Get_count(statuses(1), MPI_DOUBLE_PRECISION, n)
    EQUAL(n, 7)
    EQUAL(statuses(1)%MPI_SOURCE, left)
    CHECK(all(b(3, :) == [(left*1000d0 + 5 + 6*(j - 1), j=1, 7)]))
    b(3, :) = -1
    CHECK(all(b == -1))
    call MPI_Sendrecv(a(1:6:5, 2:7:2), 6, MPI_DOUBLE_PRECISION, right, 2, row, 7, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, status)
    CHECK(all(row(1:6) == left*1000d0 + [7, 12, 19, 24, 31, 36]))
    call MPI_Sendrecv(row, 6, MPI_DOUBLE_PRECISION, left, 3, b(2:4, 1:7:6), 6, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    CHECK(all(reshape(b(2:4, 1:7:6), [6]) == me*1000d0 + [7, 12, 19, 24, 31, 36]))
    EQUAL(count(b == -1), 36)
    ! Backwards.
    call MPI_Sendrecv(a(6:1:-1, 1), 6, MPI_DOUBLE_PRECISION, right, 4, row(6:1:-1), 6, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, status)
    CHECK(all(row(1:6) == left*1000d0 + [1, 2, 3, 4, 5, 6]))
    ! As bytes, and as a contiguous datatype of several elements.
    call MPI_Sendrecv(a(2, :), 7*8, MPI_BYTE, right, 5, row, 7*8, MPI_BYTE, left, 5, MPI_COMM_WORLD, status)
    CHECK(all(row == [(left*1000d0 + 2 + 6*(j - 1), j=1, 7)]))
  end subroutine

  subroutine cubes()
    integer :: a(4, 5, 6), b(2, 3, 2)
    integer, allocatable, target :: c(:, :, :)
    integer, pointer :: p(:, :, :)
    type(MPI_Request) :: request
    a = reshape([(i + 1000*me, i=1, 120)], [4, 5, 6])
    call MPI_Irecv(b, 12, MPI_INTEGER, left, 6, MPI_COMM_WORLD, request)
    call MPI_Send(a(2:4:2, 1:5:2, 3:6:3), 12, MPI_INTEGER, right, 6, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    CHECK(all(b - 1000*left == a(2:4:2, 1:5:2, 3:6:3) - 1000*me))
    allocate (c(4, 5, 6))
    c = 0
    p => c(1:3:2, 2:4, ::5)
    call MPI_Irecv(p, 12, MPI_INTEGER, left, 7, MPI_COMM_WORLD, request)
    call MPI_Ssend(b, 12, MPI_INTEGER, right, 7, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    EQUAL(count(c /= 0), 12)
    CHECK(all(p /= 0))
  end subroutine

  ! Fewer elements than the section has: the first ones.
  subroutine parts()
    integer :: a(3, 4), b(3, 4), n
    type(MPI_Request) :: request
    do n = 0, 8
      a = me
      b = -1
      a(1:2, :) = reshape([(100*me + i, i=1, 8)], [2, 4])
      call MPI_Irecv(b(2:3, :), n, MPI_INTEGER, left, 8, MPI_COMM_WORLD, request)
      call MPI_Send(a(1:2, :), n, MPI_INTEGER, right, 8, MPI_COMM_WORLD)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      EQUAL(count(b /= -1), n)
      do i = 1, n
        EQUAL(b(2 + mod(i - 1, 2), 1 + (i - 1)/2), 100*left + i)
      end do
    end do
  end subroutine

  subroutine collectives()
    integer :: a(3, 4), line(2, 4), sums(4, 2)
    integer, allocatable :: wide(:, :), all_lines(:, :), counts(:), places(:)
    a = -1
    if (me == 0) a(1:3:2, :) = reshape([(i, i=1, 8)], [2, 4])
    call MPI_Bcast(a(1:3:2, :), 8, MPI_INTEGER, 0, MPI_COMM_WORLD)
    CHECK(all(a(1:3:2, :) == reshape([(i, i=1, 8)], [2, 4])))
    CHECK(all(a(2, :) == -1))
    ! Every second column of the root's array is a rank's.
    allocate (wide(2, 8*ranks), all_lines(8, ranks), counts(ranks), places(ranks))
    wide = -1
    line = me
    call MPI_Gather(line, 8, MPI_INTEGER, wide(:, 1:8*ranks:2), 8, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (me == 0) then
      do k = 0, ranks - 1
        CHECK(all(wide(:, 8*k + 1:8*k + 7:2) == k))
      end do
      EQUAL(count(wide == -1), 8*ranks)
    end if
    wide = reshape([(i, i=1, 16*ranks)], [2, 8*ranks])
    call MPI_Scatter(wide(2, :), 4, MPI_INTEGER, a(2, :), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
    CHECK(all(a(2, :) == [(8*me + 2*i, i=1, 4)]))
    sums = me
    call MPI_Allreduce(MPI_IN_PLACE, sums(1:4:3, :), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CHECK(all(sums(1:4:3, :) == ranks*(ranks - 1)/2))
    CHECK(all(sums(2:3, :) == me))
    ! Values of the section that are not in what is reduced stay.
    sums = me
    call MPI_Reduce(sums(1:3:2, 1), sums(2:4:2, 2), 2, MPI_INTEGER, MPI_MAX, ranks - 1, MPI_COMM_WORLD)
    if (me == ranks - 1) then
      CHECK(all(sums(2:4:2, 2) == ranks - 1))
    else
      CHECK(all(sums == me))
    end if
    counts = 2
    places = [(2*(ranks - i), i=1, ranks)]
    wide = -1
    call MPI_Allgatherv(line(1:2, 4:1:-3), 2, MPI_INTEGER, wide(1, :), counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    do k = 0, ranks - 1
      CHECK(all(wide(1, 2*(ranks - k) - 1:2*(ranks - k)) == k))
    end do
    CHECK(all(wide(2, :) == -1))
  end subroutine

  ! Equally far apart: also where the call splits the buffer.
  subroutine nonblocking()
    integer, allocatable :: wide(:, :), mine(:, :)
    type(MPI_Request) :: request
    allocate (wide(3, 2*ranks), mine(2, 2*ranks))
    wide = -1
    mine = me
    call MPI_Iallgather(mine(1, 1:2), 2, MPI_INTEGER, wide(2, :), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    CHECK(all(wide(2, :) == [((i - 1)/2, i=1, 2*ranks)]))
    EQUAL(count(wide == -1), 4*ranks)
    mine(2, :) = [(100*me + (i - 1)/2, i=1, 2*ranks)]
    call MPI_Ialltoall(mine(2, :), 2, MPI_INTEGER, wide(3, :), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    CHECK(all(wide(3, :) == [(100*((i - 1)/2) + me, i=1, 2*ranks)]))
    mine = 0
    if (me == 0) mine(1, :) = 7
    call MPI_Ibcast(mine(1, :), 2*ranks, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    CHECK(all(mine(1, :) == 7) .and. all(mine(2, :) == 0))
    ! Persistent, started twice.
    call MPI_Bcast_init(mine(2, :), 2*ranks, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    do k = 1, 2
      if (me == 0) mine(2, :) = k
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      CHECK(all(mine(2, :) == k) .and. all(mine(1, :) == 7))
    end do
    call MPI_Request_free(request)
    CHECK(request == MPI_REQUEST_NULL)
  end subroutine

  ! Scalars, sections that are contiguous after all, empty ones, large counts.
  subroutine one_element()
    integer :: a(4, 4), x, y
    type(MPI_Status) :: status
    integer(kind=MPI_COUNT_KIND) :: n
    x = me
    call MPI_Sendrecv(x, 1, MPI_INTEGER, right, 9, y, 1, MPI_INTEGER, left, 9, MPI_COMM_WORLD, status)
    EQUAL(y, left)
    a = me
    n = 8
    call MPI_Send(a(1:0, 2), 0, MPI_INTEGER, MPI_PROC_NULL, 9, MPI_COMM_WORLD)
    call MPI_Sendrecv(a(2, 1:4:2), 2_8, MPI_INTEGER, right, 9, a(4, 1:4:3), 2_8, MPI_INTEGER, left, 9, MPI_COMM_WORLD, status)
    CHECK(all(a(4, 1:4:3) == left))
    CHECK(all(a(:3, :) == me))
  end subroutine

  ! What only the root uses may be any section elsewhere, with any datatype.
  subroutine unused_buffers()
    integer :: line(3), wide(6, 5, 8)
    integer, allocatable :: all_lines(:)
    type(MPI_Datatype) :: nonsense
    type(MPI_Request) :: request
    nonsense%MPI_VAL = -12345
    allocate (all_lines(3*ranks))
    line = me
    wide = -1
    if (me == ranks - 1) then
      call MPI_Igather(line, 3, MPI_INTEGER, all_lines, 3, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      CHECK(all(all_lines == [((k, i=1, 3), k=0, ranks - 1)]))
      call MPI_Iscatter(all_lines, 3, MPI_INTEGER, line, 3, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Ireduce(line, all_lines, 3, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      CHECK(all(all_lines(:3) == ranks*(ranks - 1)/2))
    else
      call MPI_Igather(line, 3, MPI_INTEGER, wide(1:5:2, :, 2:7:3), 3, nonsense, ranks - 1, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Iscatter(wide(1:5:2, :, 2:7:3), 3, nonsense, line, 3, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_Ireduce(line, wide(1:5:2, :, 2:7:3), 3, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    end if
    CHECK(all(line == me))
    CHECK(all(wide == -1))
  end subroutine

  ! Reductions, and splits of what is not equally far apart, work on copies, which are written back when the request is complete.
  subroutine nonblocking_copies()
    integer, allocatable, asynchronous :: a(:, :), b(:, :), c(:, :), wide(:, :), all(:, :), fives(:)
    type(MPI_Request) :: requests(4), request
    logical :: flag
    integer :: done(4), n, total, i
    allocate (a(6, 7), b(6, 7), c(6, 7), wide(5, 4*ranks), all(5, 4*ranks))
    a = reshape([(i + 100*me, i=1, 42)], [6, 7])
    b = -1
    call MPI_Iallreduce(a(1:6:2, 2:7:3), b(2:6:2, 1:2), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    a(1, 2) = a(1, 2) ! read, not yet written
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    CHECK(request == MPI_REQUEST_NULL)
    CHECK(sum(abs(b(2:6:2, 1:2) - ranks*(a(1:6:2, 2:7:3) - 100*me) - 100*(ranks*(ranks - 1)/2))) == 0)
    EQUAL(count(b == -1), 36)
    ! Several at once, completed by each kind of call.
    b = -1
    c = me
    allocate (fives(2*ranks))
    fives = 5
    call MPI_Ireduce(a(2, :), b(5, :), 7, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Iscan(a(3, ::2), b(3, ::2), 4, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, requests(2))
    call MPI_Iallreduce(MPI_IN_PLACE, c(1:5:4, :), 14, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(3))
    call MPI_Ireduce_scatter_block(fives, b(1, 1:3:2), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(4))
    call MPI_Waitsome(2, requests(3:4), n, done, MPI_STATUSES_IGNORE)
    do i = 3, 4
      call MPI_Wait(requests(i), MPI_STATUS_IGNORE)
    end do
    total = 0
    do while (total < 2)
      call MPI_Testany(2, requests, i, flag, MPI_STATUS_IGNORE)
      if (flag) total = total + 1
    end do
    CHECK(me /= 0 .or. sum(abs(b(5, :) - (a(2, :) + 100*(ranks - 1)))) == 0)
    CHECK(me == 0 .or. sum(abs(b(5, :) + 1)) == 0)
    CHECK(sum(abs(b(3, ::2) - (a(3, ::2) - 100*me))) == 0)
    CHECK(sum(abs(c(1:5:4, :) - ranks*(ranks - 1)/2)) == 0 .and. sum(abs(c(2:4, :) - me)) == 0)
    CHECK(sum(abs(b(1, 1:3:2) - ranks*5)) == 0)
    ! Two rows of columns that are not next to each other.
    wide = reshape([(1000*me + i, i=1, 20*ranks)], [5, 4*ranks])
    all = -1
    call MPI_Ialltoall(wide(2:4:2, ::2), 4, MPI_INTEGER, all(1:5:4, 2::2), 4, MPI_INTEGER, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    do i = 0, ranks - 1
      CHECK(sum(abs(all(1, 4*i + 2:4*i + 4:2) - 1000*i - [20*me + 2, 20*me + 12])) == 0)
      CHECK(sum(abs(all(5, 4*i + 2:4*i + 4:2) - 1000*i - [20*me + 4, 20*me + 14])) == 0)
    end do
    EQUAL(count(all == -1), 16*ranks)
  end subroutine

  ! What an operation does not write is the program's while it is pending, or another operation's.
  subroutine untouched()
    integer, asynchronous :: b(20), wide(0:4*ranks, 3), counts(ranks), even(ranks), odd(ranks), five(5), mine(2)
    integer :: i
    type(MPI_Request) :: requests(2)
    type(MPI_Datatype) :: apart
    type(MPI_Op) :: nothing
    b = -1
    five = [1, 2, 3, 4, 5]
    call MPI_Iallreduce(five, b(1:20:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
    b(11) = 7
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    CHECK(all(b(1:10:2) == ranks*five))
    EQUAL(b(11), 7)
    CHECK(all(b(2::2) == -1) .and. all(b(13::2) == -1))
    ! Two operations into one section whose elements are not equally far apart.
    wide = -1
    mine = [100 + me, 200 + me]
    counts = 1
    even = [(2*i, i=0, ranks - 1)]
    odd = even + 1
    call MPI_Iallgatherv(mine(1:1), 1, MPI_INTEGER, wide(1::2, 1:3:2), counts, even, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
    call MPI_Iallgatherv(mine(2:2), 1, MPI_INTEGER, wide(1::2, 1:3:2), counts, odd, MPI_INTEGER, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CHECK(all(wide(1::4, 1) == [(100 + i, i=0, ranks - 1)]) .and. all(wide(3::4, 1) == [(200 + i, i=0, ranks - 1)]))
    EQUAL(count(wide /= -1), 2*ranks)
    ! Found complete and left: the data are there, and are the program's from then on.
    call found_complete(five, b)
    ! Two elements whose extent is more than they need: the section has room for them.
    call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 12_MPI_ADDRESS_KIND, apart)
    call MPI_Type_commit(apart)
    call MPI_Op_create(combine_nothing, .true., nothing)
    five(1:4) = [1, 2, 3, 4]
    b = -1
    call MPI_Allreduce(five, b(1:8:2), 2, apart, nothing, MPI_COMM_SELF)
    CHECK(all(b(1:8) == [1, -1, -1, -1, -1, -1, 4, -1]))
    call MPI_Op_free(nothing)
    call MPI_Type_free(apart)
  end subroutine

  subroutine found_complete(five, b)
    integer, asynchronous, intent(inout) :: five(:), b(:)
    integer :: way, error, class, indx, done, indices(2)
    type(MPI_Request) :: requests(2)
    logical :: flag
    do way = 1, 4
      b = -1
      call MPI_Iallreduce(five, b(1:20:2), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
      requests(2) = MPI_REQUEST_NULL
      if (way == 1) then ! a request whose data are in a copy is not to be freed
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
        call MPI_Request_free(requests(1), error)
        call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
        call MPI_Error_class(error, class)
        EQUAL(class, MPI_ERR_REQUEST)
        CHECK(requests(1) /= MPI_REQUEST_NULL)
      end if
      flag = .false.
      do while (.not. flag)
        select case (way)
        case (1)
          call MPI_Request_get_status(requests(1), flag, MPI_STATUS_IGNORE)
        case (2)
          call MPI_Request_get_status_all(2, requests, flag, MPI_STATUSES_IGNORE)
        case (3)
          call MPI_Request_get_status_any(2, requests, indx, flag, MPI_STATUS_IGNORE)
        case (4)
          call MPI_Request_get_status_some(2, requests, done, indices, MPI_STATUSES_IGNORE)
          flag = done == 1
        end select
      end do
      CHECK(all(b(1:10:2) == ranks*five))
      b(1:3) = -7
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      CHECK(all(b(1:3) == -7) .and. all(b(5:10:2) == ranks*five(3:)))
    end do
  end subroutine

  subroutine combine_nothing(in, inout, length, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
  end subroutine

  subroutine refused()
    integer :: a(4, 4), b(4, 4), error, class
    type(MPI_Request) :: request
    type(MPI_Datatype) :: gaps
    character(len=MPI_MAX_ERROR_STRING) :: text
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    a = 0
    call MPI_Allreduce_init(a(1:4:2, :), b, 8, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, error)
    call MPI_Error_class(error, class)
    EQUAL(class, MPI_ERR_BUFFER)
    call MPI_Error_string(error, text, k)
    CHECK(index(text, 'array section') > 0)
    ! More elements than there are.
    call MPI_Allreduce(a(1:4:2, :), b, 9, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Error_class(error, class)
    EQUAL(class, MPI_ERR_BUFFER)
    call MPI_Iallreduce(MPI_IN_PLACE, a(1:4:2, :), 9, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, error)
    call MPI_Error_class(error, class)
    EQUAL(class, MPI_ERR_BUFFER)
    call MPI_Send(a(1:4:2, :), 9, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, error)
    call MPI_Error_class(error, class)
    EQUAL(class, MPI_ERR_BUFFER)
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
    call MPI_Type_commit(gaps)
    call MPI_Send(a(1:4:2, :), 1, gaps, MPI_PROC_NULL, 1, MPI_COMM_WORLD, error)
    call MPI_Error_class(error, class)
    EQUAL(class, MPI_ERR_BUFFER)
    ! A wrong datatype or communicator is the call's own error.
    call MPI_Send(a(1:4:2, :), 1, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, MPI_COMM_WORLD, error)
    call MPI_Error_class(error, class)
    EQUAL(class, MPI_ERR_TYPE)
    call MPI_Type_free(gaps)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine
end program
