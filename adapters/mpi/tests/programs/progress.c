/* A long message is on its way while its sender is in a barrier: the receiver needs the sender's library for it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, all, long_one = 8 << 20;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    char *data = malloc(long_one);
    for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 4; round++) {
        MPI_Request request;
        memset(data, me == 0 ? round + 1 : 0, long_one);
        if (me == 0) MPI_Isend(data, long_one, MPI_CHAR, all - 1, 7, MPI_COMM_WORLD, &request);
        if (me == all - 1) {
            MPI_Recv(data, long_one, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (data[0] != round + 1 || data[long_one - 1] != round + 1) MPI_Abort(MPI_COMM_WORLD, 3);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
