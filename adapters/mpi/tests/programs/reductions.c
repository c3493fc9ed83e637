/* A long message is on its way while its sender calls one short reduction after the other, until it has come. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, all, long_one = 4 << 20;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    char *data = malloc(long_one);
    memset(data, me == 0 ? 5 : 0, long_one);
    for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    if (me == 0) MPI_Isend(data, long_one, MPI_CHAR, all - 1, 7, MPI_COMM_WORLD, &request);
    if (me == all - 1) MPI_Irecv(data, long_one, MPI_CHAR, 0, 7, MPI_COMM_WORLD, &request);
    int here = me != all - 1, everywhere = 0;
    for (long calls = 0; !everywhere; calls++) {
        /* The sender leaves the message to its library. */
        if (!here) MPI_Test(&request, &here, MPI_STATUS_IGNORE);
        MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        /* The sender's library makes progress in one call of 1024. */
        if (calls == 50000) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (me == all - 1 && (data[0] != 5 || data[long_one - 1] != 5)) MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
