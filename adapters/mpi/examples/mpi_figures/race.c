/* Races each collective against the library's own in the same processes: batches of calls by the usual names, which the
   adapter has taken if it was loaded, alternate with batches of the library's functions, which the loader finds in the
   library itself. Roots go round, so that no rank runs ahead for ever.
   Arguments: pairs of batches, microseconds of a batch, most bytes, operations or "all", fewest bytes.
   Prints: operation, bytes of a block, nanoseconds of a call by the usual name and by the library's own, median of the pairs'
   ratios, and their least and greatest. The time of a batch is that of the slowest rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, all;
static char *in, *out;
static int counts[1024], places[1024];

typedef struct {
    int (*barrier)(MPI_Comm);
    int (*broadcast)(void *, int, MPI_Datatype, int, MPI_Comm);
    int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*gather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
    int (*scatter)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
    int (*allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*reduce_scatter_block)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*scan)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*exscan)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*allgatherv)(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);
    int (*alltoallv)(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
                     MPI_Comm);
} functions;

static functions usual = {MPI_Barrier,   MPI_Bcast,    MPI_Reduce,   MPI_Allreduce, MPI_Gather,
                          MPI_Scatter,   MPI_Allgather, MPI_Alltoall, MPI_Reduce_scatter_block,
                          MPI_Scan,      MPI_Exscan,   MPI_Allgatherv, MPI_Alltoallv};
static functions own;

static const char *symbols[] = {"PMPI_Barrier",   "PMPI_Bcast",     "PMPI_Reduce",   "PMPI_Allreduce",
                                "PMPI_Gather",    "PMPI_Scatter",   "PMPI_Allgather", "PMPI_Alltoall",
                                "PMPI_Reduce_scatter_block", "PMPI_Scan", "PMPI_Exscan", "PMPI_Allgatherv", "PMPI_Alltoallv"};
static const char *names[] = {"barrier", "broadcast", "reduce", "allreduce", "gather", "scatter", "allgather",
                              "alltoall", "reduce_scatter", "scan", "exscan", "allgatherv", "alltoallv"};
enum { OPERATIONS = sizeof names / sizeof *names };

static void call(const functions *f, int operation, int bytes, int root) {
    int doubles = bytes / 8;
    MPI_Comm world = MPI_COMM_WORLD;
    switch (operation) {
    case 0: f->barrier(world); break;
    case 1: f->broadcast(in, bytes, MPI_CHAR, root, world); break;
    case 2: f->reduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, root, world); break;
    case 3: f->allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); break;
    case 4: f->gather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, root, world); break;
    case 5: f->scatter(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, root, world); break;
    case 6: f->allgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world); break;
    case 7: f->alltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world); break;
    case 8: f->reduce_scatter_block(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); break;
    case 9: f->scan(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); break;
    case 10: f->exscan(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); break;
    case 11: f->allgatherv(in, bytes, MPI_CHAR, out, counts, places, MPI_CHAR, world); break;
    default: f->alltoallv(in, counts, places, MPI_CHAR, out, counts, places, MPI_CHAR, world); break;
    }
}

static double batch(const functions *f, int operation, int bytes, int calls) {
    own.barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < calls; i++) call(f, operation, bytes, i % all);
    double took = (MPI_Wtime() - begin) / calls, most;
    own.allreduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most * 1e9;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int n) {
    qsort(values, n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Calls in a batch: four times as many until that takes at least twice as long, since the first calls wait for ranks that the
   barrier has let go late. */
static int many(const functions *f, int operation, int bytes, double batch_ns) {
    int calls = 8;
    double took = calls * batch(f, operation, bytes, calls);
    while (calls < 20000) {
        double next = 4 * calls * batch(f, operation, bytes, 4 * calls);
        if (next > 2 * took && next > batch_ns) break;
        calls *= 4, took = next;
    }
    return calls;
}

static void race(int operation, int bytes, int pairs, double batch_ns) {
    double usuals[100], owns[100], ratios[100];
    for (int i = 0; i < all; i++) counts[i] = bytes, places[i] = i * bytes;
    /* The adapter's own race of an operation at a length takes at most so many calls, of long data fewer. */
    int before = bytes < 4096 ? 800 : bytes < 262144 ? 300 : 60;
    for (int i = 0; i < before; i++) call(&usual, operation, bytes, i % all);
    for (int i = 0; i < before; i++) call(&own, operation, bytes, i % all);
    int calls = many(&usual, operation, bytes, batch_ns), owns_calls = many(&own, operation, bytes, batch_ns);
    for (int i = 0; i < pairs; i++) {
        usuals[i] = batch(&usual, operation, bytes, calls);
        owns[i] = batch(&own, operation, bytes, owns_calls);
        ratios[i] = usuals[i] / owns[i];
    }
    double ratio = median(ratios, pairs);
    if (me == 0) {
        printf("%s %d %.0f %.0f %.3f %.3f %.3f\n", names[operation], bytes, median(usuals, pairs), median(owns, pairs), ratio,
               ratios[0], ratios[pairs - 1]);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    int pairs = argc > 1 ? atoi(argv[1]) : 9;
    double batch_ns = (argc > 2 ? atof(argv[2]) : 2000) * 1000;
    long most = argc > 3 ? atol(argv[3]) : 1 << 20;
    const char *asked = argc > 4 ? argv[4] : "all";
    long least = argc > 5 ? atol(argv[5]) : 8;
    if (pairs < 1 || pairs > 100 || all > 1024 || least < 8 || most < least || most > INT_MAX / all) return 2;
    Dl_info found;
    void *library = NULL;
    /* Not among those that the adapter takes. */
    if (dladdr((void *)MPI_Wtime, &found)) library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    for (int i = 0; i < OPERATIONS; i++) {
        void *symbol = library ? dlsym(library, symbols[i]) : NULL;
        if (!symbol) return fprintf(stderr, "there is no %s\n", symbols[i]), 2;
        memcpy((void **)&own + i, &symbol, sizeof symbol);
    }
    size_t room = (size_t)most * all + 64;
    if (posix_memalign((void **)&in, 4096, room) || posix_memalign((void **)&out, 4096, room)) return 2;
    memset(in, 0, room), memset(out, 0, room);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        if (strcmp(asked, "all") && !strstr(asked, names[operation])) continue;
        if (operation == 0) {
            race(0, 0, pairs, batch_ns);
            continue;
        }
        for (long bytes = least;; bytes *= 8) {
            if (bytes > most) bytes = most; /* the longest one in any case */
            race(operation, (int)bytes, pairs, batch_ns);
            if (bytes == most) break;
        }
    }
    MPI_Finalize();
    return 0;
}
