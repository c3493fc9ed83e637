/* An empty parallel region of whichever OpenMP library this is linked with: checked, then timed. */
static inline void pass(void);
#include "measure.h"
#include <omp.h>

static inline void pass(void) {}

/* Each thread's piece of work is one store to a line of its own. */
static void fork_and_join(void) {
#pragma omp parallel num_threads(threads)
  lines[omp_get_thread_num()].entered++;
}

static void check_pieces(int64_t expected) {
  for (int other = 0; other < threads; other++)
    if (lines[other].entered != expected) flawed = 1;
}

static int64_t batch(int64_t *count) {
  int64_t begin = now_ns(), deadline = begin + 4 * batch_ns, i = 0;
  while (i < *count) {
    fork_and_join();
    i++;
    if (looks(i) && now_ns() > deadline) break;
  }
  *count = i;
  return now_ns() - begin;
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  omp_set_dynamic(0);
  int64_t forks = 0;
  for (int number = 1; number <= CHECKS; number++) {
    fork_and_join();
    check_pieces(++forks);
  }
  int64_t count = 1, took = batch(&count);
  while (took < batch_ns / 2 && count < (INT64_C(1) << 40)) {
    forks += count;
    count *= 2;
    took = batch(&count);
  }
  forks += count;
  double fitting = (double)count * (double)batch_ns / (double)(took > 0 ? took : 1);
  count = fitting < 1 ? 1 : (int64_t)fitting;
  took = batch(&count);
  forks += count;
  check_pieces(forks);
  if (flawed) {
    fprintf(stderr, "a region ended before all threads had done their work\n");
    return 1;
  }
  printf("ns_per_op %.4f\noperations %lld\n", (double)took / (double)count, (long long)count);
  return 0;
}
