/* Random collectives, each with the result that the standard says, on several communicators, types and operators.
   Arguments: seed, rounds, and 1 for calls that MPICH 4.0 fails in by itself: a reduction whose result is NULL on ranks other
   than the root, and displacements below 0. All ranks draw the same numbers. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static unsigned draw(unsigned below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % below);
}

static int me, all, odd;
static const char *doing;
static void check(int good, int at) {
    if (!good) {
        fprintf(stderr, "rank %d: %s is wrong at %d\n", me, doing, at);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* What a rank gives at a place. */
static int given(int rank, int at, int round) { return (rank * 7919 + at * 31 + round * 104729) % 1000 - 300; }

/* Elements with gaps, and their dense form. */
typedef struct { int a; int gap; int b; } gapped;
static MPI_Datatype three, strided;

/* It does not commute but is associative: the product of matrices of 2 x 2, of numbers up to 2^32. */
typedef struct { unsigned m[4]; } matrix;
static void multiply(void *in, void *inout, int *n, MPI_Datatype *type) {
    matrix *a = in, *b = inout;
    for (int i = 0; i < *n; i++) {
        matrix c = {{a[i].m[0] * b[i].m[0] + a[i].m[1] * b[i].m[2], a[i].m[0] * b[i].m[1] + a[i].m[1] * b[i].m[3],
                     a[i].m[2] * b[i].m[0] + a[i].m[3] * b[i].m[2], a[i].m[2] * b[i].m[1] + a[i].m[3] * b[i].m[3]}};
        b[i] = c;
    }
    (void)type;
}
static matrix given_matrix(int rank, int at) {
    /* No two ranks' commute. */
    matrix m = {{rank + 1, at + 2, 3 * rank + 1, rank * rank + at}};
    return m;
}

enum { MOST = 3000 };
static int lengths[] = {0, 1, 2, 13, 100, 1024, MOST};
static int *in, *out, *expected;

static void fill(int rank, int n, int round) {
    for (int i = 0; i < n; i++) in[i] = given(rank, i, round);
}

static void reductions(MPI_Comm comm, int rank, int size, int n, int round) {
    int root = draw(size), in_place = draw(2), which = draw(3);
    MPI_Op op = which == 0 ? MPI_SUM : which == 1 ? MPI_MIN : MPI_MAX;
    for (int upto = 0; upto < size; upto++)
        for (int i = 0; i < n; i++) {
            int v = given(upto, i, round), *e = &expected[upto * n + i];
            int before = upto ? expected[(upto - 1) * n + i] : v;
            *e = !upto ? v : which == 0 ? before + v : which == 1 ? (v < before ? v : before) : (v > before ? v : before);
        }
    int *total = &expected[(size - 1) * n];
    fill(rank, n, round);
    memcpy(out, in, n * sizeof(int));
    const void *from = in_place ? MPI_IN_PLACE : in;
    doing = "allreduce";
    MPI_Allreduce(from, out, n, MPI_INT, op, comm);
    for (int i = 0; i < n; i++) check(out[i] == total[i], i);
    doing = "reduce";
    memcpy(out, in, n * sizeof(int));
    MPI_Reduce(rank == root && in_place ? MPI_IN_PLACE : in, rank == root || !odd ? out : NULL, n, MPI_INT, op, root, comm);
    if (rank == root)
        for (int i = 0; i < n; i++) check(out[i] == total[i], i);
    for (int i = 0; i < n; i++) check(in[i] == given(rank, i, round), i);
    doing = "scan";
    memcpy(out, in, n * sizeof(int));
    MPI_Scan(from, out, n, MPI_INT, op, comm);
    for (int i = 0; i < n; i++) check(out[i] == expected[rank * n + i], i);
    doing = "exscan";
    memcpy(out, in, n * sizeof(int));
    MPI_Exscan(from, out, n, MPI_INT, op, comm);
    if (rank)
        for (int i = 0; i < n; i++) check(out[i] == expected[(rank - 1) * n + i], i);
    doing = "reduce_scatter_block";
    int block = n / size;
    memcpy(out, in, n * sizeof(int));
    MPI_Reduce_scatter_block(from, out, block, MPI_INT, op, comm);
    for (int i = 0; i < block; i++) check(out[i] == total[rank * block + i], i);
    doing = "reduce_scatter";
    int counts[64], left = n, begin = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r == size - 1 ? left : (int)draw(left + 1);
        left -= counts[r];
        if (r < rank) begin += counts[r];
    }
    memcpy(out, in, n * sizeof(int));
    MPI_Reduce_scatter(from, out, counts, MPI_INT, op, comm);
    for (int i = 0; i < counts[rank]; i++) check(out[i] == total[begin + i], i);
}

static void others(MPI_Comm comm, int rank, int size, int n, MPI_Datatype own, MPI_Op product, int round) {
    doing = "an operator of the program's own";
    if (n > 100) n = 100;
    matrix *m = malloc((n + 1) * sizeof(matrix)), *r = malloc((n + 1) * sizeof(matrix)), *e = malloc((n + 1) * sizeof(matrix));
    for (int i = 0; i < n; i++) {
        m[i] = given_matrix(rank, i);
        e[i] = given_matrix(size - 1, i);
        for (int other = size - 2; other >= 0; other--) {
            matrix left = given_matrix(other, i);
            int one = 1;
            multiply(&left, &e[i], &one, NULL);
        }
    }
    MPI_Allreduce(m, r, n, own, product, comm);
    check(!memcmp(r, e, n * sizeof(matrix)), 0);
    int root = draw(size);
    MPI_Reduce(m, r, n, own, product, root, comm);
    if (rank == root) check(!memcmp(r, e, n * sizeof(matrix)), 1);
    MPI_Scan(m, r, n, own, product, comm);
    if (rank == size - 1) check(!memcmp(r, e, n * sizeof(matrix)), 2);
    free(m), free(r), free(e);

    doing = "minloc";
    struct { double value; int place; } one = {given(rank, 5, round), rank}, least;
    MPI_Allreduce(&one, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    int at = 0;
    for (int r = 1; r < size; r++)
        if (given(r, 5, round) < given(at, 5, round)) at = r;
    check(least.place == at && least.value == given(at, 5, round), 0);

    doing = "logical and";
    int truth = given(rank, 1, round) > -200, truths = 1, found;
    for (int r = 0; r < size; r++) truths &= given(r, 1, round) > -200;
    MPI_Allreduce(&truth, &found, 1, MPI_INT, MPI_LAND, comm);
    check(found == truths, 0);

    doing = "sum of doubles that are not aligned";
    char bytes[64], result[64];
    double value = rank + 0.5, sum;
    memcpy(bytes + 3, &value, sizeof value);
    MPI_Allreduce(bytes + 3, result + 5, 1, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(&sum, result + 5, sizeof sum);
    check(sum == size * (size - 1) / 2 + 0.5 * size, 0);
}

static void moves(MPI_Comm comm, int rank, int size, int n, int round) {
    int root = draw(size), in_place = draw(2);
    doing = "broadcast";
    fill(rank == root ? root : 77, n, round);
    MPI_Bcast(in, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++) check(in[i] == given(root, i, round), i);

    doing = "broadcast with a type on the root that others do not have";
    int many = n / 3;
    fill(rank == root ? root : 77, 3 * many, round);
    if (rank == root) MPI_Bcast(in, many, three, root, comm);
    else MPI_Bcast(in, 3 * many, MPI_INT, root, comm);
    for (int i = 0; i < 3 * many; i++) check(in[i] == given(root, i, round), i);

    doing = "broadcast of elements with gaps";
    gapped *g = malloc((n + 1) * sizeof(gapped));
    for (int i = 0; i < n; i++) {
        g[i].a = rank == root ? given(root, 2 * i, round) : 1;
        g[i].b = rank == root ? given(root, 2 * i + 1, round) : 1;
        g[i].gap = rank;
    }
    if (draw(2) && rank == root) {
        int *dense = malloc((2 * n + 1) * sizeof(int));
        for (int i = 0; i < 2 * n; i++) dense[i] = given(root, i, round);
        MPI_Bcast(dense, 2 * n, MPI_INT, root, comm);
        free(dense);
    } else MPI_Bcast(g, n, strided, root, comm);
    for (int i = 0; i < n; i++) {
        check(g[i].a == given(root, 2 * i, round) && g[i].b == given(root, 2 * i + 1, round), i);
        check(g[i].gap == rank, i);
    }

    int part = n / size;
    doing = "allgather";
    fill(rank, part, round);
    if (in_place) memcpy(out + rank * part, in, part * sizeof(int));
    MPI_Allgather(in_place ? MPI_IN_PLACE : in, part, MPI_INT, out, part, MPI_INT, comm);
    for (int i = 0; i < part * size; i++) check(out[i] == given(i / (part ? part : 1), i % (part ? part : 1), round), i);

    doing = "gather";
    memset(out, 0, n * sizeof(int));
    if (in_place && rank == root) memcpy(out + rank * part, in, part * sizeof(int));
    MPI_Gather(in_place && rank == root ? MPI_IN_PLACE : in, part, MPI_INT, out, part, MPI_INT, root, comm);
    if (rank == root)
        for (int i = 0; i < part * size; i++) check(out[i] == given(i / part, i % part, round), i);

    doing = "gather of elements with gaps";
    int few = part / 2;
    memset(g, 1, (n + 1) * sizeof(gapped));
    MPI_Gather(in, 2 * few, MPI_INT, g, few, strided, root, comm);
    if (rank == root)
        for (int i = 0; i < few * size; i++) {
            check(g[i].a == given(i / few, i % few * 2, round) && g[i].b == given(i / few, i % few * 2 + 1, round), i);
            check(g[i].gap == 0x01010101, i);
        }
    free(g);

    doing = "scatter";
    fill(root, n, round);
    int *to = in_place && rank == root ? MPI_IN_PLACE : out;
    MPI_Scatter(in, part, MPI_INT, to, part, MPI_INT, root, comm);
    if (to == out)
        for (int i = 0; i < part; i++) check(out[i] == given(root, rank * part + i, round), i);

    doing = "alltoall";
    fill(rank, n, round);
    memcpy(out, in, n * sizeof(int));
    MPI_Alltoall(in_place ? MPI_IN_PLACE : in, part, MPI_INT, out, part, MPI_INT, comm);
    for (int i = 0; i < part * size; i++) check(out[i] == given(i / part, rank * part + i % part, round), i);
}

/* Part r of rank s has this many elements. */
static int length(int from, int to, int n, int round) { return n ? (from * 5 + to * 3 + round) % (n + 1) : 0; }

static void parts(MPI_Comm comm, int rank, int size, int n, int round) {
    int root = draw(size), in_place = draw(2);
    int counts[64], places[64], backwards[64], end = 0;
    if (n > 200) n = 200;
    for (int r = size - 1; r >= 0; r--) { /* The last rank's part lies first, with gaps. */
        counts[r] = length(r, 0, n, round);
        places[r] = end;
        end += counts[r] + 2;
    }
    fill(rank, n, round);
    doing = "gatherv";
    for (int i = 0; i < end; i++) out[i] = -7777;
    int here = in_place && rank == root;
    if (here) memcpy(out + places[rank], in, counts[rank] * sizeof(int));
    MPI_Gatherv(here ? MPI_IN_PLACE : in, counts[rank], MPI_INT, out, counts, places, MPI_INT, root, comm);
    if (rank == root)
        for (int r = 0; r < size; r++) {
            for (int i = 0; i < counts[r]; i++) check(out[places[r] + i] == given(r, i, round), i);
            check(out[places[r] + counts[r]] == -7777, r);
        }
    doing = "allgatherv";
    for (int i = 0; i < end; i++) out[i] = -7777;
    if (in_place) memcpy(out + places[rank], in, counts[rank] * sizeof(int));
    /* Displacements below 0 count from the middle of the buffer. */
    int middle = odd && size > 1 ? end / 2 : 0; /* Alone, it is the library's call. */
    for (int r = 0; r < size; r++) backwards[r] = places[r] - middle;
    MPI_Allgatherv(in_place ? MPI_IN_PLACE : in, counts[rank], MPI_INT, out + middle, counts, backwards, MPI_INT, comm);
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++) check(out[places[r] + i] == given(r, i, round), i);
        check(out[places[r] + counts[r]] == -7777, r);
    }
    doing = "scatterv";
    for (int i = 0; i < end; i++) in[i] = given(root, i, round);
    MPI_Scatterv(in, counts, places, MPI_INT, out, counts[rank], MPI_INT, root, comm);
    for (int i = 0; i < counts[rank]; i++) check(out[i] == given(root, places[rank] + i, round), i);

    doing = "alltoallv";
    int sent[64], from[64], taken[64], to[64], given_end = 0, taken_end = 0;
    for (int r = 0; r < size; r++) {
        sent[r] = length(rank, r, n / 4, round);
        from[r] = given_end, given_end += sent[r] + 1;
        taken[r] = length(r, rank, n / 4, round);
        to[r] = taken_end, taken_end += taken[r] + 1;
    }
    for (int r = 0; r < size; r++)
        for (int i = 0; i < sent[r]; i++) in[from[r] + i] = given(rank * 64 + r, i, round);
    MPI_Alltoallv(in, sent, from, MPI_INT, out, taken, to, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < taken[r]; i++) check(out[to[r] + i] == given(r * 64 + rank, i, round), i);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    state = 88172645463325252ULL + strtoull(argc > 1 ? argv[1] : "1", NULL, 10) * 1000003;
    int rounds = argc > 2 ? atoi(argv[2]) : 20;
    odd = argc > 3 && atoi(argv[3]);
    /* Some ranks have memory of MPI's, for one or both. */
    int bytes = sizeof(int) * (MOST + 1000) * 4, kind = (me + (int)(state % 3)) % 3;
    if (kind < 1) in = malloc(bytes);
    else MPI_Alloc_mem(bytes, MPI_INFO_NULL, &in);
    if (kind < 2) out = malloc(bytes);
    else MPI_Alloc_mem(bytes, MPI_INFO_NULL, &out);
    expected = malloc(sizeof(int) * (MOST + 1) * all);

    MPI_Datatype own;
    MPI_Op product;
    MPI_Type_contiguous(4, MPI_UNSIGNED, &own);
    MPI_Type_commit(&own);
    MPI_Op_create(multiply, 0, &product);
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    MPI_Datatype vector;
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, sizeof(gapped), &strided);
    MPI_Type_commit(&strided);

    MPI_Comm comms[5];
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comms[3]);
    int dims[2] = {0, 0}, periods[2] = {1, 0};
    MPI_Dims_create(all, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comms[4]);

    /* The first collectives are the library's. */
    for (int c = 0; c < 5; c++)
        for (int i = 0; i < 3; i++) MPI_Barrier(comms[c]);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm = comms[draw(5)];
        int rank, size;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        int n = lengths[draw(sizeof lengths / sizeof *lengths)];
        uint64_t kept = state;
        switch (draw(5)) {
        case 0: reductions(comm, rank, size, n, round); break;
        case 1: moves(comm, rank, size, n, round); break;
        case 2: parts(comm, rank, size, n, round); break;
        case 3: others(comm, rank, size, n, own, product, round); break;
        default: doing = "barrier", MPI_Barrier(comm);
        }
        /* Groups of different sizes have drawn differently. */
        state = kept ^ (round + 1) * 0x9E3779B97F4A7C15ULL;
        if (!state) state = 1;
    }
    for (int c = 1; c < 5; c++) MPI_Comm_free(&comms[c]);
    if (kind > 0) MPI_Free_mem(in);
    if (kind > 1) MPI_Free_mem(out);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
