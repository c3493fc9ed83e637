/* Least and greatest integers are what the library takes for them, whoever runs a call: MPICH of Debian 12 compares
 * MPI_UNSIGNED_CHAR as signed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int me, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Datatype types[] = {
        MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,
        MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T,
        MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT,
    };
    MPI_Op ops[] = {MPI_MIN, MPI_MAX};
    enum { TYPES = sizeof types / sizeof *types };
    /* The last rank has the highest bit. */
    for (int round = 0; round < 20; round++) {
        for (int t = 0; t < TYPES; t++) {
            for (int o = 0; o < 2; o++) {
                int size, many = 1 + 8 * (round % 2);
                unsigned char low[9 * 16] = {0}, high[9 * 16] = {0}, expected[9 * 16] = {0}, found[9 * 16] = {0};
                MPI_Type_size(types[t], &size);
                for (int i = 0; i < many; i++) low[i * size] = 5, high[i * size + size - 1] = 200;
                memcpy(expected, high, sizeof high);
                MPI_Reduce_local(low, expected, many, types[t], ops[o]);
                void *own = me == all - 1 ? high : low;
                MPI_Allreduce(own, found, many, types[t], ops[o], MPI_COMM_WORLD);
                int wrong = memcmp(found, expected, many * size);
                memset(found, 0, sizeof found);
                MPI_Reduce(own, found, many, types[t], ops[o], 0, MPI_COMM_WORLD);
                wrong |= me == 0 && memcmp(found, expected, many * size);
                if (wrong) {
                    fprintf(stderr, "rank %d, round %d: type %d, operator %d\n", me, round, t, o);
                    MPI_Abort(MPI_COMM_WORLD, 3);
                }
            }
        }
    }
    MPI_Finalize();
    if (me == 0) puts("all right");
    return 0;
}
