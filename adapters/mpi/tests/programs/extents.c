/* Elements that lie backwards in memory, or all in one place: types whose extent is below 0, or 0. */
#include <mpi.h>
#include <stdio.h>

static int me, all;
static const char *doing;
static void check(int found, int right) {
    if (found != right) {
        fprintf(stderr, "rank %d: %s gave %d instead of %d\n", me, doing, found, right);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Datatype back, same;
    MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint)sizeof(int), &back);
    MPI_Type_commit(&back);
    MPI_Type_create_resized(MPI_INT, 0, 0, &same);
    MPI_Type_commit(&same);
    /* The first collectives are the library's. */
    for (int i = 0; i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);

    enum { MOST = 32 };
    int line[2 * MOST], counts[MOST], places[MOST];
    int *end = line + 2 * MOST - 1; /* Elements lie before it. */
    for (int r = 0; r < all; r++) counts[r] = 2, places[r] = 2 * r;
    for (int round = 0; round < 10; round++) {
        int own[2] = {100 * me + round, 100 * me + round + 50}, got[2];

        doing = "gatherv";
        MPI_Gatherv(own, 2, MPI_INT, end, counts, places, back, 0, MPI_COMM_WORLD);
        for (int r = 0; me == 0 && r < all; r++)
            for (int i = 0; i < 2; i++) check(end[-(2 * r + i)], 100 * r + round + 50 * i);

        doing = "allgather in place";
        for (int i = 0; i < 2 * MOST; i++) line[i] = -1;
        for (int i = 0; i < 2; i++) end[-(2 * me + i)] = own[i];
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, end, 2, back, MPI_COMM_WORLD);
        for (int r = 0; r < all; r++)
            for (int i = 0; i < 2; i++) check(end[-(2 * r + i)], 100 * r + round + 50 * i);

        doing = "scatterv";
        for (int i = 0; i < 2 * MOST; i++) end[-i] = 1000 * round + i;
        MPI_Scatterv(end, counts, places, back, got, 2, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; i < 2; i++) check(got[i], 1000 * round + 2 * me + i);

        doing = "alltoall";
        int each[MOST];
        MPI_Alltoall(end, 1, back, each, 1, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < all; r++) check(each[r], 1000 * round + me);

        doing = "scatter of one place";
        MPI_Scatter(own, 1, same, got, 1, MPI_INT, all - 1, MPI_COMM_WORLD);
        check(got[0], 100 * (all - 1) + round);
    }
    MPI_Type_free(&back);
    MPI_Type_free(&same);
    MPI_Finalize();
    if (me == 0) puts("all right");
    return 0;
}
