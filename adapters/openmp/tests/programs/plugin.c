/* A library of plugins.c, with a region when it is loaded, and another one when it is unloaded. */

static int calls, wrong;

/* The code of the constructor differs from that of the plugin of another compiler or number, and may come to lie where
   another one's was. */
#ifndef NUMBER
#define NUMBER 0
#endif

static int alone(int much)
{
    int sum = 0;
#pragma omp parallel if (much > 1000) reduction(+ : sum)
    sum++;
    return sum;
}

static void meet(int threads)
{
    int come = 0;
#pragma omp parallel num_threads(threads) shared(come)
    for (int i = 1; i <= 3 + NUMBER; i++) {
        int one = alone(threads);
#pragma omp atomic
        come += one;
#pragma omp barrier
        int now;
#pragma omp atomic read
        now = come;
        if (now != i * threads) {
#pragma omp atomic write
            wrong = 1;
        }
#pragma omp barrier
    }
}

static int *told;

__attribute__((constructor)) static void load(void)
{
    meet(2);
}

__attribute__((destructor)) static void unload(void)
{
    meet(2);
    if (told)
        *told = wrong ? -1 : 1;
}

/* Returns the number of calls so far, or -1. The unloaded library says so in `unloaded`. */
int work(int threads, int *unloaded)
{
    told = unloaded;
    meet(threads);
    return wrong || alone(threads) != 1 ? -1 : ++calls;
}
