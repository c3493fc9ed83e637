/* Two threads of each process call at a time, each on communicators of its own, with the same members. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int all;

static void *calls(void *given) {
    MPI_Comm comm = *(MPI_Comm *)given;
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 300; i++) {
        int own = rank * 3 + i, sum, root = i % all;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != 3 * all * (all - 1) / 2 + i * all) MPI_Abort(MPI_COMM_WORLD, 3);
        int told = rank == root ? i : -1;
        MPI_Bcast(&told, 1, MPI_INT, root, comm);
        if (told != i) MPI_Abort(MPI_COMM_WORLD, 4);
        if (i % 100 == 50) {
            /* The thread's own communicator goes, and another one comes. */
            MPI_Comm next;
            MPI_Comm_dup(comm, &next);
            MPI_Comm_free((MPI_Comm *)given);
            *(MPI_Comm *)given = comm = next;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (level < MPI_THREAD_MULTIPLE) {
        if (me == 0) printf("all right: the library has one thread at a time\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm comms[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, calls, &comms[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&comms[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
