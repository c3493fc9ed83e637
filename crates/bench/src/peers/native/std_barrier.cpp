// The barrier of C++20, pinned to the PUs of the third argument, dealt round.
#include "measure.h"
#include <barrier>
#include <sched.h>
#include <thread>
#include <vector>

static std::barrier<> *barrier;

static inline void pass(void) { barrier->arrive_and_wait(); }

static void pin(int pu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(pu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    perror("sched_setaffinity");
    exit(2);
  }
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  std::vector<int> pus;
  if (argc > 3)
    for (char *at = argv[3]; *at; at += *at == ',')
      pus.push_back(static_cast<int>(strtol(at, &at, 10)));
  std::barrier<> shared(threads);
  barrier = &shared;
  std::vector<std::thread> team;
  for (int rank = 0; rank < threads; rank++)
    team.emplace_back([rank, &pus] {
      if (!pus.empty())
        pin(pus[rank % pus.size()]);
      measure(rank);
    });
  for (auto &thread : team)
    thread.join();
  return verdict();
}
