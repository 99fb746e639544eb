C     The same in fixed form with mpif.h.
      PROGRAM HELLO
      INCLUDE 'mpif.h'
      INTEGER RANK, N, IERR, ONE, TWO, THREE
      COMMON /SHARED/ THREE
      DATA ONE /1/, TWO /2/
      THREE = 3
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, N,
     &                   IERR)
      ONE = ONE + RANK
      TWO = TWO + RANK
      THREE = THREE + RANK
      CALL MPI_BARRIER(MPI_COMM_WORLD, IERR)
      WRITE(*,'(A,I0,A,I0,A,I0)') 'rank ', RANK, ' of ', N, ', seen ',
     &  ONE + TWO + THREE
      CALL MPI_FINALIZE(IERR)
      END
