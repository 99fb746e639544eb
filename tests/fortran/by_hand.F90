! Every function whose binding is written by hand, through one interface: -DMPI_MODULE=mpi, -DMPI_MODULE=mpi_f08 -DF08, or neither for mpif.h.
! The generated ones are called by what generate_calls.py writes. With -DOTHER_MPI without what MPICH 4.0 does not have.
#define CHECK(condition) call check(__LINE__, condition)
#define EQUAL(got, wanted) call check(__LINE__, got, wanted)
#ifdef F08
#define HANDLE(kind) type(MPI_/**/kind)
#else
#define HANDLE(kind) integer
#endif
module procedures
#ifdef MPI_MODULE
  use MPI_MODULE
#endif
  use, intrinsic :: iso_c_binding
  use checks
  implicit none
#ifndef MPI_MODULE
  include 'mpif.h'
#endif
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer :: ierr, seen_code = 0, freed = 0, cancelled = 0
  integer(kind=address) :: deleted = 0, state
  character, target, asynchronous :: room(5000) ! not local: compilers know that no procedure keeps the address of what is
contains
#ifdef F08
  subroutine greater(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    CHECK(datatype == MPI_INTEGER)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
  end subroutine
#else
  subroutine greater(a, b, len, datatype)
    integer :: len, datatype, a(len), b(len)
    EQUAL(datatype, MPI_INTEGER)
    b = max(a, b)
  end subroutine
#endif
  subroutine comm_error(comm, code)
    HANDLE(Comm) :: comm
    integer :: code
    seen_code = merge(code, -1, comm == MPI_COMM_SELF)
  end subroutine
  subroutine win_error(win, code)
    HANDLE(Win) :: win
    integer :: code
    seen_code = merge(code, -1, win /= MPI_WIN_NULL)
  end subroutine
  subroutine file_error(file, code)
    HANDLE(File) :: file
    integer :: code
    seen_code = merge(code, -1, file /= MPI_FILE_NULL)
  end subroutine
#ifndef OTHER_MPI
  subroutine session_error(session, code)
    HANDLE(Session) :: session
    integer :: code
    seen_code = merge(code, -1, session /= MPI_SESSION_NULL)
  end subroutine
#endif
  subroutine copy_comm(old, keyval, extra_state, value_in, value_out, flag, ierror)
    HANDLE(Comm) :: old
    integer :: keyval, ierror
    integer(kind=address) :: extra_state, value_in, value_out
    logical :: flag
    flag = old == MPI_COMM_SELF
    value_out = value_in*extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine copy_type(old, keyval, extra_state, value_in, value_out, flag, ierror)
    HANDLE(Datatype) :: old
    integer :: keyval, ierror
    integer(kind=address) :: extra_state, value_in, value_out
    logical :: flag
    flag = old /= MPI_DATATYPE_NULL
    value_out = value_in*extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_comm(comm, keyval, value, extra_state, ierror)
    HANDLE(Comm) :: comm
    integer :: keyval, ierror
    integer(kind=address) :: value, extra_state
    deleted = value + extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_type(type, keyval, value, extra_state, ierror)
    HANDLE(Datatype) :: type
    integer :: keyval, ierror
    integer(kind=address) :: value, extra_state
    deleted = value + extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_win(win, keyval, value, extra_state, ierror)
    HANDLE(Win) :: win
    integer :: keyval, ierror
    integer(kind=address) :: value, extra_state
    deleted = value + extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine copy_old(comm, keyval, extra_state, value_in, value_out, flag, ierror)
    HANDLE(Comm) :: comm
    integer :: keyval, extra_state, value_in, value_out, ierror
    logical :: flag
    flag = .true.
    value_out = value_in + extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_old(comm, keyval, value, extra_state, ierror)
    HANDLE(Comm) :: comm
    integer :: keyval, value, extra_state, ierror
    deleted = value - extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine query(extra_state, status, ierror)
    integer(kind=address) :: extra_state
    integer :: ierror
#ifdef F08
    type(MPI_Status) :: status
    status%MPI_TAG = int(extra_state)
#else
    integer :: status(MPI_STATUS_SIZE)
    status(MPI_TAG) = int(extra_state)
#endif
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, .true., ierror)
  end subroutine
  subroutine release(extra_state, ierror)
    integer(kind=address) :: extra_state
    integer :: ierror
    freed = int(extra_state)
    extra_state = -extra_state
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra_state, complete, ierror)
    integer(kind=address) :: extra_state
    logical :: complete
    integer :: ierror
    cancelled = merge(-1, int(extra_state), complete)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine four_bytes(datatype, extent, extra_state, ierror)
    HANDLE(Datatype) :: datatype
    integer(kind=address) :: extent, extra_state
    integer :: ierror
    extent = 4
    ierror = MPI_SUCCESS
  end subroutine
end module

program by_hand
  use procedures
  implicit none
  integer :: provided = -1
  HANDLE(Comm) :: parent
  if (command_argument_count() == 0) then
    call MPI_Init(ierr)
  else
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
    CHECK(provided >= MPI_THREAD_SINGLE .and. provided <= MPI_THREAD_MULTIPLE)
  end if
  EQUAL(ierr, MPI_SUCCESS)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_get_parent(parent, ierr)
  if (parent /= MPI_COMM_NULL) then
    call child()
  else
    call clocks()
    call operators()
    call error_handlers()
    call attributes()
    call old_attributes()
    call requests()
    call infos()
    call buffers()
    call representations()
#ifndef OTHER_MPI
    call in_fortran_only()
    call sessions()
    call spawned() ! Debian's MPICH cannot start processes everywhere
#endif
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (me == 0) print '(a,i0,a)', 'passed with ', ranks, ' ranks'
  end if
  call MPI_Finalize(ierr)
contains
  subroutine clocks()
    double precision :: before
    integer :: place(4)
    integer(kind=address) :: first, last
    before = MPI_Wtime()
    CHECK(MPI_Wtime() >= before .and. MPI_Wtick() > 0 .and. MPI_Wtick() < 1)
    call MPI_Get_address(place(1), first, ierr)
    call MPI_Get_address(place(4), last, ierr)
#if !defined(OTHER_MPI) || defined(MPI_MODULE)
    CHECK(MPI_Aint_diff(last, first) == 12 .and. MPI_Aint_add(first, 12_address) == last)
#endif
    call MPI_Pcontrol(1)
  end subroutine

  subroutine operators()
    HANDLE(Op) :: op
    integer :: most(2)
    logical :: commutes
    call MPI_Op_create(greater, .true., op, ierr)
    call MPI_Op_commutative(op, commutes, ierr)
    CHECK(commutes)
    most = [me, -me]
    call MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
    CHECK(all(most == [ranks - 1, 0]))
    call MPI_Op_free(op, ierr)
    CHECK(op == MPI_OP_NULL)
  end subroutine

  subroutine error_handlers()
    HANDLE(Errhandler) :: handler
    HANDLE(Win) :: win
    HANDLE(File) :: file
    integer :: memory(2)
    call MPI_Comm_create_errhandler(comm_error, handler, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_TAG, ierr)
    EQUAL(seen_code, MPI_ERR_TAG)
    call MPI_Win_create(memory, 8_address, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
    call MPI_Win_create_errhandler(win_error, handler, ierr)
    call MPI_Win_set_errhandler(win, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Win_call_errhandler(win, MPI_ERR_DISP, ierr)
    EQUAL(seen_code, MPI_ERR_DISP)
    call MPI_Win_free(win, ierr)
    call MPI_File_open(MPI_COMM_SELF, '/dev/null', MPI_MODE_WRONLY, MPI_INFO_NULL, file, ierr)
    EQUAL(ierr, MPI_SUCCESS)
    call MPI_File_create_errhandler(file_error, handler, ierr)
    call MPI_File_set_errhandler(file, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_File_call_errhandler(file, MPI_ERR_IO, ierr)
    EQUAL(seen_code, MPI_ERR_IO)
    call MPI_File_close(file, ierr)
  end subroutine

  subroutine attributes()
    integer :: key, memory(2)
    integer(kind=address) :: value
    logical :: flag
    HANDLE(Comm) :: comm
    HANDLE(Datatype) :: type, copy
    HANDLE(Win) :: win
    call MPI_Comm_create_keyval(copy_comm, delete_comm, key, 3_address, ierr)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 10000000000_address, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    CHECK(flag .and. value == 30000000000_address)
    call MPI_Comm_free(comm, ierr)
    CHECK(deleted == 30000000003_address)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key, ierr)
    CHECK(deleted == 10000000003_address)
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Type_create_keyval(copy_type, delete_type, key, 5_address, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
    call MPI_Type_set_attr(type, key, -7_address, ierr)
    call MPI_Type_dup(type, copy, ierr)
    call MPI_Type_get_attr(copy, key, value, flag, ierr)
    CHECK(flag .and. value == -35)
    call MPI_Type_free(copy, ierr)
    CHECK(deleted == -30)
    call MPI_Type_free(type, ierr)
    call MPI_Type_free_keyval(key, ierr)
    EQUAL(key, MPI_KEYVAL_INVALID)
    call MPI_Win_create(memory, 8_address, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, key, 1_address, ierr)
    call MPI_Win_get_attr(win, key, value, flag, ierr)
    CHECK(.not. flag)
    call MPI_Win_set_attr(win, key, 8_address, ierr)
    call MPI_Win_get_attr(win, key, value, flag, ierr)
    CHECK(flag .and. value == 8)
    call MPI_Win_free(win, ierr)
    CHECK(deleted == 9)
    call MPI_Win_free_keyval(key, ierr)
  end subroutine

  ! Deprecated since MPI 2.0: MPICH's mpi_f08 has them not.
  subroutine old_attributes()
#if !defined(OTHER_MPI) || !defined(F08)
    integer :: key, value
    logical :: flag
    HANDLE(Comm) :: comm
    call MPI_Keyval_create(copy_old, delete_old, key, 2, ierr)
    call MPI_Attr_put(MPI_COMM_SELF, key, 40, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call MPI_Attr_get(comm, key, value, flag, ierr)
    CHECK(flag)
    EQUAL(value, 42)
    call MPI_Comm_free(comm, ierr)
    CHECK(deleted == 40)
    call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
    CHECK(deleted == 38)
    call MPI_Keyval_free(key, ierr)
    EQUAL(key, MPI_KEYVAL_INVALID)
    ! With the predefined procedures of later functions, as programs do.
    call MPI_Keyval_create(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0, ierr)
    call MPI_Attr_put(MPI_COMM_SELF, key, 40, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call MPI_Attr_get(comm, key, value, flag, ierr)
    CHECK(.not. flag)
    call MPI_Comm_free(comm, ierr)
    call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
    call MPI_Keyval_free(key, ierr)
#endif
  end subroutine

  subroutine requests()
    HANDLE(Request) :: request
#ifdef F08
    type(MPI_Status) :: status
#else
    integer :: status(MPI_STATUS_SIZE)
#endif
    integer :: n
    logical :: flag
    state = 11
    call MPI_Grequest_start(query, release, cancel, state, request, ierr)
    call MPI_Test(request, flag, status, ierr)
    CHECK(.not. flag)
    call MPI_Cancel(request, ierr)
    EQUAL(cancelled, 11)
    call MPI_Grequest_complete(request, ierr)
    call MPI_Wait(request, status, ierr)
    EQUAL(freed, 11)
    EQUAL(int(state), -11) ! what the callback has made of it, as with other MPIs
    call MPI_Test_cancelled(status, flag, ierr)
    CHECK(flag)
    call MPI_Get_elements(status, MPI_INTEGER, n, ierr)
    EQUAL(n, 3)
#ifdef F08
    EQUAL(status%MPI_TAG, 11)
#else
    EQUAL(status(MPI_TAG), 11)
#endif
  end subroutine

  subroutine infos()
    HANDLE(Info) :: info
    character(len=6) :: value
    character(len=12) :: long_value
    integer :: length
    logical :: flag
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, ' key ', ' a value  ', ierr)
    value = 'xxxxxx'
#ifndef OTHER_MPI
    call MPI_Info_get(info, 'key  ', 4, value, flag, ierr)
    CHECK(flag)
    EQUAL(value, 'a va  ')
#endif
    call MPI_Info_get(info, 'key  ', 12, long_value, flag, ierr)
    CHECK(flag)
    EQUAL(long_value, 'a value     ')
    call MPI_Info_get(info, 'other', 4, value, flag, ierr)
    CHECK(.not. flag)
#ifndef OTHER_MPI
    length = len(value)
    call MPI_Info_get_string(info, 'key', length, value, flag, ierr)
    CHECK(flag)
    EQUAL(length, 7)
    EQUAL(value, 'a valu')
    length = 0
    value = 'asked'
    call MPI_Info_get_string(info, 'key', length, value, flag, ierr)
    EQUAL(length, 7)
    EQUAL(value, 'asked')
#endif
    call MPI_Info_free(info, ierr)
#ifndef OTHER_MPI
    call MPI_Info_create_env(info, ierr)
    EQUAL(ierr, MPI_SUCCESS)
    CHECK(info /= MPI_INFO_NULL)
    call MPI_Info_get_nkeys(info, length, ierr)
    CHECK(length > 0)
    call MPI_Info_free(info, ierr)
#endif
    CHECK(info == MPI_INFO_NULL)
  end subroutine

  ! Attached, used, detached: its size comes back, and to mpi_f08 its address.
  subroutine buffers()
    integer :: n
#ifdef F08
    type(c_ptr) :: place
    integer(kind=MPI_COUNT_KIND) :: large
#else
    integer(kind=address) :: place ! MPICH writes the address there
#endif
    call MPI_Buffer_attach(room, 5000, ierr)
    call MPI_Buffer_detach(place, n, ierr)
    EQUAL(n, 5000)
#ifdef F08
    CHECK(c_associated(place, c_loc(room)))
#endif
#ifndef OTHER_MPI
    call MPI_Comm_attach_buffer(MPI_COMM_SELF, room, 4000, ierr)
    call MPI_Comm_detach_buffer(MPI_COMM_SELF, place, n, ierr)
    EQUAL(n, 4000)
#ifdef F08
    CHECK(c_associated(place, c_loc(room)))
    call MPI_Buffer_attach(room, 3000_MPI_COUNT_KIND, ierr)
    place = c_null_ptr
    call MPI_Buffer_detach(place, large, ierr)
    CHECK(large == 3000 .and. c_associated(place, c_loc(room)))
    call MPI_Comm_attach_buffer(MPI_COMM_SELF, room, 2000_MPI_COUNT_KIND, ierr)
    place = c_null_ptr
    call MPI_Comm_detach_buffer(MPI_COMM_SELF, place, large, ierr)
    CHECK(large == 2000 .and. c_associated(place, c_loc(room)))
    call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0, ierr)
    EQUAL(ierr, MPI_SUCCESS)
    place = c_null_ptr
    call MPI_Buffer_detach(place, n, ierr)
    CHECK(n == 0 .and. c_associated(place, c_loc(MPI_BUFFER_AUTOMATIC)))
#endif
#endif
  end subroutine

  ! A name is taken once.
  subroutine representations()
#if !defined(OTHER_MPI) || defined(F08)
    integer :: class, error
    call MPI_Register_datarep('ours', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, four_bytes, 0_address, ierr)
    EQUAL(ierr, MPI_SUCCESS)
    call MPI_Register_datarep('ours  ', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, four_bytes, 0_address, ierr)
    error = ierr
    call MPI_Error_class(error, class, ierr)
    EQUAL(class, MPI_ERR_DUP_DATAREP)
#endif
  end subroutine

#ifndef OTHER_MPI
  ! What C does not have.
  subroutine in_fortran_only()
    real(8) :: x(3)
#ifdef MPI_MODULE
    complex(8) :: z
    integer :: n, plain(MPI_STATUS_SIZE)
    type(MPI_Status) :: status
    call MPI_Sizeof(x, n, ierr)
    EQUAL(n, 8)
    call MPI_Sizeof(z, n, ierr)
    EQUAL(n, 16)
    plain(MPI_SOURCE) = 3
    plain(MPI_TAG) = 4
    plain(MPI_ERROR) = 5
    call MPI_Status_f2f08(plain, status, ierr)
    CHECK(all([status%MPI_SOURCE, status%MPI_TAG, status%MPI_ERROR] == [3, 4, 5]))
    status%MPI_TAG = 6
    call MPI_Status_f082f(status, plain, ierr)
    CHECK(all([plain(MPI_SOURCE), plain(MPI_TAG), plain(MPI_ERROR)] == [3, 6, 5]))
#endif
    x = 2.5
    call MPI_F_sync_reg(x)
    CHECK(all(x == 2.5))
  end subroutine

  subroutine sessions()
    HANDLE(Session) :: session
    HANDLE(Errhandler) :: handler
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    integer :: n
#ifdef F08
    type(c_ptr) :: place
    integer(kind=MPI_COUNT_KIND) :: large
#else
    integer(kind=address) :: place ! MPICH writes the address there
#endif
    call MPI_Session_create_errhandler(session_error, handler, ierr)
    call MPI_Session_init(MPI_INFO_NULL, handler, session, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Session_call_errhandler(session, MPI_ERR_ARG, ierr)
    EQUAL(seen_code, MPI_ERR_ARG)
    n = len(name)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, n, name, ierr)
    EQUAL(name(:n), 'mpi://SELF')
    call MPI_Session_attach_buffer(session, room, 3000, ierr)
    call MPI_Session_detach_buffer(session, place, n, ierr)
    EQUAL(n, 3000)
#ifdef F08
    CHECK(c_associated(place, c_loc(room)))
    call MPI_Session_attach_buffer(session, room, 2500_MPI_COUNT_KIND, ierr)
    place = c_null_ptr
    call MPI_Session_detach_buffer(session, place, large, ierr)
    CHECK(large == 2500 .and. c_associated(place, c_loc(room)))
#endif
    call MPI_Session_finalize(session, ierr)
    CHECK(session == MPI_SESSION_NULL)
  end subroutine
#endif

  ! Children add up what they were given as arguments.
  subroutine spawned()
    integer, parameter :: n = 12
    character(len=1000) :: program
    character(len=n) :: arguments(3), lists(2, 3)
    character(len=1000) :: programs(2)
    HANDLE(Info) :: infos(2)
    HANDLE(Comm) :: inter
    integer :: codes(3)
    call get_command_argument(0, program)
    arguments = [character(len=n) :: 'child', '  two words', ' ']
    codes = -1
    call MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, ierr)
    CHECK(all(codes == [MPI_SUCCESS, MPI_SUCCESS, -1]))
    call ask_children(inter, 200)
    call MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, ierr)
    call ask_children(inter, 1000)
    programs = program
    infos = MPI_INFO_NULL
    lists(1, :) = [character(len=n) :: 'child', 'one', ' ']
    lists(2, :) = [character(len=n) :: 'child', 'two', ' ']
    codes = -1
    call MPI_Comm_spawn_multiple(2, programs, lists, [1, 2], infos, 0, MPI_COMM_WORLD, inter, codes, ierr)
    CHECK(all(codes == MPI_SUCCESS))
    call ask_children(inter, 21)
    call MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, [1, 1], infos, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, ierr)
    call ask_children(inter, 2000)
  end subroutine

  subroutine ask_children(inter, wanted)
    HANDLE(Comm), intent(inout) :: inter
    integer, intent(in) :: wanted
    integer :: question, got, root
    root = merge(MPI_ROOT, MPI_PROC_NULL, me == 0)
    question = 4711
    got = -1
    call MPI_Bcast(question, 1, MPI_INTEGER, root, inter, ierr)
    call MPI_Reduce(question, got, 1, MPI_INTEGER, MPI_SUM, root, inter, ierr)
    if (me == 0) EQUAL(got, wanted)
    call MPI_Comm_disconnect(inter, ierr)
    CHECK(inter == MPI_COMM_NULL)
  end subroutine

  subroutine child()
    character(len=20) :: text
    integer :: answer, question = 0, got = 0
    call get_command_argument(2, text)
    select case (text)
    case ('one')
      answer = 1
    case ('two')
      answer = 10
    case ('two words')
      answer = 100
    case default
      answer = 1000
      EQUAL(command_argument_count(), 0)
    end select
    call MPI_Bcast(question, 1, MPI_INTEGER, 0, parent, ierr)
    EQUAL(question, 4711)
    call MPI_Reduce(answer, got, 1, MPI_INTEGER, MPI_SUM, 0, parent, ierr)
    call MPI_Comm_disconnect(parent, ierr)
  end subroutine
end program
