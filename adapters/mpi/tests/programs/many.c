/* One rank uses more communicators than the adapter keeps at hand, of that rank alone, while one of all ranks is raced: so this rank
   has to look that one up each time, and the others never. All of them must still agree whose turn a call is. */
#include <mpi.h>
#include <stdio.h>

enum { OTHERS = 600, CALLS = 800 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    static MPI_Comm others[OTHERS];
    for (int i = 0; i < OTHERS; i++) MPI_Comm_dup(MPI_COMM_SELF, &others[i]);
    for (int i = 0; i < CALLS; i++) {
        long own = me + i, sum = 0, before = 0, expected = (long)all * (all - 1) / 2 + (long)all * i;
        for (int j = 0; j < OTHERS && me == 0; j++) MPI_Barrier(others[j]);
        MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (sum != expected) {
            fprintf(stderr, "sum %d of rank %d: %ld for %ld\n", i, me, sum, expected);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        for (int j = 0; j < OTHERS && me == 0; j++) MPI_Barrier(others[j]);
        MPI_Scan(&own, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        expected = (long)me * (me + 1) / 2 + (long)(me + 1) * i;
        if (before != expected) {
            fprintf(stderr, "scan %d of rank %d: %ld for %ld\n", i, me, before, expected);
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
    for (int i = 0; i < OTHERS; i++) MPI_Comm_free(&others[i]);
    if (me == 0) printf("all right\n");
    return MPI_Finalize();
}
