/* The part of mixed.c that another compiler makes. It asks no runtime for numbers: where there are two, both have
   functions of these names, and one of them answers for both. */

int part_region(int threads)
{
    int come = 0, wrong = 0;
#pragma omp parallel num_threads(threads) shared(come, wrong)
    for (int i = 1; i <= 20; i++) {
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
    return wrong;
}

/* A region that runs with one thread, as there is little to do, and has a barrier for it. */
int part_serial(int much)
{
    int sum = 0;
#pragma omp parallel if (much > 1000) reduction(+ : sum)
    {
        sum++;
#pragma omp barrier
#pragma omp single
        sum++;
    }
    return sum != 2;
}

/* Constructs of the region around the call. */
void part_shares(int *count)
{
#pragma omp for
    for (int i = 0; i < 10; i++)
#pragma omp atomic
        count[0]++;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; i++)
#pragma omp atomic
        count[1]++;
#pragma omp sections
    {
#pragma omp section
#pragma omp atomic
        count[2]++;
#pragma omp section
#pragma omp atomic
        count[2]++;
    }
    int given = 0;
#pragma omp single copyprivate(given)
    given = 7;
#pragma omp atomic
    count[3] += given;
#pragma omp barrier
}

/* Its last call is a barrier, of which compilers make a jump. */
void part_barrier(void)
{
#pragma omp barrier
}

int part_tasks(void)
{
    int sum = 0;
#pragma omp task shared(sum)
    {
#pragma omp atomic
        sum += 5;
    }
#pragma omp taskwait
#pragma omp taskgroup
    for (int i = 0; i < 4; i++) {
#pragma omp task shared(sum)
        {
#pragma omp atomic
            sum++;
        }
    }
    return sum != 9;
}

/* Calls back from a region of this part, by the thread that starts it, and from a serial one. */
void part_calls_back(int threads, void (*back)(void))
{
    int first = 1;
#pragma omp parallel num_threads(threads) shared(first)
    {
#pragma omp barrier
#pragma omp master
        {
            first = 0;
            back();
        }
#pragma omp barrier
    }
#pragma omp parallel if (first)
    back();
}
