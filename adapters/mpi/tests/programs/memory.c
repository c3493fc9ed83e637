/* Collectives over memory that MPI gives, beside memory of the program's own, and the life of such memory. The argument says
   whether it comes from a heap that others map: 1 for yes. */
#include "memory.h"

static int in_heap;

/* Mappings of heaps here, and in *holds whether one of them has an address. */
static int heaps(const void *address, int *holds) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[600];
    int found = 0;
    *holds = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long low, high;
        if (!strstr(line, "memfd:corecast") || sscanf(line, "%lx-%lx", &low, &high) != 2 || high - low < 1ul << 30) continue;
        found++;
        if (low <= (unsigned long)address && (unsigned long)address < high) *holds = 1;
    }
    fclose(maps);
    return found;
}

static void *get(MPI_Aint bytes) {
    void *base = NULL;
    doing = "MPI_Alloc_mem";
    check(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base) == MPI_SUCCESS && base, bytes);
    return base;
}

/* A buffer from MPI or of the program's own, as the bits say. */
static void *some(int bits, MPI_Aint bytes) { return bits & 1 ? get(bytes) : malloc(bytes); }
static void give(int bits, void *base) {
    doing = "MPI_Free_mem";
    if (bits & 1) check(MPI_Free_mem(base) == MPI_SUCCESS, 0);
    else free(base);
}

/* Each rank's buffers are of a kind of their own; parts begin amid them, at odd places. */
static void of_all_kinds(long n, int round) {
    int bits = (me * 5 + round * 3) >> (round % 2);
    long skip = round % 7;
    int64_t *in = some(bits, (n + 8) * 8), *out = some(bits >> 1, (n * all + 8) * 8);
    collectives(MPI_COMM_WORLD, in + skip, out + skip, n, round);
    give(bits, in), give(bits >> 1, out);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    in_heap = argc > 1 && atoi(argv[1]);

    /* Before there is a team, and after; with alignments; of lengths that are no memory yet. */
    int holds;
    int64_t *early = get(1 << 20);
    heaps(early, &holds);
    doing = "where memory lies";
    check(holds == in_heap, 0);
    for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD);
    check(heaps(early, &holds) == (in_heap ? all : 0), 1);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536");
    char *aligned;
    check(MPI_Alloc_mem(5000, info, &aligned) == MPI_SUCCESS, 2);
    heaps(aligned, &holds);
    check(holds == in_heap && (!in_heap || (uintptr_t)aligned % 65536 == 0), 3);
    MPI_Free_mem(aligned);
    MPI_Info_free(&info);
    char *large = get(1 << 30);
    long before = field(1);
    large[0] = large[(1 << 30) - 1] = 1;
    check(field(1) - before < 64 << 20, 4);
    MPI_Free_mem(large);
    for (MPI_Aint bytes = 0; bytes < 3; bytes++) {
        void *small = NULL;
        check(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &small) == MPI_SUCCESS, 5);
        MPI_Free_mem(small);
    }

    long lengths[] = {1, 100, 3000, 20001, 150000};
    for (int round = 0; round < 20; round++) of_all_kinds(lengths[round % 5], round);

    /* Memory that is given back and used again between collectives has what was written last. */
    doing = "memory that is used again";
    for (int round = 0; round < 40; round++) {
        int64_t *data = get(300000);
        for (int i = 0; i < 30000; i++) data[i] = me == round % all ? round + i : 0;
        MPI_Bcast(data, 30000, MPI_INT64_T, round % all, MPI_COMM_WORLD);
        check(data[0] == round && data[29999] == round + 29999, round);
        MPI_Free_mem(data);
    }

    doing = "memory after many buffers";
    int open = descriptors();
    before = field(1);
    for (int round = 0; round < 10000; round++) {
        char *one = get(5000 + round % 5 * 30000), *two = get(10000);
        one[4999] = two[0] = two[9999] = 1;
        MPI_Free_mem(one), MPI_Free_mem(two);
    }
    check(descriptors() == open, 0);
    check(field(1) - before < 4 << 20, 1);

    doing = "an address that is none of MPI's";
    if (in_heap) {
        int code, class;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        code = MPI_Free_mem((char *)early + 4096);
        MPI_Error_class(code, &class);
        check(class == MPI_ERR_BASE, class);
    }
    for (int i = 0; i < 1 << 17; i++) early[i] = i;
    MPI_Bcast(early, 1 << 17, MPI_INT64_T, 0, MPI_COMM_WORLD);
    check(MPI_Free_mem(early) == MPI_SUCCESS, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
