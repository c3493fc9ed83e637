/* What programs about the memory of collectives share: checks, what the process has, and collectives over given buffers. */
#include <dirent.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, all;
static const char *doing;
static void check(int good, long at) {
    if (!good) {
        fprintf(stderr, "rank %d: %s is wrong at %ld\n", me, doing, at);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static int descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    int found = 0;
    while (readdir(folder)) found++;
    closedir(folder);
    return found;
}

/* Bytes of the process: 0 for its addresses, 1 for its memory. */
static long field(int number) {
    long pages[2] = {0, 0};
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%ld %ld", &pages[0], &pages[1]) != 2) pages[0] = pages[1] = -1;
    fclose(file);
    return pages[number] * sysconf(_SC_PAGESIZE);
}

static int64_t given(int rank, long at, int round) { return (int64_t)rank * 1000003 + at * 31 + round; }

/* Collectives whose buffers lie in parts of `in` and `out`, with room for n and n times all numbers. */
static void collectives(MPI_Comm comm, int64_t *in, int64_t *out, long n, int round) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int root = round % size;
    doing = "broadcast";
    for (long i = 0; i < n; i++) in[i] = rank == root ? given(root, i, round) : -1;
    MPI_Bcast(in, n, MPI_INT64_T, root, comm);
    for (long i = 0; i < n; i++) check(in[i] == given(root, i, round), i);
    doing = "allreduce";
    for (long i = 0; i < n; i++) in[i] = given(rank, i, round);
    MPI_Allreduce(in, out, n, MPI_INT64_T, MPI_SUM, comm);
    for (long i = 0; i < n; i++) check(out[i] == size * given(0, i, round) + 1000003 * (int64_t)(size * (size - 1) / 2), i);
    doing = "allreduce in place";
    MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INT64_T, MPI_MAX, comm);
    for (long i = 0; i < n; i++) check(in[i] == given(rank, i, round), i);
    doing = "allgather";
    MPI_Allgather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, comm);
    for (long i = 0; i < n * size; i++) check(out[i] == given(i / n, i % n, round), i);
    doing = "gather";
    memset(out, 1, n * size * 8);
    MPI_Gather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, root, comm);
    for (long i = 0; rank == root && i < n * size; i++) check(out[i] == given(i / n, i % n, round), i);
    doing = "scatter";
    for (long i = 0; i < n * size; i++) out[i] = given(i / n, i % n, round + 1);
    MPI_Scatter(out, n, MPI_INT64_T, in, n, MPI_INT64_T, root, comm);
    for (long i = 0; i < n; i++) check(in[i] == given(rank, i, round + 1), i);
    doing = "alltoall";
    int64_t *to = malloc(n * size * 8);
    for (long i = 0; i < n * size; i++) out[i] = given(rank, i, round);
    MPI_Alltoall(out, n, MPI_INT64_T, to, n, MPI_INT64_T, comm);
    for (long i = 0; i < n * size; i++) check(to[i] == given(i / n, rank * n + i % n, round), i);
    free(to);
}
