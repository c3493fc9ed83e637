/* A barrier of any threads: phases, completions, threads that leave, and what is refused. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, PHASES = 500 };

typedef struct {
  corecast_barrier_t *barrier;
  atomic_size_t come;
  /* Written by whoever came last, and by nobody else. */
  size_t completed;
} meeting;

static void complete(void *context) {
  meeting *here = context;
  here->completed++;
  CHECK(atomic_load(&here->come) == here->completed * THREADS);
}

static void *comes(void *context) {
  meeting *here = context;
  for (size_t lap = 1; lap <= PHASES; lap++) {
    atomic_fetch_add(&here->come, 1);
    if (lap % 3 == 0) {
      corecast_phase_t phase;
      OK(corecast_barrier_arrive(here->barrier, 1, &phase));
      OK(corecast_barrier_wait(here->barrier, phase));
    } else {
      OK(corecast_barrier_arrive_and_wait(here->barrier));
    }
    CHECK(here->completed >= lap);
  }
  return NULL;
}

static void phases(const char *waiting) {
  meeting here = {NULL, 0, 0};
  pthread_t threads[THREADS];
  OK(corecast_barrier_new(THREADS, waiting, complete, &here, &here.barrier));
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, comes, &here) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(here.completed == PHASES);
  corecast_barrier_free(here.barrier);
}

static void *leaves(void *context) {
  corecast_barrier_t *barrier = context;
  OK(corecast_barrier_arrive_and_wait(barrier));
  OK(corecast_barrier_arrive_and_drop(barrier));
  return NULL;
}

static void leaving(void) {
  corecast_barrier_t *barrier;
  pthread_t threads[THREADS];
  OK(corecast_barrier_new(THREADS + 1, "park", NULL, NULL, &barrier));
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, leaves, barrier) == 0);
  /* Two phases with the others, and then alone. */
  for (int i = 0; i < 5; i++) OK(corecast_barrier_arrive_and_wait(barrier));
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  OK(corecast_barrier_arrive_and_drop(barrier));
  REFUSED(corecast_barrier_arrive_and_wait(barrier), CORECAST_STATUS_INVALID, "0 are missing");
  corecast_barrier_free(barrier);
}

static void refused(void) {
  corecast_barrier_t *barrier;
  corecast_phase_t phase;
  REFUSED(corecast_barrier_new(2, NULL, NULL, NULL, NULL), CORECAST_STATUS_INVALID, "NULL");
  REFUSED(corecast_barrier_new(2, "soon", NULL, NULL, &barrier), CORECAST_STATUS_INVALID, "soon");
  REFUSED(corecast_barrier_new(corecast_barrier_max() + 1, NULL, NULL, NULL, &barrier),
          CORECAST_STATUS_INVALID, "at most");
  REFUSED(corecast_barrier_arrive(NULL, 1, &phase), CORECAST_STATUS_INVALID, "NULL");
  OK(corecast_barrier_new(3, NULL, NULL, NULL, &barrier));
  REFUSED(corecast_barrier_arrive(barrier, 0, &phase), CORECAST_STATUS_INVALID, "0");
  OK(corecast_barrier_arrive(barrier, 2, NULL));
  REFUSED(corecast_barrier_arrive(barrier, 2, &phase), CORECAST_STATUS_INVALID, "1 are missing");
  OK(corecast_barrier_arrive(barrier, 1, &phase));
  OK(corecast_barrier_wait(barrier, phase));
  REFUSED(corecast_barrier_wait(barrier, UINT32_MAX), CORECAST_STATUS_INVALID, "no phase");
  corecast_barrier_free(barrier);
  corecast_barrier_free(NULL);
}

int main(void) {
  phases(NULL);
  phases("park");
  phases("20us");
  leaving();
  refused();
  puts("threads meet, complete and leave");
  return 0;
}
