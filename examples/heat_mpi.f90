! The heat equation with module mpi: rows of the halo by a strided derived type.
!   mpirun -n 4 ./heat_mpi [NX [NY [STEPS]]]
program heat_mpi
  use mpi
  use heat_stencil
  implicit none
  integer :: cart, ranks, rank, dims(2), coords(2), left, right, below, above, n, row, ierr
  real(dp) :: residual, start, seconds, error
  call MPI_Init(ierr)
  call read_arguments()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., cart, ierr)
  call MPI_Comm_rank(cart, rank, ierr)
  call MPI_Cart_coords(cart, rank, 2, coords, ierr)
  call MPI_Cart_shift(cart, 0, 1, left, right, ierr)
  call MPI_Cart_shift(cart, 1, 1, below, above, ierr)
  call create_part(dims, coords)
  call MPI_Type_vector(my, 1, mx + 2, MPI_DOUBLE_PRECISION, row, ierr)
  call MPI_Type_commit(row, ierr)
  call MPI_Barrier(cart, ierr)
  start = MPI_Wtime()
  residual = 0
  do n = 1, steps
    call exchange()
    residual = step()
  end do
  seconds = MPI_Wtime() - start
  error = error_of_part()
  call MPI_Allreduce(MPI_IN_PLACE, residual, 1, MPI_DOUBLE_PRECISION, MPI_MAX, cart, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, cart, ierr)
  if (rank == 0) call report('heat_mpi', ranks, seconds, residual, error)
  call MPI_Type_free(row, ierr)
  call MPI_Comm_free(cart, ierr)
  call MPI_Finalize(ierr)
contains
  subroutine exchange()
    integer :: requests(8)
    call MPI_Irecv(u(0, 1), 1, row, left, 1, cart, requests(1), ierr)
    call MPI_Irecv(u(mx + 1, 1), 1, row, right, 2, cart, requests(2), ierr)
    call MPI_Irecv(u(1, 0), mx, MPI_DOUBLE_PRECISION, below, 3, cart, requests(3), ierr)
    call MPI_Irecv(u(1, my + 1), mx, MPI_DOUBLE_PRECISION, above, 4, cart, requests(4), ierr)
    call MPI_Isend(u(mx, 1), 1, row, right, 1, cart, requests(5), ierr)
    call MPI_Isend(u(1, 1), 1, row, left, 2, cart, requests(6), ierr)
    call MPI_Isend(u(1, my), mx, MPI_DOUBLE_PRECISION, above, 3, cart, requests(7), ierr)
    call MPI_Isend(u(1, 1), mx, MPI_DOUBLE_PRECISION, below, 4, cart, requests(8), ierr)
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr)
  end subroutine
end program
