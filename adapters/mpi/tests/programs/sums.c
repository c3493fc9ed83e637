/* Sums, so many as the argument says, and long ones by the functions for large counts where the library has them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, all, times = argc > 1 ? atoi(argv[1]) : 7;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    for (int i = 0; i < times; i++) {
        double own = me + i, sum;
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (sum != all * (all - 1) / 2 + all * i) MPI_Abort(MPI_COMM_WORLD, 3);
    }
#if MPI_VERSION >= 4
    if (times) {
        long data[1000], *parts = malloc(sizeof(long) * 1000 * all);
        MPI_Count counts[64];
        MPI_Aint places[64];
        for (int r = 0; r < all; r++) counts[r] = 900 + r, places[r] = 1000 * r;
        for (int i = 0; i < 1000; i++) data[i] = me * 1000 + i;
        MPI_Allgatherv_c(data, counts[me], MPI_LONG, parts, counts, places, MPI_LONG, MPI_COMM_WORLD);
        for (int r = 0; r < all; r++)
            for (int i = 0; i < 900 + r; i++)
                if (parts[1000 * r + i] != r * 1000 + i) MPI_Abort(MPI_COMM_WORLD, 4);
        MPI_Bcast_c(data, 1000, MPI_LONG, all - 1, MPI_COMM_WORLD);
        if (data[999] != (all - 1) * 1000 + 999) MPI_Abort(MPI_COMM_WORLD, 5);
        free(parts);
    }
#endif
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
