! netCDF from Fortran: a file of each rank's, in its default format.
program netcdf_fortran
  use mpi
  use netcdf
  implicit none
  integer, parameter :: rows = 6, columns = 9
  integer :: rank, ranks, error, round, file, dimensions(2), variable, i, j
  real(8) :: values(rows, columns), back(rows, columns), found, all_found
  character(32) :: name

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  write (name, '(a, i0, a)') 'netcdf_fortran_', rank, '.nc'
  found = 0
  do round = 1, 5
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call check(nf90_create(name, merge(NF90_NETCDF4, NF90_CLOBBER, mod(rank, 2) == 1), file))
    call check(nf90_def_dim(file, 'row', rows, dimensions(1)))
    call check(nf90_def_dim(file, 'column', columns, dimensions(2)))
    call check(nf90_def_var(file, 'field', NF90_DOUBLE, dimensions, variable))
    call check(nf90_put_att(file, variable, 'owner', rank))
    call check(nf90_enddef(file))
    call MPI_Barrier(MPI_COMM_WORLD, error)
    do j = 1, columns
      do i = 1, rows
        values(i, j) = rank*1000 + i*100 + j + round*0.5d0
      end do
    end do
    call check(nf90_put_var(file, variable, values))
    call check(nf90_close(file))
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call check(nf90_open(name, NF90_NOWRITE, file))
    call check(nf90_inq_varid(file, 'field', variable))
    call check(nf90_get_att(file, variable, 'owner', i))
    call check(merge(0, -1, i == rank))
    call check(nf90_get_var(file, variable, back))
    call check(nf90_close(file))
    call check(merge(0, -1, all(back == values)))
    found = found + sum(back)
  end do
  open (newunit=i, file=name)
  close (i, status='delete')
  call MPI_Reduce(found, all_found, 1, MPI_REAL8, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(i0, a, f0.3)', ranks, ' ranks, result ', all_found
  call MPI_Finalize(error)

contains
  subroutine check(status)
    integer, intent(in) :: status
    if (status == nf90_noerr) return
    print '(a, i0, a, i0, 2a)', 'FAILED rank ', rank, ' round ', round, ': ', trim(nf90_strerror(status))
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine
end program
