/* Calls the barrier at three places, at the last one on an inter-communicator, and says where the other collective is. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static void uneven(int rank) {
    struct timespec millisecond = {0, 1000000};
    for (int i = 0; i < 5; i++) {
        if (rank != 0) nanosleep(&millisecond, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void even(void) {
    for (int i = 0; i < 30; i++) MPI_Barrier(MPI_COMM_WORLD);
}

static void between(MPI_Comm comm) {
    for (int i = 0; i < 7; i++) MPI_Barrier(comm);
}

int main(int argc, char **argv) {
    int rank, size;
    double sum = 1.0;
    MPI_Comm half, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uneven(rank);
    even();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
    between(both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    if (rank == 0 && sum == size) printf("all right\n");
    MPI_Finalize();
    return 0;
}
