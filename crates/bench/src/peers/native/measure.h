/* How a barrier measures itself: checked first, then one batch timed from the
 * first start to the last end, as in the race that launches the program.
 *
 * The includer defines `pass`, which takes the calling thread through one
 * barrier of THREADS threads. */
#include "ending.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 4096
#define CHECKS 32

static inline void pass(void);

struct line {
  int64_t entered, start, end, took;
} __attribute__((aligned(128)));

static struct line lines[THREADS_MAX];
static int threads;
static int64_t batch_ns;
static int flawed, stop;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Each thread counts itself in, passes, and must find all counts equal. */
static void check(int rank) {
  for (int64_t number = 1; number <= CHECKS; number++) {
    __atomic_store_n(&lines[rank].entered, number, __ATOMIC_RELAXED);
    pass();
    for (int other = 0; other < threads; other++)
      if (__atomic_load_n(&lines[other].entered, __ATOMIC_RELAXED) != number)
        __atomic_store_n(&flawed, 1, __ATOMIC_RELAXED);
    pass();
  }
}

/* Whether rank 0 looks at the clock after operation i: rarely enough to cost
 * nothing, often enough that a barrier which collapses to a scheduler's slice
 * per pass ends its batch within a second. */
static inline int looks(int64_t i) { return (i & 63) == 0 || (i & (i - 1)) == 0; }

/* Passes up to `count` times and returns how often, the same for all threads:
 * rank 0 writes `stop` before barrier i, all read it after barrier i, and rank
 * 0 cannot come to its next look before all have. */
static int64_t passes(int rank, int64_t count) {
  int64_t deadline = now_ns() + 4 * batch_ns;
  for (int64_t i = 1; i <= count; i++) {
    if (!looks(i)) {
      pass();
      continue;
    }
    if (rank == 0 && now_ns() > deadline)
      __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pass();
    if (__atomic_load_n(&stop, __ATOMIC_RELAXED))
      return i;
  }
  return count;
}

/* One batch: the time from the first start to the last end. */
static int64_t run(int rank, int64_t *count) {
  if (rank == 0)
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
  pass();
  lines[rank].start = now_ns();
  *count = passes(rank, *count);
  lines[rank].end = now_ns();
  pass();
  lines[rank].took = lines[rank].end - lines[rank].start;
  int64_t first = lines[0].start, last = lines[0].end;
  for (int other = 1; other < threads; other++) {
    if (lines[other].start < first) first = lines[other].start;
    if (lines[other].end > last) last = lines[other].end;
  }
  pass();
  return last - first;
}

/* The batch as the slowest saw it, and what the threads saw: mean, least, most. */
static void report(int64_t took, int64_t count) {
  double sum = 0, least = (double)lines[0].took, most = least;
  for (int other = 0; other < threads; other++) {
    double own = (double)lines[other].took;
    sum += own;
    if (own < least) least = own;
    if (own > most) most = own;
  }
  double many = (double)count;
  printf("ns_per_op %.4f\noperations %lld\nrank_ns %.4f %.4f %.4f\n", (double)took / many,
         (long long)count, sum / threads / many, least / many, most / many);
}

/* Called by every thread. All of them compute the same `took`, so they leave
 * the loop together. */
static void measure(int rank) {
  check(rank);
  int64_t count = 1, took = run(rank, &count);
  while (took < batch_ns / 2 && count < (INT64_C(1) << 40)) {
    count *= 2;
    took = run(rank, &count);
  }
  double fitting = (double)count * (double)batch_ns / (double)(took > 0 ? took : 1);
  count = fitting < 1 ? 1 : (int64_t)fitting;
  took = run(rank, &count);
  if (rank == 0)
    report(took, count);
}

static void read_arguments(int argc, char **argv) {
  end_tidily();
  threads = argc > 1 ? atoi(argv[1]) : 0;
  batch_ns = argc > 2 ? atoll(argv[2]) * 1000 : 0;
  if (threads < 1 || threads > THREADS_MAX || batch_ns < 1) {
    fprintf(stderr, "usage: %s THREADS BATCH_US [PU,PU,...]\n", argv[0]);
    exit(2);
  }
}

static int verdict(void) {
  if (flawed)
    fprintf(stderr, "the barrier let a thread pass early\n");
  return flawed;
}
