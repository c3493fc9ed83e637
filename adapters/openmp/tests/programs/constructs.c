/* Every construct with a barrier, many times: a barrier that lets somebody go too early gives a wrong sum. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 200
#define MOST 64

static int wrong;

static void check(int fits, const char *what)
{
    if (!fits) {
#pragma omp atomic write
        wrong = 1;
        fprintf(stderr, "wrong: %s, thread %d of %d\n", what, omp_get_thread_num(), omp_get_num_threads());
    }
}

static int seen[MOST][32];

/* Whether all threads have written `round`. */
static void all_have(int round, const char *what)
{
    int n = omp_get_num_threads();
    for (int i = 0; i < n; i++)
        check(seen[i][0] >= round && seen[i][0] <= round + 1, what);
}

static void orphan(int *data, int n)
{
#pragma omp for
    for (int i = 0; i < n; i++)
        data[i] += 1;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    static int data[1000];
    omp_set_dynamic(0);
    omp_set_num_threads(threads);

#pragma omp parallel
    for (int round = 1; round <= ROUNDS; round++) {
        seen[omp_get_thread_num()][0] = round;
#pragma omp barrier
        all_have(round, "barrier");
#pragma omp barrier
    }

    int sum = 0, once = 0;
#pragma omp parallel
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp for
        for (int i = 0; i < 100; i++)
            data[i] = i + round;
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += data[99 - i] - round;
        check(sum == (round + 1) * 4950, "static for, reduction");
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 100; i++)
            data[i] = -i;
        check(data[(omp_get_thread_num() * 37 + round) % 100] <= 0, "dynamic for");
#pragma omp barrier
#pragma omp for schedule(guided)
        for (int i = 0; i < 100; i++)
            data[i] = i * 2;
        check(data[99] == 198, "guided for");
#pragma omp barrier
#pragma omp for schedule(runtime)
        for (int i = 0; i < 100; i++)
            data[i] = i * 3;
        check(data[99] == 297, "runtime for");
#pragma omp barrier
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < 10; i++) {
#pragma omp ordered
            data[i] = i ? data[i - 1] + 1 : round;
        }
        check(data[9] == round + 9, "ordered for");
#pragma omp barrier
#pragma omp sections
        {
#pragma omp section
            data[0] = 10;
#pragma omp section
            data[1] = 11;
#pragma omp section
            data[2] = 12;
        }
        check(data[0] + data[1] + data[2] == 33, "sections");
#pragma omp barrier
#pragma omp single
        once++;
        check(once == round + 1, "single");
#pragma omp barrier
        int given = -1;
#pragma omp single copyprivate(given)
        given = round * 7;
        check(given == round * 7, "copyprivate");
#pragma omp master
        data[5] = round;
#pragma omp barrier
        check(data[5] == round, "master and barrier");
#pragma omp barrier
#pragma omp for nowait
        for (int i = 0; i < 100; i++)
            data[i] = 0;
#pragma omp barrier
        orphan(data, 100);
        check(data[round % 100] == 1, "an orphaned for");
#pragma omp barrier
    }
    check(once == ROUNDS, "each single once");

    /* Teams that change their size. */
    for (int round = 0; round < 50; round++) {
        int n = 1 + round % (threads + 2), come = 0;
        if (round == 25)
            omp_set_num_threads(threads + 1);
#pragma omp parallel num_threads(n)
        {
#pragma omp atomic
            come++;
#pragma omp barrier
            int now;
#pragma omp atomic read
            now = come;
            check(now == omp_get_num_threads(), "a team of another size");
        }
    }

    /* Serialised, and nested: inner teams have barriers of their own. */
#pragma omp parallel if (0)
    {
#pragma omp barrier
        check(omp_get_num_threads() == 1, "if (0)");
    }
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    for (int round = 0; round < 20; round++) {
        int come = 0;
#pragma omp parallel num_threads(2) shared(come)
        {
#pragma omp atomic
            come++;
#pragma omp barrier
            int now;
#pragma omp atomic read
            now = come;
            check(now == omp_get_num_threads(), "nested");
#pragma omp barrier
        }
#pragma omp parallel if (0)
        {
#pragma omp barrier
        }
#pragma omp barrier
    }
    puts(wrong ? "wrong" : "right");
    return wrong;
}
