/* The barrier of whichever OpenMP library this is linked with. */
#include "measure.h"
#include <omp.h>

static inline void pass(void) {
#pragma omp barrier
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  omp_set_dynamic(0);
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_num_threads() == threads) {
      measure(omp_get_thread_num());
    } else {
#pragma omp single
      {
        fprintf(stderr, "OpenMP gave %d threads\n", omp_get_num_threads());
        flawed = 2;
      }
    }
  }
  return flawed == 2 ? 2 : verdict();
}
