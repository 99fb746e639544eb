! The heat equation with mpi_f08: the halo's rows are sections of the array, whose elements lie apart; columns are contiguous.
!   mpirun -n 4 ./heat_f08 [NX [NY [STEPS]]]
program heat_f08
  use mpi_f08
  use heat_stencil
  implicit none
  type(MPI_Comm) :: cart
  integer :: ranks, rank, dims(2), coords(2), left, right, below, above, n
  real(dp) :: residual, start, seconds, error
  call MPI_Init()
  call read_arguments()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., cart)
  call MPI_Comm_rank(cart, rank)
  call MPI_Cart_coords(cart, rank, 2, coords)
  call MPI_Cart_shift(cart, 0, 1, left, right)
  call MPI_Cart_shift(cart, 1, 1, below, above)
  call create_part(dims, coords)
  call MPI_Barrier(cart)
  start = MPI_Wtime()
  residual = 0
  do n = 1, steps
    call exchange()
    residual = step()
  end do
  seconds = MPI_Wtime() - start
  error = error_of_part()
  call MPI_Allreduce(MPI_IN_PLACE, residual, 1, MPI_DOUBLE_PRECISION, MPI_MAX, cart)
  call MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, cart)
  if (rank == 0) call report('heat_f08', ranks, seconds, residual, error)
  call MPI_Comm_free(cart)
  call MPI_Finalize()
contains
  subroutine exchange()
    type(MPI_Request) :: requests(8)
    call MPI_Irecv(u(0, 1:my), my, MPI_DOUBLE_PRECISION, left, 1, cart, requests(1))
    call MPI_Irecv(u(mx + 1, 1:my), my, MPI_DOUBLE_PRECISION, right, 2, cart, requests(2))
    call MPI_Irecv(u(1:mx, 0), mx, MPI_DOUBLE_PRECISION, below, 3, cart, requests(3))
    call MPI_Irecv(u(1:mx, my + 1), mx, MPI_DOUBLE_PRECISION, above, 4, cart, requests(4))
    call MPI_Isend(u(mx, 1:my), my, MPI_DOUBLE_PRECISION, right, 1, cart, requests(5))
    call MPI_Isend(u(1, 1:my), my, MPI_DOUBLE_PRECISION, left, 2, cart, requests(6))
    call MPI_Isend(u(1:mx, my), mx, MPI_DOUBLE_PRECISION, above, 3, cart, requests(7))
    call MPI_Isend(u(1:mx, 1), mx, MPI_DOUBLE_PRECISION, below, 4, cart, requests(8))
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
  end subroutine
end program
