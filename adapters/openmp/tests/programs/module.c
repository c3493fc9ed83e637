/* The library of opened.c: a region with barriers, and one that is serial as there is little to do. */
#include <omp.h>

static int alone(int much)
{
    int sum = 0;
#pragma omp parallel if (much > 1000) reduction(+ : sum)
    sum++;
    return sum == 1;
}

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
    return wrong || !alone(threads);
}
