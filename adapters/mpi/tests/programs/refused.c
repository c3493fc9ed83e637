/* Calls that the library refuses are refused on old communicators as on young ones: MPI_IN_PLACE where none may be, types that are not
   committed, and pairs of a type and an operator that it does not take. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 64 };
static int codes[2][MOST], calls;

static void told(int old, int code) {
    int class = 0;
    if (code) MPI_Error_class(code, &class);
    codes[old][calls++] = class;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, all, failures = 0, total = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    int own[64] = {1}, into[64], ones[16], places[16];
    for (int i = 0; i < 16; i++) ones[i] = 1, places[i] = i;
    /* Open MPI reports some of them there. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype t = MPI_INT, pair, gaps;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    for (int old = 0; old < 2; old++) {
        MPI_Comm c;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        for (int i = 0; i < 6 * old; i++) MPI_Barrier(c);
        calls = 0;
        told(old, MPI_Allgather(own, 1, t, MPI_IN_PLACE, 1, t, c));
        told(old, MPI_Alltoall(own, 1, t, MPI_IN_PLACE, 1, t, c));
        told(old, MPI_Allgatherv(own, 1, t, MPI_IN_PLACE, ones, places, t, c));
        told(old, MPI_Alltoallv(own, ones, places, t, MPI_IN_PLACE, ones, places, t, c));
        told(old, MPI_Allreduce(own, MPI_IN_PLACE, 1, t, MPI_SUM, c));
        told(old, MPI_Scan(own, MPI_IN_PLACE, 1, t, MPI_SUM, c));
        told(old, MPI_Reduce_scatter_block(own, MPI_IN_PLACE, 1, t, MPI_SUM, c));
        told(old, MPI_Reduce_scatter(own, MPI_IN_PLACE, ones, t, MPI_SUM, c));
#ifdef OPEN_MPI
        /* MPICH crashes, or takes it for an address. */
        told(old, MPI_Bcast(MPI_IN_PLACE, 1, t, 0, c));
        if (me) {
            told(old, MPI_Gather(MPI_IN_PLACE, 1, t, into, 1, t, 0, c));
            told(old, MPI_Gatherv(MPI_IN_PLACE, 1, t, into, ones, places, t, 0, c));
            told(old, MPI_Scatter(own, 1, t, MPI_IN_PLACE, 1, t, 0, c));
            told(old, MPI_Scatterv(own, ones, places, t, MPI_IN_PLACE, 1, t, 0, c));
        }
#else
        told(old, MPI_Exscan(own, MPI_IN_PLACE, 1, t, MPI_SUM, c));
#endif
        if (me == 0) {
            told(old, MPI_Gather(own, 1, t, MPI_IN_PLACE, 1, t, 0, c));
            told(old, MPI_Scatter(MPI_IN_PLACE, 1, t, into, 1, t, 0, c));
            told(old, MPI_Reduce(own, MPI_IN_PLACE, 1, t, MPI_SUM, 0, c));
        }
        int misplaced = calls;
        MPI_Datatype types[] = {pair, gaps};
        for (int i = 0; i < 2; i++) {
            told(old, MPI_Bcast(own, 1, types[i], 0, c));
            told(old, MPI_Gather(own, 1, types[i], into, 1, types[i], 0, c));
            told(old, MPI_Allgather(own, 1, types[i], into, 1, types[i], c));
            told(old, MPI_Alltoall(own, 1, types[i], into, 1, types[i], c));
        }
        for (int i = misplaced - 1; i < calls; i++) failures += codes[old][i] == MPI_SUCCESS;
        MPI_Datatype integers[] = {MPI_INTEGER, MPI_AINT, MPI_COUNT, MPI_LOGICAL, MPI_C_BOOL, MPI_BYTE, MPI_CHAR};
        MPI_Op ops[] = {MPI_LAND, MPI_LXOR, MPI_BOR, MPI_SUM};
        for (int i = 0; i < 7; i++) {
            for (int j = 0; j < 4; j++) told(old, MPI_Allreduce(own, into, 1, integers[i], ops[j], c));
            /* Those that were taken have made it older. */
            if (!old) MPI_Comm_free(&c), MPI_Comm_dup(MPI_COMM_WORLD, &c), MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        }
        MPI_Comm_free(&c);
    }
    for (int i = 0; i < calls; i++) {
        if (codes[0][i] == codes[1][i]) continue;
        fprintf(stderr, "rank %d: call %d is of error class %d, and %d on an old communicator\n", me, i, codes[0][i], codes[1][i]);
        failures++;
    }
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && total == 0) printf("all right\n");
    MPI_Type_free(&pair), MPI_Type_free(&gaps);
    MPI_Finalize();
    return total != 0;
}
