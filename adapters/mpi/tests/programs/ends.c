/* What is attached to MPI_COMM_SELF is deleted first in MPI_Finalize, and the functions that are told may call collectives (MPI 4.0,
 * 11.2.4). One rank attaches it before its first collective and the others after it, as with a library that one rank uses first. The
 * argument is the name by which MPI_Finalize is called. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int me, all, deleted;

static int on_deletion(MPI_Comm comm, int key, void *attribute, void *extra) {
    (void)comm, (void)key, (void)attribute, (void)extra;
    for (int round = 0; round < 5; round++) {
        int own = me + round, sum = -1;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (sum != all * (all - 1) / 2 + all * round) {
            fprintf(stderr, "rank %d: %d\n", me, sum);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    deleted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int key;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_deletion, &key, NULL);
    if (me == 0) MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    for (int i = 0; i < 10; i++) MPI_Barrier(MPI_COMM_WORLD);
    if (me != 0) MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    strcmp(argv[1], "PMPI") == 0 ? PMPI_Finalize() : MPI_Finalize();
    if (me == 0 && deleted == 1) puts("all right");
    return deleted != 1;
}
