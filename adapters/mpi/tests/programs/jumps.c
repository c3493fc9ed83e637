/* An error handler leaves the call that has failed by a jump, or calls collectives itself, and the program goes on. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;
static int jumps, called;
static MPI_Comm other;
static MPI_Datatype gaps;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    int one = 1, sum = 0, all;
    called++;
    if (jumps) longjmp(back, 1);
    MPI_Comm_size(other, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    if (sum != all) MPI_Abort(MPI_COMM_WORLD, 3);
}

/* One rank gives itself more than it takes: it hears of it alone, when the operation has ended. */
static void cut(MPI_Comm comm, int me, int who) {
    int many[64] = {0}, few[64] = {0}, given[16] = {0}, taken[16] = {0}, places[16] = {0};
    given[me] = 4, taken[me] = me == who ? 1 : 4;
    MPI_Alltoallv(many, given, places, MPI_INT, few, taken, places, MPI_INT, comm);
}

/* One rank takes elements of a type that is not committed: the library refuses them when they have arrived. */
static void refuse(MPI_Comm comm, int me, int who) {
    int own[2] = {me, me}, all[64];
    if (me == who) MPI_Allgather(own, 2, MPI_INT, all, 1, gaps, comm);
    else MPI_Allgather(own, 2, MPI_INT, all, 2, MPI_INT, comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, all;
    MPI_Comm comm;
    MPI_Errhandler own;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
    for (volatile int i = 0; i < 12; i++) {
        int one = 1, sum = 0, who = i % all;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
        if (sum != all) MPI_Abort(MPI_COMM_WORLD, 4);
        if (i < 4) continue;
        jumps = i % 2;
        int before = called;
        if (setjmp(back) == 0) (i / 2 % 2 ? refuse : cut)(comm, me, who);
        if (called - before != (me == who)) MPI_Abort(MPI_COMM_WORLD, 5);
        if (!jumps && me != who) {
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
            if (sum != all) MPI_Abort(MPI_COMM_WORLD, 6);
        }
    }
    if (me == 0) printf("all right\n");
    MPI_Type_free(&gaps);
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&other);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
