/* Nanoseconds of a construct beyond its work, the least of some heats: construct, threads. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "barrier";
    int threads = argc > 2 ? atoi(argv[2]) : 2, times = threads > 2 ? 2000 : 20000;
    double best = 1e30;
    omp_set_num_threads(threads);
    for (int heat = 0; heat < 15; heat++) {
        double start = omp_get_wtime();
        if (!strcmp(what, "parallel")) {
            for (int i = 0; i < times; i++) {
#pragma omp parallel
                __asm__ volatile("" ::: "memory");
            }
        } else
#pragma omp parallel
        {
            if (!strcmp(what, "barrier"))
                for (int i = 0; i < times; i++) {
#pragma omp barrier
                }
            else if (!strcmp(what, "for"))
                for (int i = 0; i < times; i++) {
#pragma omp for
                    for (int j = 0; j < threads; j++)
                        __asm__ volatile("" ::: "memory");
                }
            else if (!strcmp(what, "dynamic"))
                for (int i = 0; i < times; i++) {
#pragma omp for schedule(dynamic)
                    for (int j = 0; j < threads; j++)
                        __asm__ volatile("" ::: "memory");
                }
            else if (!strcmp(what, "single"))
                for (int i = 0; i < times; i++) {
#pragma omp single
                    __asm__ volatile("" ::: "memory");
                }
        }
        double ns = (omp_get_wtime() - start) * 1e9 / times;
        if (ns < best)
            best = ns;
    }
    printf("%.1f\n", best);
    return 0;
}
