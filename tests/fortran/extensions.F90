! mpix.h through one interface: -DMPI_MODULE=mpi, -DMPI_MODULE=mpi_f08, or neither for mpif.h. Four ranks on one worker.
#define CHECK(condition) call check(__LINE__, condition)
#define EQUAL(got, wanted) call check(__LINE__, got, wanted)
program extensions
#ifdef MPI_MODULE
  use MPI_MODULE
#endif
  use checks
  implicit none
#ifndef MPI_MODULE
  include 'mpif.h'
#endif
  integer(kind=MPI_ADDRESS_KIND) :: counter, none
  integer(kind=MPI_COUNT_KIND) :: first, second, of_core
  integer :: ierr, rank, worker, workers
  double precision :: wall, mine, core, all, ended
  EQUAL(merge(1, 0, MPIX_Rtime() > 0), 0)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)

  ! Ranks take turns: each has run for as long as it has computed, and all that time was the core's.
  call MPIX_Counter_open(' task-clock ', counter, ierr)
  EQUAL(ierr, MPI_SUCCESS)
  CHECK(counter /= MPIX_COUNTER_NULL)
  call MPIX_Rcounter(counter, first, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  wall = MPI_Wtime()
  mine = MPIX_Rtime()
  core = MPIX_Ptime()
  call MPIX_Start_processor_timer()
  call compute(0.05d0)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPIX_Stop_processor_timer()
  mine = MPIX_Rtime() - mine
  core = PMPIX_Ptime() - core
  wall = MPI_Wtime() - wall
  CHECK(mine >= 0.05d0)
  CHECK(mine <= wall)
  call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  CHECK(all >= 0.2d0)
  CHECK(core >= 0.05d0)
  CHECK(core < all * 1.5)
  call MPIX_Rcounter(counter, second, ierr)
  EQUAL(ierr, MPI_SUCCESS)
  CHECK(second > first)
  call MPIX_Pcounter(counter, of_core, ierr)
  EQUAL(ierr, MPI_SUCCESS)
  CHECK(of_core > 0)
  call MPIX_Counter_close(counter, ierr)
  EQUAL(ierr, MPI_SUCCESS)
  CHECK(counter == MPIX_COUNTER_NULL)
  call PMPIX_Counter_open('no such counter', none, ierr)
  CHECK(ierr /= MPI_SUCCESS)
  CHECK(none == MPIX_COUNTER_NULL)

  call MPIX_Get_worker(worker, workers, ierr)
  EQUAL(worker, 0)
  EQUAL(workers, 1)
  call MPIX_Yield(ierr)
  EQUAL(ierr, MPI_SUCCESS)
  call MPIX_Pin(.true., ierr)
  EQUAL(ierr, MPI_SUCCESS)
  call PMPIX_Pin(.false., ierr)
  EQUAL(ierr, MPI_SUCCESS)
  call MPIX_Balance(ierr)
  EQUAL(ierr, MPI_SUCCESS)
  call MPIX_Migrate(1, ierr) ! there is one worker
  CHECK(ierr /= MPI_SUCCESS)

  call MPI_Finalize(ierr)
  ended = MPIX_Rtime()
  CHECK(ended > 0)
  call compute(0.002d0)
  CHECK(PMPIX_Rtime() <= ended)
contains
  subroutine compute(seconds)
    double precision, intent(in) :: seconds
    double precision :: start
    start = MPI_Wtime()
    do while (MPI_Wtime() - start < seconds)
    end do
  end subroutine
end program
