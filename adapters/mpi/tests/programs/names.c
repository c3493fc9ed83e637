/* A rank gives predefined types names of its own before it uses them for the first time. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int me, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    if (me == 0) {
        MPI_Type_set_name(MPI_INT, "count");
        MPI_Type_set_name(MPI_DOUBLE, "MPI_INT");
    }
    /* The first collectives are the library's. */
    for (int i = 0; i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 10; round++) {
        int count = me + round, counts = -1;
        double part = me + 0.5, parts = -1;
        MPI_Allreduce(&count, &counts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&part, &parts, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (counts != all * (all - 1) / 2 + all * round || parts != all * all / 2.0) {
            fprintf(stderr, "rank %d: %d, %g\n", me, counts, parts);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    char name[MPI_MAX_OBJECT_NAME];
    int len;
    MPI_Type_get_name(MPI_INT, name, &len);
    if ((name[0] == 'c') != (me == 0)) MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Finalize();
    if (me == 0) puts("all right");
    return 0;
}
