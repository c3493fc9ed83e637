/* Calls that the library refuses are refused, by the error handler of their communicator, and those after them work. */
#include <mpi.h>
#include <stdio.h>

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

    int total;
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && total == 0) printf("all right\n");
    MPI_Finalize();
    return total != 0;
}
