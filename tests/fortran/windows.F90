! mpi_f08: one-sided communication, the attributes and callbacks of windows, memory that MPI allocates.
#define CHECK(condition) call check(__LINE__, condition)
#define EQUAL(got, wanted) call check(__LINE__, got, wanted)
module window_callbacks
  use mpi_f08
  use checks
  implicit none
  integer :: deleted = 0, seen_code = 0
contains
  subroutine no_copy(old, keyval, extra_state, value_in, value_out, flag, ierror)
    type(MPI_Win) :: old
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    call failed(__LINE__, 'windows are not copied')
  end subroutine
  subroutine note_delete(win, keyval, value, extra_state, ierror)
    type(MPI_Win) :: win
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    deleted = int(value + extra_state)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine note_error(win, code)
    type(MPI_Win) :: win
    integer :: code
    seen_code = code
  end subroutine
  subroutine note_file_error(file, code)
    type(MPI_File) :: file
    integer :: code
    seen_code = code
  end subroutine
end module

program windows
  use window_callbacks
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 12
  type(MPI_Win) :: win
  type(MPI_Group) :: group
  type(MPI_File) :: file
  type(MPI_Datatype) :: gaps
  type(MPI_Request) :: request
  type(MPI_Errhandler) :: handler
  type(c_ptr) :: base
  integer, pointer :: memory(:)
  integer, asynchronous :: local(4, 6), got(3), one, total
  integer(kind=MPI_ADDRESS_KIND) :: value, place
  integer :: right, left, key, i, class, error
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = mod(me + 1, ranks)
  left = mod(me - 1 + ranks, ranks)
  call MPI_Win_allocate(4_MPI_ADDRESS_KIND*n, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, memory, [n])
  memory = -1
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag)
  CHECK(flag .and. value == transfer(base, value))
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
  CHECK(flag .and. value == 4*n)
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag)
  CHECK(flag .and. value == 4)
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag)
  CHECK(flag .and. value == MPI_WIN_FLAVOR_ALLOCATE)
  call MPI_Win_set_name(win, 'the window')
  call MPI_Win_get_name(win, name, i)
  EQUAL(trim(name), 'the window')
  call MPI_Win_create_keyval(no_copy, note_delete, key, 3_MPI_ADDRESS_KIND)
  call MPI_Win_set_attr(win, key, 4_MPI_ADDRESS_KIND)
  call MPI_Win_delete_attr(win, key)
  EQUAL(deleted, 7)
  call MPI_Win_free_keyval(key)
  call MPI_Win_get_group(win, group)
  call MPI_Group_size(group, i)
  EQUAL(i, ranks)
  call MPI_Group_free(group)

  ! A row, whose elements are not next to each other, goes to where elements are.
  local = reshape([(100*me + i, i=1, 24)], [4, 6])
  place = 2
  call MPI_Win_fence(0, win)
  call MPI_Put(local(3, :), 6, MPI_INTEGER, right, place, 6, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  CHECK(all(memory(3:8) == [(100*left + 3 + 4*i, i=0, 5)]) .and. all(memory(:2) == -1) .and. all(memory(9:) == -1))
  local = 0
  call MPI_Get(local(2, 2:6:2), 3, MPI_INTEGER, right, place, 3, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  CHECK(all(local(2, 2:6:2) == [(100*me + 3 + 4*i, i=0, 2)]))
  EQUAL(count(local /= 0), 3)

  memory = 0
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock_all(0, win)
  one = me + 1
  call MPI_Accumulate(one, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win)
  call MPI_Win_flush(0, win)
  one = 1
  call MPI_Fetch_and_op(one, got(1), MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, MPI_SUM, win)
  call MPI_Win_flush_all(win)
  CHECK(got(1) >= 0 .and. got(1) < ranks)
  call MPI_Win_unlock_all(win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
  call MPI_Get(total, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
  call MPI_Win_unlock(0, win)
  EQUAL(total, ranks*(ranks + 1)/2)

  ! Accumulation takes sections, too.
  call MPI_Barrier(MPI_COMM_WORLD)
  memory = 0
  local = 7
  local(2, 2:6:2) = [1, 2, 3]
  call MPI_Win_fence(0, win)
  call MPI_Accumulate(local(2, 2:6:2), 3, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 3, MPI_INTEGER, MPI_SUM, win)
  call MPI_Win_fence(0, win)
  if (me == 0) then
    CHECK(all(memory(:3) == [1, 2, 3]*ranks))
  end if
  call MPI_Win_fence(0, win)

  call MPI_Win_create_errhandler(note_error, handler)
  call MPI_Win_set_errhandler(win, handler)
  call MPI_Errhandler_free(handler)
  call MPI_Win_call_errhandler(win, MPI_ERR_DISP)
  EQUAL(seen_code, MPI_ERR_DISP)
  call MPI_Win_lock(MPI_LOCK_SHARED, ranks + 3, 0, win, error)
  call MPI_Error_class(error, class)
  EQUAL(class, MPI_ERR_RANK)
  EQUAL(seen_code, error)

#ifndef OTHER_MPI
  ! A section that cannot travel is an error of the window, or of the file.
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
  call MPI_Type_commit(gaps)
  seen_code = 0
  call MPI_Put(local(2, 2:6:2), 1, gaps, 0, 0_MPI_ADDRESS_KIND, 1, gaps, win, error)
  call MPI_Error_class(error, class)
  EQUAL(class, MPI_ERR_BUFFER)
  EQUAL(seen_code, error)
  call MPI_File_open(MPI_COMM_SELF, '/dev/null', MPI_MODE_WRONLY, MPI_INFO_NULL, file)
  call MPI_File_create_errhandler(note_file_error, handler)
  call MPI_File_set_errhandler(file, handler)
  call MPI_Errhandler_free(handler)
  seen_code = 0
  call MPI_File_iwrite(file, local(2, 2:6:2), 1, gaps, request, error)
  call MPI_Error_class(error, class)
  EQUAL(class, MPI_ERR_BUFFER)
  EQUAL(seen_code, error)
  call MPI_File_close(file)
  call MPI_Type_free(gaps)
#endif
  call MPI_Win_free(win)
  CHECK(win == MPI_WIN_NULL)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (me == 0) print '(a,i0,a)', 'passed with ', ranks, ' ranks'
  call MPI_Finalize()
end program
