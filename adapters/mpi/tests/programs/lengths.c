/* A rank that gives itself another number of elements than it takes hears of those that do not fit, the others have what they
   asked for, and all calls that follow work. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096
#define RANKS 8

static int me, all, failures;
static int given[RANKS * MOST], taken[2 * RANKS * MOST];

static int is_truncated(int code, int is_longer, const char *what, int length) {
    int class = MPI_SUCCESS;
    if (code) MPI_Error_class(code, &class);
    if (class == (is_longer ? MPI_ERR_TRUNCATE : MPI_SUCCESS)) return 1;
    fprintf(stderr, "rank %d: %s of %d: error class %d\n", me, what, length, class);
    failures++;
    return 0;
}

/* `stride` is that of the elements that are taken: 2 where they have gaps. */
static void expect(int at, int stride, int value, const char *what, int length) {
    if (taken[at * stride] == value) return;
    fprintf(stderr, "rank %d: %s of %d: element %d is %d, not %d\n", me, what, length, at, taken[at * stride], value);
    failures++;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm c;
    MPI_Datatype apart, t;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
    MPI_Type_commit(&apart);
    /* A young communicator's calls are the library's. */
    for (int i = 0; i < 4; i++) MPI_Barrier(c);
    static const int lengths[] = {1, 3, 64, MOST / 2};
    for (int number = 0; number < 4; number++)
        for (int kind = 0; kind < 4; kind++) {
            /* The odd rank gives itself more, or less, to dense elements or to such with gaps. */
            int is_more = kind % 2, stride = 1 + kind / 2, odd = (number + kind) % all, length = lengths[number];
            int other = is_more ? 2 * length : length / 2, both = is_more ? length : other;
            int sent = me == odd ? other : length, is_longer = me == odd && is_more;
            int given_parts[RANKS], parts[RANKS], from[RANKS], places[RANKS];
            t = stride == 1 ? MPI_INT : apart;
            for (int r = 0; r < all; r++) {
                given_parts[r] = r == me ? sent : length;
                from[r] = r * MOST;
                parts[r] = length;
                places[r] = r * length;
            }
            for (int i = 0; i < RANKS * MOST; i++) given[i] = 1000 * me + i;
#define CLEAR memset(taken, 0, sizeof taken)
#define EXPECT_PARTS(what, first) \
    for (int r = 0; r < all; r++) { \
        int full = r == odd ? both : length; \
        for (int i = 0; i < full; i++) expect(r * length + i, stride, 1000 * r + (first) + i, what, length); \
    }
            CLEAR;
            int code = MPI_Allgather(given, sent, MPI_INT, taken, length, t, c);
            if (is_truncated(code, is_longer, "allgather", length)) EXPECT_PARTS("allgather", 0);
            CLEAR;
            code = MPI_Allgatherv(given, sent, MPI_INT, taken, parts, places, t, c);
            if (is_truncated(code, is_longer, "allgatherv", length)) EXPECT_PARTS("allgatherv", 0);
            CLEAR;
            code = MPI_Gather(given, sent, MPI_INT, taken, length, t, odd, c);
            if (is_truncated(code, is_longer, "gather", length) && me == odd) EXPECT_PARTS("gather", 0);
            CLEAR;
            code = MPI_Gatherv(given, sent, MPI_INT, taken, parts, places, t, odd, c);
            if (is_truncated(code, is_longer, "gatherv", length) && me == odd) EXPECT_PARTS("gatherv", 0);
            CLEAR;
            code = MPI_Alltoallv(given, given_parts, from, MPI_INT, taken, parts, places, t, c);
            if (is_truncated(code, is_longer, "alltoallv", length))
                for (int r = 0; r < all; r++)
                    for (int i = 0; i < (r == me && r == odd ? both : length); i++)
                        expect(r * length + i, stride, 1000 * r + me * MOST + i, "alltoallv", length);
            CLEAR;
            /* The odd rank's parts lie side by side. */
            code = MPI_Alltoall(given, sent, MPI_INT, taken, length, t, c);
            if (is_truncated(code, is_longer, "alltoall", length))
                for (int r = 0; r < all; r++)
                    for (int i = 0; i < (r == odd ? both : length); i++)
                        expect(r * length + i, stride, 1000 * r + me * (r == odd ? other : length) + i, "alltoall", length);
            CLEAR;
            /* The odd rank takes another number than the root, which it is, gives. */
            code = MPI_Scatter(given, length, MPI_INT, taken, me == odd ? other : length, t, odd, c);
            if (is_truncated(code, me == odd && !is_more, "scatter", length))
                for (int i = 0; i < (me == odd ? both : length); i++)
                    expect(i, stride, 1000 * odd + me * length + i, "scatter", length);
            if (me == odd && is_more) expect(both, stride, 0, "scatter", length);
            CLEAR;
            code = MPI_Scatterv(given, parts, places, MPI_INT, taken, me == odd ? other : length, t, odd, c);
            if (is_truncated(code, me == odd && !is_more, "scatterv", length))
                for (int i = 0; i < (me == odd ? both : length); i++)
                    expect(i, stride, 1000 * odd + me * length + i, "scatterv", length);
            if (me == odd && is_more) expect(both, stride, 0, "scatterv", length);
            int one = 1, sum = 0;
            if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c) || sum != all) {
                fprintf(stderr, "rank %d: a sum of %d\n", me, sum);
                failures++;
            }
        }
    int total;
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && total == 0) printf("all right\n");
    MPI_Finalize();
    return total != 0;
}
