/* Overheads of OpenMP's constructs: the construct around a delay, less the bare delay of one thread.
 *
 *   omp_constructs THREADS BATCH_US CONSTRUCT DELAY_NS
 *
 * prints the overhead with DELAY_NS added, so that it stands beside times that have a delay in them. */
#include "ending.h"
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int threads;
static int64_t batch_ns;
static int64_t turns = 1;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void __attribute__((noinline)) delay(void) {
  float sum = 0;
  for (int64_t i = 0; i < turns; i++) {
    sum += (float)i;
    __asm__ volatile("" : "+m"(sum));
  }
}

/* The least of some tries: whatever disturbs makes it longer. */
static void calibrate(int64_t delay_ns) {
  int64_t least = INT64_MAX;
  turns = 1 << 16;
  for (int i = 0; i < 9; i++) {
    int64_t start = now_ns();
    delay();
    int64_t took = now_ns() - start;
    if (took < least) least = took;
  }
  double fitting = (double)delay_ns * (double)turns / (double)(least > 0 ? least : 1);
  turns = fitting < 1 ? 1 : (int64_t)(fitting + 0.5);
}

static void reference(int64_t count) {
  for (int64_t i = 0; i < count; i++)
    delay();
}

static void parallel(int64_t count) {
  for (int64_t i = 0; i < count; i++) {
#pragma omp parallel
    delay();
  }
}

static void loop(int64_t count) {
#pragma omp parallel
  for (int64_t i = 0; i < count; i++) {
#pragma omp for schedule(static)
    for (int own = 0; own < threads; own++)
      delay();
  }
}

static void parallel_loop(int64_t count) {
  for (int64_t i = 0; i < count; i++) {
#pragma omp parallel for schedule(static)
    for (int own = 0; own < threads; own++)
      delay();
  }
}

static void barrier(int64_t count) {
#pragma omp parallel
  for (int64_t i = 0; i < count; i++) {
    delay();
#pragma omp barrier
  }
}

static void single(int64_t count) {
#pragma omp parallel
  for (int64_t i = 0; i < count; i++) {
#pragma omp single
    delay();
  }
}

/* All threads together take the lock `count` times. */
static void critical(int64_t count) {
#pragma omp parallel
  {
    int64_t rank = omp_get_thread_num();
    int64_t own = count / threads + (rank < count % threads);
    for (int64_t i = 0; i < own; i++) {
#pragma omp critical
      delay();
    }
  }
}

static int64_t summed;

static void reduction(int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    int64_t sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
      delay();
      sum += 1;
    }
    summed += sum;
  }
}

static const struct {
  const char *name;
  void (*run)(int64_t);
} constructs[] = {
    {"parallel", parallel}, {"for", loop},           {"parallel_for", parallel_loop},
    {"barrier", barrier},   {"single", single},      {"critical", critical},
    {"reduction", reduction},
};

/* Whether the constructs do what they are for; threads count in words of their own. */
static int sound(void) {
  enum { CHECKS = 32 };
  int64_t inside = 0, once = 0, early = 0, missed = 0;
  int64_t *came = calloc((size_t)threads * 16, sizeof *came);
  if (!came) return 0;
#pragma omp parallel
  for (int64_t number = 1; number <= CHECKS; number++) {
    __atomic_store_n(&came[omp_get_thread_num() * 16], number, __ATOMIC_RELAXED);
#pragma omp barrier
    for (int other = 0; other < threads; other++)
      if (__atomic_load_n(&came[other * 16], __ATOMIC_RELAXED) != number)
        __atomic_store_n(&early, 1, __ATOMIC_RELAXED);
#pragma omp barrier
#pragma omp single
    once++;
#pragma omp critical
    inside++;
#pragma omp for schedule(static)
    for (int own = 0; own < threads; own++)
      if (own != omp_get_thread_num()) __atomic_store_n(&missed, 1, __ATOMIC_RELAXED);
  }
  free(came);
  summed = 0;
  reduction(CHECKS);
  return !early && !missed && once == CHECKS && inside == (int64_t)CHECKS * threads &&
         summed == (int64_t)CHECKS * threads;
}

static int64_t timed(void (*run)(int64_t), int64_t count) {
  int64_t start = now_ns();
  run(count);
  return now_ns() - start;
}

int main(int argc, char **argv) {
  end_tidily();
  threads = argc > 1 ? atoi(argv[1]) : 0;
  batch_ns = argc > 2 ? atoll(argv[2]) * 1000 : 0;
  int64_t delay_ns = argc > 4 ? atoll(argv[4]) : 0;
  void (*run)(int64_t) = NULL;
  for (size_t i = 0; argc > 3 && i < sizeof constructs / sizeof *constructs; i++)
    if (strcmp(argv[3], constructs[i].name) == 0) run = constructs[i].run;
  if (threads < 1 || batch_ns < 1 || delay_ns < 1 || !run) {
    fprintf(stderr, "usage: %s THREADS BATCH_US CONSTRUCT DELAY_NS\n", argv[0]);
    return 2;
  }
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  int given = 0;
#pragma omp parallel
#pragma omp master
  given = omp_get_num_threads();
  if (given != threads) {
    fprintf(stderr, "OpenMP gave %d threads\n", given);
    return 2;
  }
  calibrate(delay_ns);
  if (!sound()) {
    fprintf(stderr, "a construct did not do what it is for\n");
    return 1;
  }
  int64_t count = 1, took = timed(run, count);
  while (took < batch_ns / 2 && count < (INT64_C(1) << 40)) {
    count *= 2;
    took = timed(run, count);
  }
  /* In slices, so that what collapses to a scheduler's slice per pass ends soon. */
  double fitting = (double)count * (double)batch_ns / (double)(took > 0 ? took : 1);
  int64_t slice = (int64_t)(fitting / 16);
  if (slice < 1) slice = 1;
  for (count = 0, took = 0; count < 16 * slice && took < 4 * batch_ns; count += slice)
    took += timed(run, slice);
  int64_t bare_count = batch_ns / delay_ns + 1;
  double bare = (double)timed(reference, bare_count) / (double)bare_count;
  double ns = (double)took / (double)count - bare + (double)delay_ns;
  printf("ns_per_op %.4f\n", ns > 0.001 ? ns : 0.001);
  return 0;
}
