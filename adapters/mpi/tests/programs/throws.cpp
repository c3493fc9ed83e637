// An error handler throws, through the functions that have called it, and the program goes on.
#include <cstdio>
#include <mpi.h>

static void handler(MPI_Comm *, int *code, ...) { throw *code; }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, all, caught = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm comm;
    MPI_Errhandler own;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
    for (int i = 0; i < 6; i++) {
        int one = 1, sum = 0;
        try {
            MPI_Bcast(&one, 1, MPI_INT, all, comm);
        } catch (int) {
            caught++;
        }
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != all) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    // What a rank gives itself is longer than what it expects, which it hears of when the operation has ended.
    int many[64] = {0}, few[2] = {0};
    for (int i = 0; i < 2; i++) {
        int none[16] = {0}, places[16] = {0}, given[16] = {0}, taken[16] = {0};
        given[me] = 4, taken[me] = 1;
        try {
            if (i) MPI_Alltoallv(many, given, places, MPI_INT, few, taken, places, MPI_INT, comm);
            else MPI_Alltoallv(many, none, places, MPI_INT, few, none, places, MPI_INT, comm), caught++;
        } catch (int) {
            caught++;
        }
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != all) MPI_Abort(MPI_COMM_WORLD, 4);
    }
    if (caught != 8) MPI_Abort(MPI_COMM_WORLD, 5);
    if (me == 0) std::printf("all right\n");
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
