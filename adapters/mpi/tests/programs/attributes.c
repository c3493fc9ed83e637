/* What programs attach to communicators: callbacks that call collectives while their communicator is freed, and one on MPI_COMM_SELF
   that is copied with it. */
#include <mpi.h>
#include <stdio.h>

static int all, calls, ends;

static void sums(MPI_Comm comm, int times) {
    int rank, size, sum = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < times; i++) {
        int own = rank + i;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != size * (size - 1) / 2 + size * i) {
            fprintf(stderr, "rank %d of %d: a sum is %d\n", rank, size, sum);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
}

static int call(MPI_Comm comm, int key, void *value, void *more) {
    (void)key, (void)value, (void)more;
    calls++;
    sums(comm, 5);
    return MPI_SUCCESS;
}

static int at_end(MPI_Comm comm, int key, void *value, void *more) {
    (void)comm, (void)key, (void)value, (void)more;
    if (++ends == 1) return MPI_SUCCESS;
    fprintf(stderr, "what is attached to MPI_COMM_SELF was copied, and deleted %d times\n", ends);
    MPI_Abort(MPI_COMM_WORLD, 4);
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, key, last;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, at_end, &last, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, last, &all);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call, &key, NULL);
    for (int i = 0; i < 60; i++) {
        MPI_Comm comm;
        /* The next one has the same handle, and other members in another order. */
        switch (i % 3) {
        case 0: MPI_Comm_dup(MPI_COMM_WORLD, &comm); break;
        case 1: MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm); break;
        default: MPI_Comm_split(MPI_COMM_WORLD, me == 0, me, &comm);
        }
        if (i / 3 % 2) MPI_Comm_set_attr(comm, key, NULL);
        sums(comm, i / 6);
        if (i / 3 % 2 == 0) MPI_Comm_set_attr(comm, key, NULL);
        if (i % 2) MPI_Comm_free(&comm);
        else MPI_Comm_disconnect(&comm);
    }
    if (calls != 60) MPI_Abort(MPI_COMM_WORLD, 5);
    sums(MPI_COMM_WORLD, 5);
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
