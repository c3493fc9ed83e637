/* Whether another thread of this program sleeps in the kernel: then it is inside of the call in which it waits. Two
   calls that begin at the very same instant may miss each other, so a test of the second one waits for that.
   Include it first: it needs more of the system's headers than C11 has. */
#ifndef ASLEEP_H
#define ASLEEP_H

#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A thread says who it is, right before the call in which it waits. */
static inline void say_who(atomic_long *thread) { atomic_store(thread, syscall(SYS_gettid)); }

static inline bool sleeps(long thread) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  size_t read = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[read] = 0;
  const char *state = strrchr(text, ')');
  return state != NULL && state[1] == ' ' && state[2] == 'S';
}

/* Returns when that thread was seen asleep five times in a row. */
static inline void wait_until_asleep(atomic_long *thread) {
  const struct timespec pause = {0, 2000000};
  for (int seen = 0; seen < 5;) {
    long id = atomic_load(thread);
    seen = id != 0 && sleeps(id) ? seen + 1 : 0;
    nanosleep(&pause, NULL);
  }
}

#endif
