/* A program starts another one, which has no adapter, and both call collectives together. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm parent, others, both;
    MPI_Comm_get_parent(&parent);
    int is_child = parent != MPI_COMM_NULL, me, all, sum = 0;
    if (!is_child) {
        for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "env", "LD_PRELOAD=");
        MPI_Comm_spawn(argv[1], MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
        MPI_Info_free(&info);
    } else others = parent;
    /* An intercommunicator. */
    for (int i = 0; i < 5; i++) MPI_Barrier(others);
    MPI_Intercomm_merge(others, is_child, &both);
    MPI_Comm_rank(both, &me);
    MPI_Comm_size(both, &all);
    for (int i = 0; i < 8; i++) {
        int own = me + i;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, both);
        if (sum != all * (all - 1) / 2 + all * i) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (me == 0) printf("all right\n");
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return 0;
}
