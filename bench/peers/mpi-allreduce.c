/* How long an allreduce of float takes that MPI makes: mpi-allreduce BYTES ROUNDS prints microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM_UP = 3 };

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int count = atoi(argv[1]) / (int)sizeof(float), rounds = atoi(argv[2]);
  float *own = malloc(count * sizeof(float)), *sums = malloc(count * sizeof(float));
  double elapsed = 0, slowest = 0;
  for (int round = -WARM_UP; round < rounds; round++) {
    for (int i = 0; i < count; i++) own[i] = (float)(rank + i % 7);
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    MPI_Allreduce(own, sums, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (round >= 0) elapsed += MPI_Wtime() - begun;
    for (int i = 0; i < count; i++)
      if (sums[i] != (float)(size * (size - 1) / 2 + size * (i % 7))) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.3f\n", slowest * 1e6 / rounds);
  MPI_Finalize();
  return 0;
}
