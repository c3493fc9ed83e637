/* Types of absolute addresses, whose buffer is MPI_BOTTOM, as MPI allows it in every collective and MPICH uses it to open files. The
 * argument is a file that may be made. With one more, all runs on teams, and a type that the library refuses to unpack is refused:
 * Open MPI's own collectives crash. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, ROUNDS = 6 };
static int me, all;
static void check(int right, const char *doing) {
    if (right) return;
    fprintf(stderr, "rank %d: %s is wrong\n", me, doing);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* `count` integers each of one block and, after a gap, of another one. */
static MPI_Datatype absolute(int *data, int count) {
    int lengths[2] = {1, count - 1};
    MPI_Aint places[2];
    MPI_Datatype made;
    MPI_Get_address(data, &places[0]);
    MPI_Get_address(data + 2, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &made);
    MPI_Type_commit(&made);
    return made;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    /* The first collectives are the library's. */
    for (int i = 0; i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);

    /* Three integers with a gap after the first one, and as many for each rank. */
    int own[4], each[3 * MOST + 1], dense[3 * MOST], counts[MOST], places[MOST];
    MPI_Datatype one = absolute(own, 3), many = absolute(each, 3 * all);
    for (int r = 0; r < all; r++) counts[r] = 3, places[r] = 3 * r;
    for (int round = 0; round < ROUNDS; round++) {
        int *first = each, *others = each + 2;
        for (int i = 0; i < 4; i++) own[i] = 100 * me + 10 * round + i;
        MPI_Allgather(MPI_BOTTOM, 1, one, dense, 3, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < 3 * all; i++)
            check(dense[i] == 100 * (i / 3) + 10 * round + i % 3 + (i % 3 > 0), "what an allgather sends");
        MPI_Gather(MPI_BOTTOM, 1, one, dense, 3, MPI_INT, all - 1, MPI_COMM_WORLD);
        MPI_Bcast(dense, 3 * all, MPI_INT, all - 1, MPI_COMM_WORLD);
        for (int i = 0; i < 3 * all; i++)
            check(dense[i] == 100 * (i / 3) + 10 * round + i % 3 + (i % 3 > 0), "what a gather sends");

        memset(each, -1, sizeof each);
        if (me == 0) {
            first[0] = 10 * round;
            for (int i = 1; i < 3 * all; i++) others[i - 1] = 10 * round + i;
        }
        MPI_Bcast(MPI_BOTTOM, 1, many, 0, MPI_COMM_WORLD);
        check(first[0] == 10 * round && each[1] == -1, "the first of a broadcast");
        for (int i = 1; i < 3 * all; i++) check(others[i - 1] == 10 * round + i, "a broadcast");

        for (int i = 0; i < 3 * all; i++) dense[i] = 1000 * me + i;
        memset(own, -1, sizeof own);
        MPI_Scatter(dense, 3, MPI_INT, MPI_BOTTOM, 1, one, 0, MPI_COMM_WORLD);
        check(own[0] == 3 * me && own[1] == -1 && own[2] == 3 * me + 1 && own[3] == 3 * me + 2, "a scatter");
        memset(own, -1, sizeof own);
        MPI_Scatterv(dense, counts, places, MPI_INT, MPI_BOTTOM, 1, one, 0, MPI_COMM_WORLD);
        check(own[0] == 3 * me && own[1] == -1 && own[2] == 3 * me + 1 && own[3] == 3 * me + 2, "a scatterv");
    }
    MPI_Type_free(&one);
    MPI_Type_free(&many);

    for (int round = 0; round < 3; round++) {
        MPI_File file;
        int value = me + round, found = -1;
        MPI_Status status;
        int code = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        check(code == MPI_SUCCESS, "opening a file");
        MPI_File_write_at_all(file, 4 * me, &value, 1, MPI_INT, &status);
        MPI_File_read_at_all(file, 4 * me, &found, 1, MPI_INT, &status);
        check(found == value, "a file");
        MPI_File_close(&file);
    }

    MPI_Comm returns;
    MPI_Datatype raw;
    MPI_Comm_dup(MPI_COMM_WORLD, &returns);
    MPI_Comm_set_errhandler(returns, MPI_ERRORS_RETURN);
    MPI_Type_vector(3, 1, 2, MPI_INT, &raw);
    for (int i = 0; i < 3; i++) MPI_Barrier(returns);
    for (int round = 0; round < ROUNDS && argc > 2; round++) {
        int spread[6 * MOST], class = 0;
        int code = MPI_Allgather(dense, 3, MPI_INT, spread, 1, raw, returns);
        if (code) MPI_Error_class(code, &class);
        check(class == MPI_ERR_TYPE, "a type that is not committed");
        check(MPI_Barrier(returns) == MPI_SUCCESS, "a barrier after that");
    }
    MPI_Type_free(&raw);
    MPI_Comm_free(&returns);
    MPI_Finalize();
    if (me == 0) puts("all right");
    return 0;
}
