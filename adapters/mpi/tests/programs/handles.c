/* Communicators are made and freed many times, and libraries use their handles again: for other members, in another order.
   Arguments: how often. Neither memory nor descriptors may grow. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int descriptors(void) {
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static long kilobytes(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(file);
    return resident * 4;
}

static void use(MPI_Comm comm) {
    int rank, size, sum = 0, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 4; i++) {
        int own = rank + i;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (sum != size * (size - 1) / 2 + size * i) MPI_Abort(MPI_COMM_WORLD, 3);
        first = rank;
        MPI_Bcast(&first, 1, MPI_INT, size - 1, comm);
        if (first != size - 1) MPI_Abort(MPI_COMM_WORLD, 4);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, all, times = argc > 1 ? atoi(argv[1]) : 300;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    int before = 0;
    long held = 0;
    for (int i = 0; i < times; i++) {
        MPI_Comm copy, part;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_split(copy, i % 3 == 0 ? 0 : me % 2, i % 2 ? me : -me, &part);
        if (i % 2 == 0) use(copy);
        use(part);
        MPI_Comm_free(i % 5 ? &copy : &part);
        MPI_Comm_free(i % 5 ? &part : &copy);
        if (i == times / 2) before = descriptors(), held = kilobytes();
    }
    int after = descriptors();
    long grown = kilobytes() - held;
    if (after > before) {
        fprintf(stderr, "%d descriptors after %d\n", after, before);
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    if (grown > 4096) {
        fprintf(stderr, "%ld KiB more memory\n", grown);
        MPI_Abort(MPI_COMM_WORLD, 6);
    }
    use(MPI_COMM_WORLD);
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
