/* Cancelled loops and regions: whoever has cancelled, or not, gets to the end. Run with OMP_CANCELLATION=true. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2, wrong = 0;
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    for (int round = 0; round < 100; round++) {
        int done = 0, after = 0, come = 0;
#pragma omp parallel shared(done, after)
        {
#pragma omp barrier
#pragma omp for
            for (int i = 0; i < 1000; i++) {
#pragma omp atomic
                done++;
                if (i == 500) {
#pragma omp cancel for
                }
#pragma omp cancellation point for
            }
#pragma omp barrier
#pragma omp atomic
            after++;
        }
        if (after != threads || done > 1000)
            wrong = 1;
#pragma omp parallel shared(come)
        {
#pragma omp atomic
            come++;
            if (omp_get_thread_num() == threads - 1) {
#pragma omp cancel parallel
            }
#pragma omp barrier
        }
        if (come != threads)
            wrong = 1;
#pragma omp parallel shared(come)
        {
#pragma omp atomic
            come++;
#pragma omp barrier
            int now;
#pragma omp atomic read
            now = come;
            if (now != 2 * threads) {
#pragma omp atomic write
                wrong = 1;
            }
        }
    }
    puts(wrong ? "wrong" : "right");
    return wrong;
}
