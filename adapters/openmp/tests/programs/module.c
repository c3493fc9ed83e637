/* The library of opened.c. */
#include <omp.h>

int work(int threads)
{
    int wrong = 0, come = 0;
#pragma omp parallel num_threads(threads) shared(come, wrong)
    for (int i = 1; i <= 100; i++) {
#pragma omp atomic
        come++;
#pragma omp barrier
        int now;
#pragma omp atomic read
        now = come;
        if (now != i * omp_get_num_threads()) {
#pragma omp atomic write
            wrong = 1;
        }
#pragma omp barrier
    }
    return wrong;
}
