/* Of a number and none, and of zeros of both signs, either may be the least: whichever a rank finds first, it finds in all calls
 * (after two collectives, which are the library's). */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    double own[2] = {me % 2 ? 5 : NAN, me % 2 ? 0.0 : -0.0};
    for (int call = 0; call < 2; call++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Op ops[] = {MPI_MIN, MPI_MAX};
    for (int o = 0; o < 2; o++) {
        double first[2], found[2];
        for (int call = 0; call < 1000; call++) {
            MPI_Allreduce(own, found, 2, MPI_DOUBLE, ops[o], MPI_COMM_WORLD);
            if (call == 0) memcpy(first, found, sizeof found);
            if (memcmp(first, found, sizeof found)) {
                fprintf(stderr, "rank %d: %g and %g at first, %g and %g in call %d\n", me, first[0], first[1], found[0], found[1], call);
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
        }
    }
    MPI_Finalize();
    if (me == 0) puts("all right");
    return 0;
}
