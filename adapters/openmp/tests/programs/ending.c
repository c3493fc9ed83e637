/* Regions at the end of threads and of the process, when libraries have given back what they had for a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong, ended;
static pthread_key_t key;

static void work(int threads)
{
    int alone = 0, come = 0;
#pragma omp parallel if (threads > 1000) reduction(+ : alone)
    {
        alone++;
#pragma omp parallel if (threads > 1000) reduction(+ : alone)
        alone++;
    }
#pragma omp parallel num_threads(threads) shared(come)
    for (int i = 1; i <= 3; i++) {
#pragma omp atomic
        come++;
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
    if (alone != 2)
        wrong = 1;
}

static void end_thread(void *unused)
{
    (void)unused;
    work(2);
#pragma omp atomic
    ended++;
}

static void *begin_thread(void *value)
{
    pthread_setspecific(key, value);
    work(2);
    return NULL;
}

static void at_exit(void)
{
    work(2);
    ended++;
}

__attribute__((destructor)) static void at_unload(void)
{
    work(3);
    puts(wrong || ended != 3 ? "wrong" : "right");
}

int main(void)
{
    pthread_t threads[2];
    atexit(at_exit);
    pthread_key_create(&key, end_thread);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, begin_thread, &wrong);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    work(2);
    return 0;
}
