/* A region without a place, as LLVM OpenMP starts one for itself. */
#include <omp.h>
#include <stdio.h>

extern void __kmpc_fork_call(void *place, int count, void (*code)(int *, int *, ...), ...);

static int come, wrong;

static void body(int *thread, int *within, ...)
{
    (void)thread, (void)within;
#pragma omp atomic
    come++;
#pragma omp barrier
    int now;
#pragma omp atomic read
    now = come;
    if (now != omp_get_num_threads()) {
#pragma omp atomic write
        wrong = 1;
    }
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_num_threads(2);
    __kmpc_fork_call(NULL, 0, body);
    puts(wrong || come != 2 ? "wrong" : "right");
    return wrong;
}
