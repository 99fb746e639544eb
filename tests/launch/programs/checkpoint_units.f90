! checkpoint_units FOLDER DIRECTORY: Fortran's units, one for reading, one for writing, one for direct access, when the rank is saved.
program units
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function checkpoint(directory) bind(c, name="MPIX_Checkpoint")
      import
      character(kind=c_char), intent(in) :: directory(*)
    end function
    integer(c_int) function was_restarted(flag) bind(c, name="MPIX_Restarted")
      import
      integer(c_int), intent(out) :: flag
    end function
  end interface
  integer :: ierr, rank, i, number, total, input, output, direct
  integer(c_int) :: restarted
  character(len=1000) :: folder, directory, path, line
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, folder)
  call get_command_argument(2, directory)
  write (path, '(a,"/unit.",i0)') trim(folder), rank
  open (newunit=output, file=trim(path)//".in", action="write", status="replace")
  do i = 1, 2000
    write (output, '(i0," of rank ",i0)') i, rank
  end do
  close (output)
  open (newunit=input, file=trim(path)//".in", action="read", status="old")
  open (newunit=output, file=trim(path)//".out", status="replace")
  open (newunit=direct, file=trim(path)//".direct", access="direct", recl=8, status="replace")
  total = 0
  do i = 1, 2000
    read (input, *) number
    if (number /= i) print '("rank ",i0,": read ",i0," for ",i0)', rank, number, i
    write (output, '(i0)', advance="no") number
    write (output, '(a)') " written"
    write (direct, rec=2001-i) number, rank
    if (i == 700) then
      ierr = checkpoint(trim(directory)//c_null_char)
      ierr = was_restarted(restarted)
      if (rank == 0) print '(a)', trim(merge("restarted", "saved    ", restarted /= 0))
    end if
  end do
  rewind (output)
  do i = 1, 2000
    read (output, *) number, line
    if (trim(line) == "written") total = total + number
    read (direct, rec=2001-i) number, ierr
    if (number /= i .or. ierr /= rank) print '("rank ",i0,": record ",i0," is wrong")', rank, i
  end do
  print '("rank ",i0,": sum ",i0)', rank, total
  close (input)
  close (output)
  close (direct)
  call MPI_Finalize(ierr)
end program
