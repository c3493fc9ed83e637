/* Each rank says where it is, and how many of its host the library takes it to share memory with. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    char name[256]; gethostname(name, 256);
    MPI_Comm s; int r, n, m; MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Comm_size(MPI_COMM_WORLD, &m);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &s);
    MPI_Comm_size(s, &n);
    printf("rank %d of %d on %s, %d share\n", r, m, name, n);
    int a[64] = {0}, b[64];
    MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
