/* Calls that the library refuses are refused, by the error handler of their communicator, and those after them work. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int me, failures, handled;

static void expect(int code, int class, const char *what) {
    int found = 0;
    if (code) MPI_Error_class(code, &found);
    if (found == class) return;
    fprintf(stderr, "rank %d: %s: error class %d, not %d\n", me, what, found, class);
    failures++;
}

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int all, one = 1, sum = 0;
    MPI_Comm comm;
    MPI_Errhandler own;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
#ifdef MPICH
    /* A handle that was freed is refused by this library, and is nobody else's communicator, although it is the first that is met. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm freed = comm;
    MPI_Comm_free(&comm);
    expect(MPI_Barrier(freed), MPI_ERR_COMM, "a communicator that was freed");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#endif
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5; i++) {
        expect(MPI_Bcast(&one, 1, MPI_INT, all, comm), MPI_ERR_ROOT, "a root outside of the group");
        expect(MPI_Bcast(&one, -1, MPI_INT, 0, comm), MPI_ERR_COUNT, "a number below 0");
        expect(MPI_Bcast(&one, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE, "no type");
        expect(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "no operator");
        expect(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, "a sum");
        if (sum != all) failures++;
    }
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
    MPI_Bcast(&one, 1, MPI_INT, all + 5, comm);
    if (handled != 1) fprintf(stderr, "the handler was called %d times\n", handled), failures++;
    MPI_Errhandler_free(&own);

    /* Ranks that disagree about a length hear of it, or none of them notices, as under the library. */
    MPI_Comm wrong;
    MPI_Comm_dup(MPI_COMM_WORLD, &wrong);
    MPI_Comm_set_errhandler(wrong, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) MPI_Barrier(wrong);
    int many[64] = {0};
    int code = MPI_Bcast(many, me == 0 ? 64 : 2, MPI_INT, 0, wrong);
    if (me) expect(code, MPI_ERR_TRUNCATE, "a broadcast that is longer than expected");

    /* Calls of one rank that the library refuses are none of the communicator's, however young that is. */
    for (int before = 0; before < 4; before++) {
        MPI_Comm young;
        MPI_Comm_dup(MPI_COMM_WORLD, &young);
        MPI_Comm_set_errhandler(young, MPI_ERRORS_RETURN);
        for (int i = 0; i < before; i++) MPI_Barrier(young);
        for (int i = 0; i < 5; i++) {
            if (me == i % all) {
                expect(MPI_Bcast(&one, -1, MPI_INT, 0, young), MPI_ERR_COUNT, "a number below 0 on one rank");
                expect(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, young), MPI_ERR_OP, "no operator on one rank");
            }
            expect(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, young), MPI_SUCCESS, "a sum after them");
            if (sum != all) failures++;
        }
        MPI_Comm_free(&young);
    }

    /* What lies where it is received is refused by those libraries that look, and by them alone, on old communicators as on young ones. */
    MPI_Comm same[2];
    int codes[2][9], *mine = malloc(all * sizeof(int)), *ones = malloc(all * sizeof(int)),
        *places = malloc(all * sizeof(int));
    for (int i = 0; i < all; i++) ones[i] = 1, places[i] = i, mine[i] = i;
    for (int old = 0; old < 2; old++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &same[old]);
        MPI_Comm_set_errhandler(same[old], MPI_ERRORS_RETURN);
        for (int i = 0; i < 6 * old; i++) MPI_Barrier(same[old]);
        int *code = codes[old], *own = mine + me;
        MPI_Comm c = same[old];
        MPI_Datatype t = MPI_INT;
        code[0] = MPI_Allreduce(mine, mine, 1, t, MPI_SUM, c);
        code[1] = MPI_Allgather(own, 1, t, mine, 1, t, c);
        code[2] = MPI_Alltoall(mine, 1, t, mine, 1, t, c);
        code[3] = MPI_Scan(mine, mine, 1, t, MPI_SUM, c);
        code[4] = MPI_Exscan(mine, mine, 1, t, MPI_SUM, c);
        code[5] = MPI_Reduce_scatter_block(mine, mine, 1, t, MPI_SUM, c);
        code[6] = MPI_Reduce_scatter(mine, mine, ones, t, MPI_SUM, c);
        code[7] = MPI_Allgatherv(own, 1, t, mine, ones, places, t, c);
        code[8] = MPI_Alltoallv(mine, ones, places, t, mine, ones, places, t, c);
        for (int i = 0; i < 9; i++) code[i] = code[i] != MPI_SUCCESS;
    }
    for (int i = 0; i < 9; i++) {
        if (codes[0][i] != codes[1][i]) fprintf(stderr, "rank %d: call %d is refused on one of two communicators\n", me, i), failures++;
    }
    /* Where only the root notices it makes the call again. */
    for (int i = 0; i < 2; i++) {
        MPI_Comm c = same[i];
        for (int round = 0; round < 3; round++) {
            int *own = me == 0 ? mine : mine + me;
            if (MPI_Gather(own, 1, MPI_INT, mine, 1, MPI_INT, 0, c)) MPI_Gather(&one, 1, MPI_INT, mine, 1, MPI_INT, 0, c);
            if (MPI_Scatter(mine, 1, MPI_INT, own, 1, MPI_INT, 0, c)) MPI_Scatter(mine, 1, MPI_INT, &sum, 1, MPI_INT, 0, c);
            if (MPI_Gatherv(own, 1, MPI_INT, mine, ones, places, MPI_INT, 0, c))
                MPI_Gatherv(&one, 1, MPI_INT, mine, ones, places, MPI_INT, 0, c);
            if (MPI_Scatterv(mine, ones, places, MPI_INT, own, 1, MPI_INT, 0, c))
                MPI_Scatterv(mine, ones, places, MPI_INT, &sum, 1, MPI_INT, 0, c);
            if (MPI_Reduce(&one, me == 0 ? &one : NULL, 1, MPI_INT, MPI_MAX, 0, c))
                MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_MAX, 0, c);
        }
    }

    int total;
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && total == 0) printf("all right\n");
    MPI_Finalize();
    return total != 0;
}
