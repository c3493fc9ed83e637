/* A program that ends by SIGTERM as tidily as by itself: LLVM's OpenMP would leave its file in /dev/shm. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static char openmp_file[64];

static void on_end(int signal) {
  unlink(openmp_file);
  _exit(128 + signal);
}

static inline void end_tidily(void) {
  snprintf(openmp_file, sizeof openmp_file, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(), (int)getuid());
  signal(SIGTERM, on_end);
}
