# Progress while ranks compute; the same with a core's thread in the longer tier (where cores are short it sleeps, too).
tmpi_program(progress_beside ${directory} SOURCES progress_beside.c FLAGS -O1)
tmpi_mpi_run(progress_beside 4 120 "mpi;nodes" nodes4-thread --nodes 4 --progress thread)
tmpi_mpi_run(progress_beside 4 120 "mpi;nodes;long" nodes4-core --nodes 4 --progress core --net sim --rndv read)
