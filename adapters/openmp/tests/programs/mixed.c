/* A program of two parts that different compilers made, as programs with libraries are. The runtimes of both parts may be
   two, or one that serves both. Its argument says which: "apart" or "together". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int part_region(int threads);
int part_serial(int much);
void part_shares(int *count);
void part_barrier(void);
int part_tasks(void);
void part_calls_back(int threads, void (*back)(void));

enum { THREADS = 3 };
static int apart, wrong, come;

static void check(int good, int line)
{
    if (!good) {
        fprintf(stderr, "line %d is wrong\n", line);
#pragma omp atomic write
        wrong = 1;
    }
}
#define CHECK(good) check(good, __LINE__)

/* A barrier that tells whether it waits for all. */
static void meet(void)
{
    int now;
#pragma omp atomic
    come++;
#pragma omp barrier
#pragma omp atomic read
    now = come;
    CHECK(now % THREADS == 0);
#pragma omp barrier
}

static void region(void)
{
    come = 0;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < 5; i++)
        meet();
    CHECK(come == 5 * THREADS);
}

/* The other part's constructs in a region of this one. */
static void within(void)
{
    int of_all[4] = {0}, first = 1;
#pragma omp parallel num_threads(THREADS)
    {
        meet();
        CHECK(!part_serial(10));
        meet();
        CHECK(!part_tasks());
        meet();
        int counted[4] = {0};
        part_shares(apart ? counted : of_all);
        if (apart)
            CHECK(counted[0] == 10 && counted[1] == 10 && counted[2] == 2 && counted[3] == 7);
        meet();
        /* A runtime runs a region within its own ones with one thread. */
        CHECK(!part_region(apart ? 2 : 1));
        meet();
    }
    if (!apart)
        CHECK(of_all[0] == 10 && of_all[1] == 10 && of_all[2] == 2 && of_all[3] == 7 * THREADS);
    /* Only one thread comes: where the runtimes are two, it is alone in the other part. */
#pragma omp parallel num_threads(THREADS)
    {
        int is_first;
        meet();
#pragma omp atomic capture
        {
            is_first = first;
            first = 0;
        }
        if (apart && is_first) {
            int counted[4] = {0};
            part_shares(counted);
            part_barrier();
            CHECK(counted[0] == 10 && counted[3] == 7);
        }
        meet();
    }
    /* A barrier of this part, in a region of the other one that lies in a region of this one. */
#pragma omp parallel num_threads(THREADS)
    {
        meet();
        if (apart)
            part_calls_back(2, meet);
        meet();
    }
}

static void all(void)
{
    CHECK(!part_serial(10));
    CHECK(!part_tasks());
    region();
    CHECK(!part_serial(10));
    CHECK(!part_tasks());
    int counted[4] = {0};
    part_shares(counted);
    part_barrier();
    CHECK(counted[0] == 10 && counted[1] == 10 && counted[2] == 2 && counted[3] == 7);
    CHECK(!part_region(2) && !part_region(3));
    within();
    region();
}

static void at_exit(void)
{
    all();
    puts(wrong ? "wrong" : "right");
}

int main(int argc, char **argv)
{
    apart = argc < 2 || !strcmp(argv[1], "apart");
    atexit(at_exit);
    all();
    return wrong;
}
