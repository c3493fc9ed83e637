/* What ranks give to a collective is only read: here it lies in memory that cannot be written, aligned for its type and not. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define MOST 3000

int main(int argc, char **argv) {
    int me, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    size_t bytes = (MOST + 1) * sizeof(int);
    char *given = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (given == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 2);
    memset(given, 1, bytes);
    mprotect(given, bytes, PROT_READ);
    static char taken[8 * (MOST + 1) * sizeof(int)];
    int one, sum;
    memcpy(&one, given, sizeof one);
    for (int call = 0; call < 24; call++) {
        const char *from = given + call % 2;
        char *to = taken + call % 2;
        int many = call % 3 ? call : MOST, root = call % all, count = many / all;
        MPI_Gather(from, count, MPI_INT, to, count, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Scatter(from, count, MPI_INT, to, count, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Allgather(from, count, MPI_INT, to, count, MPI_INT, MPI_COMM_WORLD);
        MPI_Alltoall(from, count, MPI_INT, to, count, MPI_INT, MPI_COMM_WORLD);
        MPI_Scan(from, to, many, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Exscan(from, to, many, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce_scatter_block(from, to, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(from, to, many, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        memset(to, 0, many * sizeof(int));
        MPI_Reduce(from, to, many, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        for (int i = 0; i < many; i++) {
            memcpy(&sum, to + i * sizeof sum, sizeof sum);
            if (sum != (me == root ? all * one : 0)) MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    MPI_Finalize();
    if (me == 0) puts("all right");
    return 0;
}
