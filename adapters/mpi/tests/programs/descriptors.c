/* A rank that may open no further file when a team is to be made. All goes on without a team, on two communicators, and with one
 * once it may. */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static int me, all;

static void use(MPI_Comm comm) {
    for (int round = 0; round < 8; round++) {
        int own = me + round, sum = -1;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != all * (all - 1) / 2 + all * round) {
            fprintf(stderr, "rank %d: %d\n", me, sum);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
}

int main(int argc, char **argv) {
    MPI_Comm comms[2];
    struct rlimit before, few;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    /* Whatever the library opens for these messages. */
    for (int i = 0; i < 2; i++) MPI_Barrier(MPI_COMM_WORLD);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    if (me == all - 1) {
        int next = dup(1);
        few.rlim_cur = next + 1;
        close(next);
    }
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < 2; i++) use(comms[i]);
    setrlimit(RLIMIT_NOFILE, &before);
    use(MPI_COMM_WORLD);
    MPI_Finalize();
    if (me == 0) puts("all right");
    return 0;
}
