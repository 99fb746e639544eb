! Fortran and C in one program: COMMON, SAVE, DATA and module variables, a unit of each rank, and what C keeps.
module of_rank
  integer :: in_module = 1
end module

program mixed
  use mpi_f08
  use of_rank
  implicit none
  integer :: rank, ranks, in_common, in_data, got, right
  integer, save :: saved = 3
  integer, external :: change_in_c
  character(len=20) :: line
  common /block/ in_common
  data in_data /4/
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  in_common = rank
  in_module = in_module + rank
  saved = saved + rank
  in_data = in_data + rank
  open (10, status='scratch')
  write (10, '(i0)') rank
  call MPI_Barrier(MPI_COMM_WORLD)
  rewind (10)
  read (10, '(a)') line
  read (line, *) got
  right = merge(1, 0, in_common == rank .and. in_module == 1 + rank .and. saved == 3 + rank .and. &
                in_data == 4 + rank .and. got == rank .and. change_in_c(rank) == 105)
  call MPI_Allreduce(MPI_IN_PLACE, right, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0,a)', right, ' ranks have their own'
  call MPI_Finalize()
end program
