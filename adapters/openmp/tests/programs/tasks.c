/* All tasks are done when a barrier is over, wherever they were made; and they are done by all. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void check(int fits, const char *what)
{
    if (!fits) {
#pragma omp atomic write
        wrong = 1;
        fprintf(stderr, "wrong: %s, thread %d of %d\n", what, omp_get_thread_num(), omp_get_num_threads());
    }
}

static long fibonacci(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    omp_set_dynamic(0);
    omp_set_num_threads(threads);

    /* Barriers without tasks, then tasks, then barriers: in one region, by each thread in turn. */
    for (int round = 0; round < 40; round++) {
        int done = 0, made = round % threads;
#pragma omp parallel shared(done)
        {
            for (int i = 0; i < round % 5; i++) {
#pragma omp barrier
            }
            if (omp_get_thread_num() == made) {
                for (int i = 0; i < 50; i++) {
#pragma omp task shared(done)
                    {
#pragma omp atomic
                        done++;
                    }
                }
            }
#pragma omp barrier
            int now;
#pragma omp atomic read
            now = done;
            check(now == 50, "tasks before a barrier");
#pragma omp barrier
#pragma omp single
            {
#pragma omp taskloop grainsize(1)
                for (int i = 0; i < 20; i++) {
#pragma omp atomic
                    done++;
                }
            }
#pragma omp atomic read
            now = done;
            check(now == 70, "taskloop in single");
        }
    }

    /* Two regions in one function, only one of which has tasks. */
    for (int round = 0; round < 20; round++) {
        int count = 0;
#pragma omp parallel
        {
#pragma omp for reduction(+ : count)
            for (int i = 0; i < 100; i++)
                count++;
            check(count == 100, "no tasks");
        }
    }

    /* Whoever waits at the end of `single` has to help: tasks that wait for each other's threads end. */
    int meet = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < threads; i++) {
#pragma omp task shared(meet)
        {
#pragma omp atomic
            meet++;
        }
    }
    check(meet == threads, "tasks at the end of single");

    long f = 0;
#pragma omp parallel
#pragma omp single
    f = fibonacci(15);
    check(f == 610, "recursive tasks");

    /* A task that starts a team. */
    omp_set_max_active_levels(2);
    int inner = 0;
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < 4; i++) {
#pragma omp task shared(inner)
            {
#pragma omp parallel num_threads(2) reduction(+ : inner)
                {
#pragma omp barrier
                    inner += omp_get_thread_num() == 0;
                }
            }
        }
    }
    check(inner >= 1, "a task with a team");
    puts(wrong ? "wrong" : "right");
    return wrong;
}
