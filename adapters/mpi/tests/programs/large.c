/* Functions for large counts that the loader finds, whether the library has them or not: what they do where the library does it,
 * before there is a team and on communicators that get none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long long number;
typedef int move(const void *, number, MPI_Datatype, void *, number, MPI_Datatype, MPI_Comm);
typedef int rooted(const void *, number, MPI_Datatype, void *, number, MPI_Datatype, int, MPI_Comm);
typedef int combined(const void *, void *, number, MPI_Datatype, MPI_Op, MPI_Comm);

#define find(type, name) type *name = (type *)dlsym(RTLD_DEFAULT, "MPI_" #name "_c"); if (!name) MPI_Abort(MPI_COMM_WORLD, 9)
#define right(condition) ((condition) ? 0 : (fprintf(stderr, "line %d, size %d\n", __LINE__, all), MPI_Abort(MPI_COMM_WORLD, 3)))

/* Of no meaning where a rank is not the root, or gives in place. */
#define ANY (number)0x123456789abcdef
#define NOWHERE (void *)8

static void try_all(MPI_Comm comm) {
    typedef int bcast(void *, number, MPI_Datatype, int, MPI_Comm);
    typedef int reduce(const void *, void *, number, MPI_Datatype, MPI_Op, int, MPI_Comm);
    typedef int gatherv(const void *, number, MPI_Datatype, void *, const number *, const MPI_Aint *, MPI_Datatype, int, MPI_Comm);
    typedef int scatterv(const void *, const number *, const MPI_Aint *, MPI_Datatype, void *, number, MPI_Datatype, int, MPI_Comm);
    typedef int allgatherv(const void *, number, MPI_Datatype, void *, const number *, const MPI_Aint *, MPI_Datatype, MPI_Comm);
    typedef int alltoallv(const void *, const number *, const MPI_Aint *, MPI_Datatype, void *, const number *, const MPI_Aint *, MPI_Datatype, MPI_Comm);
    typedef int reduce_scatter(const void *, void *, const number *, MPI_Datatype, MPI_Op, MPI_Comm);
    find(bcast, Bcast);
    find(rooted, Gather);
    find(rooted, Scatter);
    find(move, Allgather);
    find(move, Alltoall);
    find(gatherv, Gatherv);
    find(scatterv, Scatterv);
    find(allgatherv, Allgatherv);
    find(alltoallv, Alltoallv);
    find(reduce, Reduce);
    find(combined, Allreduce);
    find(combined, Scan);
    find(combined, Exscan);
    find(combined, Reduce_scatter_block);
    find(reduce_scatter, Reduce_scatter);
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    int root = all - 1, is_root = me == root, sum = all * (all - 1) / 2, one, many[64];
    number counts[64];
    MPI_Aint places[64];
    for (int r = 0; r < all; r++) counts[r] = 1, places[r] = all - 1 - r;

    one = is_root ? 5 : 0;
    Bcast(&one, 1, MPI_INT, root, comm);
    right(one == 5);
    if (is_root) many[me] = me, Gather(MPI_IN_PLACE, ANY, MPI_INT, many, 1, MPI_INT, root, comm);
    else Gather(&me, 1, MPI_INT, NOWHERE, ANY, MPI_INT, root, comm);
    for (int r = 0; is_root && r < all; r++) right(many[r] == r);
    if (is_root) Scatter(many, 1, MPI_INT, MPI_IN_PLACE, ANY, MPI_INT, root, comm);
    else Scatter(NOWHERE, ANY, MPI_INT, &one, 1, MPI_INT, root, comm), right(one == me);
    Allgather(&me, 1, MPI_INT, many, 1, MPI_INT, comm);
    for (int r = 0; r < all; r++) right(many[r] == r);
    for (int r = 0; r < all; r++) many[r] = me;
    Alltoall(MPI_IN_PLACE, ANY, MPI_INT, many, 1, MPI_INT, comm);
    for (int r = 0; r < all; r++) right(many[r] == r);
    if (is_root) Gatherv(&me, 1, MPI_INT, many, counts, places, MPI_INT, root, comm);
    else Gatherv(&me, 1, MPI_INT, NOWHERE, NOWHERE, NOWHERE, MPI_INT, root, comm);
    for (int r = 0; is_root && r < all; r++) right(many[r] == all - 1 - r);
    if (is_root) Scatterv(many, counts, places, MPI_INT, &one, 1, MPI_INT, root, comm);
    else Scatterv(NOWHERE, NOWHERE, NOWHERE, MPI_INT, &one, 1, MPI_INT, root, comm);
    right(one == me);
    Allgatherv(&me, 1, MPI_INT, many, counts, places, MPI_INT, comm);
    for (int r = 0; r < all; r++) right(many[r] == all - 1 - r);
    for (int r = 0; r < all; r++) many[r] = me;
    Alltoallv(MPI_IN_PLACE, NOWHERE, NOWHERE, MPI_INT, many, counts, places, MPI_INT, comm);
    for (int r = 0; r < all; r++) right(many[r] == all - 1 - r);
    Reduce(&me, is_root ? &one : NULL, 1, MPI_INT, MPI_SUM, root, comm);
    right(!is_root || one == sum);
    Allreduce(&me, &one, 1, MPI_INT, MPI_SUM, comm);
    right(one == sum);
    Scan(&me, &one, 1, MPI_INT, MPI_SUM, comm);
    right(one == me * (me + 1) / 2);
    Exscan(&me, &one, 1, MPI_INT, MPI_SUM, comm);
    right(me == 0 || one == me * (me - 1) / 2);
    for (int r = 0; r < all; r++) many[r] = r;
    Reduce_scatter_block(many, &one, 1, MPI_INT, MPI_SUM, comm);
    right(one == all * me);
    Reduce_scatter(many, &one, counts, MPI_INT, MPI_SUM, comm);
    right(one == all * me);
}

int main(int argc, char **argv) {
    int all, code, class;
    MPI_Comm fresh;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    try_all(MPI_COMM_SELF);
    for (int round = 0; round < 3; round++) try_all(MPI_COMM_WORLD);
    /* What a library without them cannot do is an error of the communicator's. */
    find(combined, Allreduce);
    MPI_Comm_dup(MPI_COMM_SELF, &fresh);
    MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN);
    if (MPI_VERSION < 4) {
        code = Allreduce(MPI_IN_PLACE, NOWHERE, ANY, MPI_INT, MPI_SUM, fresh);
        MPI_Error_class(code, &class);
        right(class == MPI_ERR_COUNT);
    }
    MPI_Comm_free(&fresh);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) puts("all right");
    MPI_Finalize();
    return 0;
}
