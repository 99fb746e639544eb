! Procedures of Fortran that MPI calls, from all three interfaces: operators, error handlers, attributes, generalized requests.
#define CHECK(condition) call check(__LINE__, condition)
#define EQUAL(got, wanted) call check(__LINE__, got, wanted)
module procedures
  use mpi_f08
  use, intrinsic :: iso_c_binding
  use checks
  implicit none
  integer :: calls = 0, copies = 0, deletes = 0, seen_code = 0
  type(MPI_Comm) :: seen_comm
  type(MPI_Datatype) :: pair_type
contains
  subroutine add_pairs(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:, :), b(:, :)
    call c_f_pointer(invec, a, [2, len])
    call c_f_pointer(inoutvec, b, [2, len])
    CHECK(datatype == pair_type)
    calls = calls + 1
    b = a + b
  end subroutine
  ! Not commutative: composition of x -> m x + c.
  subroutine compose(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer(8), pointer :: a(:, :), b(:, :)
    call c_f_pointer(invec, a, [2, int(len/2)])
    call c_f_pointer(inoutvec, b, [2, int(len/2)])
    CHECK(datatype == MPI_INTEGER8)
    b(2, :) = b(1, :)*a(2, :) + b(2, :)
    b(1, :) = a(1, :)*b(1, :)
  end subroutine
  subroutine note_error(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    seen_comm = comm
    seen_code = code
  end subroutine
  subroutine note_session_error(session, code)
    type(MPI_Session) :: session
    integer :: code
    CHECK(session /= MPI_SESSION_NULL)
    seen_code = code
  end subroutine
  subroutine copy_comm(old, keyval, extra_state, value_in, value_out, flag, ierror)
    type(MPI_Comm) :: old
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    copies = copies + 1
    EQUAL(extra_state, 77_8)
    CHECK(old == MPI_COMM_WORLD)
    value_out = value_in + 1
    flag = value_in /= 13
    ierror = MPI_SUCCESS
  end subroutine
  subroutine copy_twice(old, keyval, extra_state, value_in, value_out, flag, ierror)
    type(MPI_Comm) :: old
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    value_out = 2*value_in
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_comm(comm, keyval, value, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    deletes = deletes + 1
    EQUAL(extra_state, 77_8)
    ierror = merge(MPI_ERR_OTHER, MPI_SUCCESS, value == 99)
  end subroutine
  subroutine two_bytes(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = 2
    ierror = MPI_SUCCESS
  end subroutine
  subroutine copy_type(old, keyval, extra_state, value_in, value_out, flag, ierror)
    type(MPI_Datatype) :: old
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    CHECK(old == pair_type)
    value_out = value_in*extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    status%MPI_SOURCE = int(extra_state)
    status%MPI_TAG = 4
    call MPI_Status_set_elements(status, MPI_INTEGER, 3)
    call MPI_Status_set_cancelled(status, .false.)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    calls = calls + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    calls = calls + merge(100, 1000, complete)
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use procedures
  implicit none
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call operators()
  call error_handlers()
  call attributes()
  call predefined_attributes()
  call attributes_of_both_languages()
  call requests()
  call old_interface()
  call MPI_Barrier(MPI_COMM_WORLD)
  if (me == 0) print '(a,i0,a)', 'passed with ', ranks, ' ranks'
  call MPI_Finalize()
contains
  subroutine operators()
    type(MPI_Op) :: op, again
    integer :: a(2, 3), b(2, 3), i
    integer(8) :: f(2), g(2), m, c
    logical :: commutes
    call MPI_Type_contiguous(2, MPI_INTEGER, pair_type)
    call MPI_Type_commit(pair_type)
    call MPI_Op_create(add_pairs, .true., op)
    call MPI_Op_commutative(op, commutes)
    CHECK(commutes)
    a = me
    call MPI_Allreduce(a, b, 3, pair_type, op, MPI_COMM_WORLD)
    CHECK(all(b == ranks*(ranks - 1)/2))
    call MPI_Reduce_local(a, b, 3, pair_type, op)
    CHECK(all(b == ranks*(ranks - 1)/2 + me))
    CHECK(calls > 0)
    ! Making and freeing operators of one procedure does not use anything up.
    do i = 1, 1000
      call MPI_Op_create(add_pairs, .true., again)
      call MPI_Op_free(again)
    end do
    CHECK(again == MPI_OP_NULL)
    call MPI_Op_free(op)
    call MPI_Op_create_c(compose, .false., op)
    call MPI_Op_commutative(op, commutes)
    CHECK(.not. commutes)
    f = [2, me]
    call MPI_Allreduce(f, g, 2, MPI_INTEGER8, op, MPI_COMM_WORLD)
    m = 1
    c = 0
    do i = 0, ranks - 1
      c = 2*c + i
      m = m*2
    end do
    CHECK(all(g == [m, c]))
    call MPI_Op_free(op)
  end subroutine

  subroutine error_handlers()
    type(MPI_Errhandler) :: handler, found
    type(MPI_Comm) :: comm
    type(MPI_Session) :: session
    integer :: error, class
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_create_errhandler(note_error, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Comm_get_errhandler(comm, found)
    CHECK(found == handler)
    call MPI_Send(me, 1, MPI_INTEGER, 5, 0, comm, error)
    call MPI_Error_class(error, class)
    EQUAL(class, MPI_ERR_RANK)
    EQUAL(seen_code, error)
    CHECK(seen_comm == comm)
    call MPI_Comm_call_errhandler(comm, MPI_ERR_TAG, error)
    EQUAL(seen_code, MPI_ERR_TAG)
    call MPI_Errhandler_free(handler)
    CHECK(handler == MPI_ERRHANDLER_NULL)
    call MPI_Errhandler_free(found)
    call MPI_Comm_free(comm)
    call MPI_Session_create_errhandler(note_session_error, handler)
    call MPI_Session_init(MPI_INFO_NULL, handler, session)
    call MPI_Session_call_errhandler(session, MPI_ERR_INFO)
    EQUAL(seen_code, MPI_ERR_INFO)
    call MPI_Session_finalize(session)
    CHECK(session == MPI_SESSION_NULL)
    call MPI_Errhandler_free(handler)
  end subroutine

  subroutine attributes()
    integer :: key, twice, none, type_key, error
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: type
    call MPI_Comm_create_keyval(copy_comm, delete_comm, key, 77_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, twice, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, none, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag)
    CHECK(.not. flag)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, -5_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, twice, huge(value))
    call MPI_Comm_set_attr(MPI_COMM_WORLD, none, 1_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    EQUAL(copies, 1)
    call MPI_Comm_get_attr(comm, key, value, flag)
    CHECK(flag .and. value == -4)
    call MPI_Comm_get_attr(comm, twice, value, flag)
    CHECK(flag .and. value == huge(value))
    call MPI_Comm_get_attr(comm, none, value, flag)
    CHECK(.not. flag)
    call MPI_Comm_set_attr(comm, key, 99_MPI_ADDRESS_KIND)
    EQUAL(deletes, 1)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    call MPI_Comm_delete_attr(comm, key, error)
    CHECK(error /= MPI_SUCCESS)
    call MPI_Comm_set_attr(comm, twice, 1_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 13_MPI_ADDRESS_KIND)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    EQUAL(deletes, 4)
    call MPI_Comm_free_keyval(none)
    EQUAL(none, MPI_KEYVAL_INVALID)
    call MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, type_key, 10_MPI_ADDRESS_KIND)
    call MPI_Type_set_attr(pair_type, type_key, 4_MPI_ADDRESS_KIND)
    call MPI_Type_dup(pair_type, type)
    call MPI_Type_get_attr(type, type_key, value, flag)
    CHECK(flag .and. value == 40)
    call MPI_Type_delete_attr(type, type_key)
    call MPI_Type_free_keyval(type_key)
    call MPI_Type_free(type)
  end subroutine

  ! MPI report, 19.3.7: what Fortran sets, C reads at an address; what C sets, Fortran reads as the address.
  subroutine attributes_of_both_languages()
    integer :: key, c_key, twice, i, old_value, ierr
    integer(kind=MPI_ADDRESS_KIND) :: value, address
    logical :: flag
    type(MPI_Comm) :: comm
    external :: MPI_Attr_put, MPI_Attr_get
    interface
      ! The address sized integer, the int, that C finds behind an attribute; the attribute itself.
      function c_reads(comm, key) bind(C)
        import :: c_intptr_t, c_int
        integer(c_int), value :: comm, key
        integer(c_intptr_t) :: c_reads
      end function
      function c_reads_int(comm, key) bind(C)
        import :: c_int
        integer(c_int), value :: comm, key
        integer(c_int) :: c_reads_int
      end function
      function c_gets(comm, key) bind(C)
        import :: c_intptr_t, c_int
        integer(c_int), value :: comm, key
        integer(c_intptr_t) :: c_gets
      end function
      subroutine c_sets(comm, key, address) bind(C)
        import :: c_intptr_t, c_int
        integer(c_int), value :: comm, key
        integer(c_intptr_t), value :: address
      end subroutine
      function c_makes_key() bind(C)
        import :: c_int
        integer(c_int) :: c_makes_key
      end function
      function c_saw() bind(C)
        import :: c_intptr_t
        integer(c_intptr_t) :: c_saw
      end function
    end interface
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(copy_twice, MPI_COMM_NULL_DELETE_FN, twice, 0_MPI_ADDRESS_KIND)
    c_key = c_makes_key()
    do i = 1, 1000
      call MPI_Comm_set_attr(MPI_COMM_WORLD, key, -12345678901_MPI_ADDRESS_KIND*i)
      CHECK(c_reads(MPI_COMM_WORLD%MPI_VAL, key) == -12345678901_8*i)
    end do
    call MPI_Attr_put(MPI_COMM_WORLD%MPI_VAL, key, -77, ierr)
    EQUAL(c_reads_int(MPI_COMM_WORLD%MPI_VAL, key), -77)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag)
    CHECK(flag .and. value == -77)
    call c_sets(MPI_COMM_WORLD%MPI_VAL, key, int(z'123456789ab', c_intptr_t))
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag)
    CHECK(flag .and. value == int(z'123456789ab', MPI_ADDRESS_KIND))
    call MPI_Attr_get(MPI_COMM_WORLD%MPI_VAL, key, old_value, flag, ierr)
    CHECK(flag .and. old_value == int(z'456789ab'))
    CHECK(c_gets(MPI_COMM_WORLD%MPI_VAL, key) == int(z'123456789ab', c_intptr_t))
    ! Callbacks of either language see their own kind, and make it.
    call MPI_Comm_set_attr(MPI_COMM_WORLD, twice, 21_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, c_key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    CHECK(c_reads(comm%MPI_VAL, twice) == 42)
    CHECK(c_saw() == 5)
    CHECK(c_reads(comm%MPI_VAL, c_key) == 5)
    call MPI_Comm_free(comm)
    address = int(z'7000000000', MPI_ADDRESS_KIND)
    call c_sets(MPI_COMM_WORLD%MPI_VAL, twice, address)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    CHECK(c_reads(comm%MPI_VAL, twice) == 2*address)
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, twice)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, c_key)
    ! A duplicate made by MPI_COMM_DUP_FN of what C has set is C's.
    call MPI_Comm_free_keyval(twice)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, twice, 0_MPI_ADDRESS_KIND)
    call c_sets(MPI_COMM_WORLD%MPI_VAL, twice, address)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    CHECK(c_gets(comm%MPI_VAL, twice) == address)
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, twice)
  end subroutine

  subroutine predefined_attributes()
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    CHECK(flag .and. value >= 32767 .and. value <= huge(1))
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag)
    if (flag) then
      CHECK(value >= ranks)
    end if
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, flag)
    if (flag) EQUAL(value, 0_8)
  end subroutine

  subroutine requests()
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: n
    logical :: flag
    calls = 0
    call MPI_Grequest_start(query, release, cancel, 20_MPI_ADDRESS_KIND, request)
    call MPI_Test(request, flag, status)
    CHECK(.not. flag)
    call MPI_Cancel(request)
    EQUAL(calls, 1000)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    EQUAL(calls, 1020)
    EQUAL(status%MPI_SOURCE, 20)
    EQUAL(status%MPI_TAG, 4)
    call MPI_Get_elements(status, MPI_INTEGER, n)
    EQUAL(n, 3)
    CHECK(request == MPI_REQUEST_NULL)
    ! Data representations need no conversion.
    call MPI_Register_datarep('short', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, two_bytes, 0_MPI_ADDRESS_KIND)
    call MPI_Register_datarep_c('short too', MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, two_bytes, 0_MPI_ADDRESS_KIND)
  end subroutine
end program

! What old programs call, with INTEGER attributes and addresses.
subroutine old_interface()
  use checks
  implicit none
  include 'mpif.h'
  integer :: key, ierr, handler, found, comm, op, values(3), extent, types(2), lengths(2), places(2), struct, a(4), rank
  logical :: flag
  external :: old_copy, old_delete, old_handler, old_maximum
  integer :: noted
  common /notes/ noted
  call MPI_F_SYNC_REG(values)
  call MPI_KEYVAL_CREATE(old_copy, old_delete, key, 5, ierr)
  call MPI_ATTR_PUT(MPI_COMM_WORLD, key, 1234, ierr)
  call MPI_ATTR_GET(MPI_COMM_WORLD, key, values, flag, ierr)
  CHECK(flag)
  EQUAL(values(1), 1234)
  call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
  call MPI_ATTR_GET(comm, key, values, flag, ierr)
  CHECK(flag)
  EQUAL(values(1), 1239)
  noted = 0
  call MPI_ATTR_DELETE(comm, key, ierr)
  EQUAL(noted, 1239)
  call MPI_KEYVAL_FREE(key, ierr)
  call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_TAG_UB, values, flag, ierr)
  CHECK(flag .and. values(1) >= 32767)
  call MPI_ERRHANDLER_CREATE(old_handler, handler, ierr)
  call MPI_ERRHANDLER_SET(comm, handler, ierr)
  call MPI_ERRHANDLER_GET(comm, found, ierr)
  EQUAL(found, handler)
  call MPI_SEND(values, 1, MPI_INTEGER, -17, 0, comm, ierr)
  EQUAL(noted, comm)
  CHECK(ierr /= MPI_SUCCESS)
  call MPI_ERRHANDLER_FREE(handler, ierr)
  call MPI_ERRHANDLER_FREE(found, ierr)
  call MPI_COMM_FREE(comm, ierr)
  EQUAL(comm, MPI_COMM_NULL)
  call MPI_OP_CREATE(old_maximum, .true., op, ierr)
  a = me
  call MPI_ALLREDUCE(MPI_IN_PLACE, a, 4, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
  CHECK(all(a == ranks - 1))
  call MPI_OP_FREE(op, ierr)
  call MPI_TYPE_EXTENT(MPI_DOUBLE_PRECISION, extent, ierr)
  EQUAL(extent, 8)
  types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  lengths = [1, 2]
  places = [0, 8]
  call MPI_TYPE_STRUCT(2, lengths, places, types, struct, ierr)
  call MPI_TYPE_SIZE(struct, rank, ierr)
  EQUAL(rank, 20)
  call MPI_TYPE_UB(struct, extent, ierr)
  EQUAL(extent, 24)
  call MPI_TYPE_LB(struct, extent, ierr)
  EQUAL(extent, 0)
  call MPI_TYPE_FREE(struct, ierr)
  call MPI_TYPE_HVECTOR(3, 1, 100, MPI_INTEGER, struct, ierr)
  call MPI_TYPE_EXTENT(struct, extent, ierr)
  EQUAL(extent, 204)
  call MPI_TYPE_FREE(struct, ierr)
  call MPI_TYPE_HINDEXED(2, lengths, places, MPI_INTEGER, struct, ierr)
  call MPI_TYPE_EXTENT(struct, extent, ierr)
  EQUAL(extent, 16)
  call MPI_TYPE_FREE(struct, ierr)
end subroutine
subroutine old_copy(comm, keyval, extra, value_in, value_out, flag, ierr)
  integer :: comm, keyval, extra, value_in, value_out, ierr
  logical :: flag
  value_out = value_in + extra
  flag = .true.
  ierr = 0
end subroutine
subroutine old_delete(comm, keyval, value, extra, ierr)
  integer :: comm, keyval, value, extra, ierr
  common /notes/ noted
  integer :: noted
  noted = value
  ierr = 0
end subroutine
subroutine old_handler(comm, code)
  integer :: comm, code
  common /notes/ noted
  integer :: noted
  noted = comm
end subroutine
subroutine old_maximum(a, b, n, type)
  integer :: n, type
  integer :: a(n), b(n)
  b = max(a, b)
end subroutine
