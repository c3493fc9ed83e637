/* Several threads of the program have teams at once; they end, and others come; the process is forked. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int threads = 2;
static int wrong;

static void *work(void *unused)
{
    for (int round = 0; round < 30; round++) {
        int come = 0, n = 1 + round % threads;
#pragma omp parallel num_threads(n) shared(come)
        for (int i = 1; i <= 3; i++) {
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
    }
    return unused;
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 2;
    omp_set_dynamic(0);
    /* A child before the first region has teams of its own. */
    pid_t child = fork();
    if (child == 0) {
        work(NULL);
        _exit(wrong);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0)
        wrong = 1;
    for (int round = 0; round < 4; round++) {
        pthread_t masters[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&masters[i], NULL, work, NULL);
        work(NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(masters[i], NULL);
    }
    puts(wrong ? "wrong" : "right");
    return wrong;
}
