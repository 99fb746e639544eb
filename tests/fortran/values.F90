! Module mpi: strings, indices, absent arguments, datatypes of Fortran in reductions, more handles than a table keeps.
#define CHECK(condition) call check(__LINE__, condition)
#define EQUAL(got, wanted) call check(__LINE__, got, wanted)
program values
  use mpi
  use checks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_associated
  use, intrinsic :: iso_fortran_env, only: int8, int16, int64, real128
  implicit none
  integer :: ierr, i, n
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call strings()
  call infos()
  call completions()
  call many_handles()
  call no_handles()
  call topologies()
  call reductions()
  call kinds()
  call contents()
  call memory()
  call exchanged_types()
  call sessions()
  call matched()
  call handle_types()
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a,i0,a)', 'passed with ', ranks, ' ranks'
  call MPI_Finalize(ierr)
contains
  ! Handles of mpi_f08, which module mpi has for those who pass them on; the call that keeps buffers out of registers takes anything.
  subroutine handle_types()
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: types(2)
    type(MPI_Status) :: f08_status
    integer :: status(MPI_STATUS_SIZE)
    real :: x(3)
    character(len=4) :: text
    interface
      subroutine in_f08(comm, status, size)
        import :: MPI_Comm, MPI_Status
        type(MPI_Comm), intent(in) :: comm
        type(MPI_Status), intent(inout) :: status
        integer, intent(out) :: size
      end subroutine
    end interface
    comm%MPI_VAL = MPI_COMM_WORLD
    CHECK(comm == MPI_Comm(MPI_COMM_WORLD))
    CHECK(comm /= MPI_Comm(MPI_COMM_SELF))
    types = [MPI_Datatype(MPI_INTEGER), MPI_Datatype(MPI_REAL)]
    CHECK(types(1) /= types(2) .and. .not. types(1) == types(2))
    status(MPI_TAG) = 31
    status(MPI_SOURCE) = 4
    call MPI_Status_f2f08(status, f08_status, ierr)
    call in_f08(comm, f08_status, n)
    EQUAL(n, ranks)
    EQUAL(f08_status%MPI_TAG, 32)
    call MPI_Status_f082f(f08_status, status, ierr)
    EQUAL(status(MPI_TAG), 32)
    EQUAL(status(MPI_SOURCE), 4)
    x = 1.5
    text = 'abcd'
    call MPI_F_sync_reg(x)
    call MPI_F_sync_reg(x(2))
    call PMPI_F_sync_reg(text)
    CHECK(all(x == 1.5) .and. text == 'abcd')
  end subroutine

  ! MPI_Imrecv consumes a message, and gives a request out.
  subroutine matched()
    integer :: message, request, requests(1), status(MPI_STATUS_SIZE), got
    got = 0
    request = -1
    call MPI_Isend(me + 7, 1, MPI_INTEGER, me, 5, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Mprobe(me, 5, MPI_COMM_WORLD, message, status, ierr)
    call MPI_Imrecv(got, 1, MPI_INTEGER, message, request, ierr)
    EQUAL(message, MPI_MESSAGE_NULL)
    call MPI_Wait(request, status, ierr)
    EQUAL(request, MPI_REQUEST_NULL)
    EQUAL(got, me + 7)
    call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, ierr)
  end subroutine

  subroutine strings()
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=5) :: short
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    integer :: length, code, class, comm
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierr)
    EQUAL(length, 14)
    EQUAL(name, 'MPI_COMM_WORLD')
    CHECK(name(15:) == ' ')
    call MPI_Comm_get_name(MPI_COMM_WORLD, short, length, ierr)
    EQUAL(short, 'MPI_C')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_set_name(comm, 'two words   ', ierr)
    name = repeat('x', len(name))
    call MPI_Comm_get_name(comm, name, length, ierr)
    EQUAL(length, 9)
    EQUAL(name, 'two words')
    call MPI_Comm_set_name(comm, '   ', ierr)
    call MPI_Comm_get_name(comm, name, length, ierr)
    EQUAL(length, 0)
    CHECK(name == ' ')
    call MPI_Comm_free(comm, ierr)
    call MPI_Error_string(MPI_ERR_TAG, text, length, ierr)
    CHECK(length > 0 .and. length <= len_trim(text))
    call MPI_Add_error_class(class, ierr)
    call MPI_Add_error_code(class, code, ierr)
    call MPI_Add_error_string(code, 'is ours' // repeat(' ', 1000), ierr)
    call MPI_Error_string(code, text, length, ierr)
    EQUAL(trim(text), 'is ours')
    call MPI_Error_class(code, i, ierr)
    EQUAL(i, class)
    call MPI_Get_library_version(version, length, ierr)
    CHECK(index(version(:length), 'tmpi') > 0 .or. length > 10)
    call MPI_Get_processor_name(host, length, ierr)
    CHECK(length > 0 .and. len_trim(host) == length)
    call MPI_Get_version(i, n, ierr)
    EQUAL(i, MPI_VERSION)
  end subroutine

  subroutine infos()
    integer :: info, copy, length
    logical :: flag
    character(len=20) :: value
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=1000) :: long
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, '  a key ', ' its value  ', ierr)
    call MPI_Info_set(info, 'other', '42', ierr)
    call MPI_Info_get_nkeys(info, n, ierr)
    EQUAL(n, 2)
    call MPI_Info_get_nthkey(info, 0, key, ierr)
    EQUAL(trim(key), 'a key')
    call MPI_Info_get(info, 'a key', 20, value, flag, ierr)
    CHECK(flag)
    EQUAL(trim(value), 'its value')
    call MPI_Info_get(info, 'no key', 20, value, flag, ierr)
    CHECK(.not. flag)
    call MPI_Info_get_valuelen(info, 'a key ', length, flag, ierr)
    EQUAL(length, 9)
    length = 20
    value = 'x'
    call MPI_Info_get_string(info, 'other', length, value, flag, ierr)
    CHECK(flag)
    EQUAL(length, 2)
    EQUAL(value, '42')
    length = 0
    call MPI_Info_get_string(info, 'a key', length, value, flag, ierr)
    EQUAL(length, 9)
    EQUAL(value, '42')
    length = 3
    call MPI_Info_get_string(info, 'a key', length, value, flag, ierr)
    EQUAL(trim(value), 'its')
    EQUAL(length, 9)
    long = repeat('y', 1000)
    call MPI_Info_set(info, 'long', long, ierr)
    call MPI_Info_dup(info, copy, ierr)
    call MPI_Info_delete(info, 'long', ierr)
    long = ' '
    call MPI_Info_get(copy, 'long', 1000, long, flag, ierr)
    CHECK(flag .and. long == repeat('y', 1000))
    call MPI_Info_free(info, ierr)
    call MPI_Info_free(copy, ierr)
    EQUAL(copy, MPI_INFO_NULL)
  end subroutine

  ! Indices count from 1; statuses and errors that are not wanted.
  subroutine completions()
    integer, parameter :: many = 150
    integer :: requests(many), statuses(MPI_STATUS_SIZE, many), status(MPI_STATUS_SIZE), indices(many), got(many), k, done, total
    logical :: flag, seen(many)
    requests = MPI_REQUEST_NULL
    call MPI_Waitany(many, requests, k, status, ierr)
    EQUAL(k, MPI_UNDEFINED)
    do i = 1, many
      call MPI_Irecv(got(i), 1, MPI_INTEGER, mod(me - 1 + ranks, ranks), i, MPI_COMM_WORLD, requests(i), ierr)
    end do
    call MPI_Testall(many, requests, flag, MPI_STATUSES_IGNORE, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    CHECK(.not. flag)
    call MPI_Send(7, 1, MPI_INTEGER, mod(me + 1, ranks), 7, MPI_COMM_WORLD, ierr)
    call MPI_Waitany(many, requests, k, status, ierr)
    EQUAL(k, 7)
    EQUAL(got(7), 7)
    EQUAL(requests(7), MPI_REQUEST_NULL)
    EQUAL(status(MPI_TAG), 7)
    EQUAL(status(MPI_SOURCE), mod(me - 1 + ranks, ranks))
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Send(many, 1, MPI_INTEGER, mod(me + 1, ranks), many, MPI_COMM_WORLD, ierr)
    call MPI_Waitsome(many, requests, done, indices, statuses, ierr)
    EQUAL(done, 1)
    EQUAL(indices(1), many)
    EQUAL(statuses(MPI_TAG, 1), many)
    call MPI_Waitany(0, requests, k, MPI_STATUS_IGNORE, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    seen = .false.
    seen([7, many]) = .true.
    do i = 1, many
      if (.not. seen(i)) call MPI_Send(i, 1, MPI_INTEGER, mod(me + 1, ranks), i, MPI_COMM_WORLD, ierr)
    end do
    total = 2
    do while (total < many/2)
      call MPI_Testsome(many, requests, done, indices, MPI_STATUSES_IGNORE, ierr)
      do k = 1, done
        CHECK(.not. seen(indices(k)))
        seen(indices(k)) = .true.
      end do
      total = total + done
    end do
    call MPI_Waitall(many, requests, statuses, ierr)
    CHECK(all(requests == MPI_REQUEST_NULL))
    CHECK(all(got == [(i, i=1, many)]))
    do i = 1, many
      if (.not. seen(i)) EQUAL(statuses(MPI_TAG, i), i)
    end do
    ! Persistent requests keep their handle.
    call MPI_Recv_init(got(1), 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send_init(got(2), 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(2), ierr)
    k = requests(1)
    do i = 1, 3
      call MPI_Startall(2, requests, ierr)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      EQUAL(requests(1), k)
    end do
    call MPI_Start(requests(1), ierr)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierr)
    CHECK(flag)
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
    CHECK(all(requests == MPI_REQUEST_NULL))
  end subroutine

  ! What is no handle stays what it was.
  subroutine no_handles()
    integer :: type, request, class
    type = 123456
    request = 654321
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
    call MPI_Type_free(type, ierr)
    call MPI_Error_class(ierr, class, ierr)
    EQUAL(class, MPI_ERR_TYPE)
    EQUAL(type, 123456)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Error_class(ierr, class, ierr)
    EQUAL(class, MPI_ERR_REQUEST)
    EQUAL(request, 654321)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

  ! More than are kept without a lock.
  subroutine many_handles()
    integer, parameter :: many = 9000
    integer, allocatable :: types(:)
    integer :: size
    allocate (types(many))
    do i = 1, many
      call MPI_Type_contiguous(i, MPI_INTEGER, types(i), ierr)
    end do
    do i = 1, many, 7
      call MPI_Type_size(types(i), size, ierr)
      EQUAL(size, 4*i)
    end do
    do i = many, 1, -1
      call MPI_Type_size(types(i), size, ierr)
      EQUAL(size, 4*i)
      call MPI_Type_free(types(i), ierr)
      EQUAL(types(i), MPI_DATATYPE_NULL)
    end do
  end subroutine

  subroutine topologies()
    integer :: cart, graph, dims(2), coords(2), sources(2), targets(2), weights(2), in, out, row
    logical :: periods(2), weighted
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierr)
    EQUAL(dims(1)*dims(2), ranks)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierr)
    call MPI_Cart_get(cart, 2, dims, periods, coords, ierr)
    CHECK(periods(1) .and. .not. periods(2))
    call MPI_Cart_sub(cart, [.false., .true.], row, ierr)
    call MPI_Comm_size(row, n, ierr)
    EQUAL(n, dims(2))
    call MPI_Comm_free(row, ierr)
    call MPI_Comm_free(cart, ierr)
    sources = mod(me - 1 + ranks, ranks)
    targets = mod(me + 1, ranks)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierr)
    CHECK(.not. weighted .and. in == 2 .and. out == 2)
    call MPI_Comm_free(graph, ierr)
    weights = [3, 4]
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 0, targets, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierr)
    CHECK(weighted .and. in == 2 .and. out == 0)
    weights = 0
    call MPI_Dist_graph_neighbors(graph, 2, sources, weights, 0, targets, MPI_WEIGHTS_EMPTY, ierr)
    CHECK(all(weights == [3, 4]))
    call MPI_Comm_free(graph, ierr)
  end subroutine

  subroutine reductions()
    integer(int8) :: i1
    integer(int16) :: i2
    integer(int64) :: i8
    real :: r
    double precision :: d, dpair(2), dmax(2)
    real(real128) :: q
    complex :: c
    complex(kind(1d0)) :: z
    logical :: l, any_true
    integer :: pair(2), most(2), bits
    real :: rpair(2), least(2)
    i1 = 1
    call MPI_Allreduce(MPI_IN_PLACE, i1, 1, MPI_INTEGER1, MPI_SUM, MPI_COMM_WORLD, ierr)
    EQUAL(int(i1), ranks)
    i2 = int(me, int16)
    call MPI_Allreduce(MPI_IN_PLACE, i2, 1, MPI_INTEGER2, MPI_MAX, MPI_COMM_WORLD, ierr)
    EQUAL(int(i2), ranks - 1)
    i8 = me + 5000000000_int64
    call MPI_Allreduce(MPI_IN_PLACE, i8, 1, MPI_INTEGER8, MPI_MIN, MPI_COMM_WORLD, ierr)
    EQUAL(i8, 5000000000_int64)
    r = 2
    call MPI_Allreduce(MPI_IN_PLACE, r, 1, MPI_REAL, MPI_PROD, MPI_COMM_WORLD, ierr)
    CHECK(r == 2.0**ranks)
    d = me
    call MPI_Allreduce(MPI_IN_PLACE, d, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    CHECK(d == ranks*(ranks - 1)/2)
    q = 1/3.0_real128
    call MPI_Allreduce(MPI_IN_PLACE, q, 1, MPI_REAL16, MPI_MAX, MPI_COMM_WORLD, ierr)
    CHECK(q == 1/3.0_real128)
    c = cmplx(1, me)
    call MPI_Allreduce(MPI_IN_PLACE, c, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
    CHECK(c == cmplx(ranks, ranks*(ranks - 1)/2))
    z = (0d0, 1d0)
    call MPI_Allreduce(MPI_IN_PLACE, z, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierr)
    CHECK(z == (0d0, 1d0)**ranks)
    l = me == 0
    call MPI_Allreduce(l, any_true, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
    CHECK(any_true)
    call MPI_Allreduce(l, any_true, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
    CHECK(any_true .eqv. ranks == 1)
    call MPI_Allreduce(l, any_true, 1, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierr)
    CHECK(any_true)
    bits = ibset(0, mod(me, 30))
    call MPI_Allreduce(MPI_IN_PLACE, bits, 1, MPI_INTEGER, MPI_BOR, MPI_COMM_WORLD, ierr)
    EQUAL(bits, 2**min(ranks, 30) - 1)
    pair = [mod(me*7, ranks), me]
    call MPI_Allreduce(pair, most, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    CHECK(mod(most(2)*7, ranks) == most(1))
    rpair = [real(-me), real(me)]
    call MPI_Allreduce(rpair, least, 1, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, ierr)
    CHECK(least(1) == 1 - ranks .and. least(2) == ranks - 1)
    dpair = [1d0, dble(me)]
    call MPI_Allreduce(dpair, dmax, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    CHECK(dmax(1) == 1 .and. dmax(2) == 0)
  end subroutine

  subroutine kinds()
    integer :: type, again, size
    integer, parameter :: precise = selected_real_kind(12, 100), wide = selected_int_kind(12)
    real(precise) :: x
    integer(wide) :: k
    complex(precise) :: w
    call MPI_Type_create_f90_real(12, 100, type, ierr)
    call MPI_Type_create_f90_real(12, 100, again, ierr)
    EQUAL(type, again)
    x = 1.5_precise
    call MPI_Allreduce(MPI_IN_PLACE, x, 1, type, MPI_SUM, MPI_COMM_WORLD, ierr)
    CHECK(x == 1.5_precise*ranks)
    call MPI_Type_create_f90_integer(12, type, ierr)
    k = 10_wide**11
    call MPI_Allreduce(MPI_IN_PLACE, k, 1, type, MPI_SUM, MPI_COMM_WORLD, ierr)
    CHECK(k == 10_wide**11*ranks)
    call MPI_Type_create_f90_complex(12, 100, type, ierr)
    w = (1, -1)
    call MPI_Allreduce(MPI_IN_PLACE, w, 1, type, MPI_SUM, MPI_COMM_WORLD, ierr)
    CHECK(w == cmplx(ranks, -ranks, precise))
    call MPI_Sizeof(w, size, ierr)
    EQUAL(size, 16)
    call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, size, type, ierr)
    call MPI_Type_size(type, n, ierr)
    EQUAL(n, 16)
    call MPI_Sizeof(k, size, ierr)
    EQUAL(size, 8)
  end subroutine

  subroutine contents()
    integer :: type, again, integers(7), types(2), combiner, ni, na, nd
    integer(kind=MPI_ADDRESS_KIND) :: addresses(2), lb, extent, a, b
    real :: field(2)
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_REAL8], type, ierr)
    call MPI_Type_get_envelope(type, ni, na, nd, combiner, ierr)
    EQUAL(combiner, MPI_COMBINER_STRUCT)
    EQUAL(nd, 2)
    types = -1
    call MPI_Type_get_contents(type, 7, 2, 2, integers, addresses, types, ierr)
    CHECK(all(types == [MPI_INTEGER, MPI_REAL8]) .and. all(integers(:3) == [2, 1, 2]) .and. addresses(2) == 16)
    call MPI_Type_create_resized(type, -8_MPI_ADDRESS_KIND, 64_MPI_ADDRESS_KIND, again, ierr)
    call MPI_Type_get_extent(again, lb, extent, ierr)
    CHECK(lb == -8 .and. extent == 64)
    call MPI_Type_get_contents(again, 0, 2, 1, integers, addresses, types, ierr)
    call MPI_Type_size(types(1), n, ierr)
    EQUAL(n, 20)
    call MPI_Type_free(types(1), ierr)
    call MPI_Type_free(type, ierr)
    call MPI_Type_free(again, ierr)
    ! Absolute addresses.
    call MPI_Get_address(field(1), a, ierr)
    call MPI_Get_address(field(2), b, ierr)
    EQUAL(MPI_Aint_diff(b, a), 4_8)
    EQUAL(MPI_Aint_add(a, 4_8), b)
    field = -1
    call MPI_Type_create_hindexed(2, [1, 1], [b, a], MPI_REAL, type, ierr)
    call MPI_Type_commit(type, ierr)
    if (me == 0) field = [1, 2]
    call MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, ierr)
    CHECK(all(field == [1, 2]))
    call MPI_Type_free(type, ierr)
  end subroutine

  subroutine memory()
    integer(kind=MPI_ADDRESS_KIND) :: address, position
    type(c_ptr) :: base
    real, pointer :: x(:)
    double precision :: room(2000), got
    character :: packed(64)
    integer :: size
    call MPI_Alloc_mem(4000_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, ierr)
    CHECK(address /= 0)
    call MPI_Alloc_mem(4000_MPI_ADDRESS_KIND, MPI_INFO_NULL, base, ierr)
    CHECK(c_associated(base))
    call c_f_pointer(base, x, [1000])
    x = 1
    call MPI_Free_mem(x, ierr)
    call MPI_Buffer_attach(room, 16000, ierr)
    call MPI_Bsend(3d0, 1, MPI_DOUBLE_PRECISION, me, 1, MPI_COMM_WORLD, ierr)
    call MPI_Recv(got, 1, MPI_DOUBLE_PRECISION, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    CHECK(got == 3)
    call MPI_Buffer_detach(room, size, ierr)
    EQUAL(size, 16000)
    position = 0
    call MPI_Pack_external('external32', [1, 2], 2, MPI_INTEGER, packed, 64_MPI_ADDRESS_KIND, position, ierr)
    EQUAL(position, 8_8)
    EQUAL(iachar(packed(8)), 2)
    if (MPI_Wtime() < 0 .or. MPI_Wtick() <= 0) call failed(__LINE__, 'the clock')
  end subroutine

  ! Arrays of datatypes as long as there are ranks.
  subroutine exchanged_types()
    integer :: types(ranks), counts(ranks), places(ranks), request
    integer :: out(ranks), in(ranks)
    types = MPI_INTEGER
    counts = 1
    places = [(4*(i - 1), i=1, ranks)]
    out = [(100*me + i, i=0, ranks - 1)]
    call MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, ierr)
    CHECK(all(in == [(100*i + me, i=0, ranks - 1)]))
    in = 0
    call MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    CHECK(all(in == [(100*i + me, i=0, ranks - 1)]))
    call MPI_Alltoallw(MPI_IN_PLACE, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, ierr)
    CHECK(all(in == out))
  end subroutine

  subroutine sessions()
    integer :: session, group, comm, length
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierr)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n, ierr)
    CHECK(n >= 2)
    length = 0
    name = 'x'
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name, ierr)
    EQUAL(name, 'x')
    EQUAL(length, 11)
    length = len(name)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name, ierr)
    EQUAL(trim(name), 'mpi://WORLD')
    call MPI_Group_from_session_pset(session, 'mpi://WORLD  ', group, ierr)
    call MPI_Comm_create_from_group(group, 'tag of ours', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, ierr)
    call MPI_Comm_size(comm, n, ierr)
    EQUAL(n, ranks)
    call MPI_Comm_free(comm, ierr)
    call MPI_Group_free(group, ierr)
    call MPI_Session_finalize(session, ierr)
    EQUAL(session, MPI_SESSION_NULL)
  end subroutine
end program

! A unit with the other module.
subroutine in_f08(comm, status, size)
  use mpi_f08
  implicit none
  type(MPI_Comm), intent(in) :: comm
  type(MPI_Status), intent(inout) :: status
  integer, intent(out) :: size
  call MPI_Comm_size(comm, size)
  status%MPI_TAG = status%MPI_TAG + 1
end subroutine
