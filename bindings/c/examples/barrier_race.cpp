// corecast::barrier against std::barrier, interleaved in one run.
//
//   c++ -std=c++20 -O2 -pthread barrier_race.cpp -o barrier_race $(pkg-config --cflags --libs corecast)
//   ./barrier_race THREADS [pin] [ROUNDS]
//
// The same threads pass both barriers in turn, in rounds of some milliseconds, in alternating order. Printed
// are the medians of a phase's time, the median of the rounds' ratios, and the middle half of these.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <corecast.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static void pin_to(int thread) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  std::vector<int> pus;
  for (int pu = 0; pu < CPU_SETSIZE; ++pu)
    if (CPU_ISSET(pu, &all)) pus.push_back(pu);
  CPU_ZERO(&one);
  CPU_SET(pus[static_cast<std::size_t>(thread) % pus.size()], &one);
  sched_setaffinity(0, sizeof one, &one);
}

template <class Barrier>
static double nanoseconds(Barrier &barrier, int phases) {
  barrier.arrive_and_wait();
  const auto begin = Clock::now();
  for (int phase = 0; phase < phases; ++phase) barrier.arrive_and_wait();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / phases;
}

static double at(std::vector<double> values, double quantile) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(quantile * static_cast<double>(values.size() - 1))];
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s THREADS [pin] [ROUNDS]\n", argv[0]);
    return 2;
  }
  const int threads = std::atoi(argv[1]);
  const bool pin = argc > 2 && std::strcmp(argv[2], "pin") == 0;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 101;
  corecast::barrier<> ours(threads);
  std::barrier<> theirs(threads);
  std::vector<double> our_times, their_times, ratios;
  int phases = 50;
  auto body = [&](int thread) {
    if (pin) pin_to(thread);
    // So many phases that a round takes some 3 ms.
    const double once = nanoseconds(ours, 200);
    ours.arrive_and_wait();
    if (thread == 0) phases = std::clamp(static_cast<int>(3e6 / once), 20, 100'000);
    ours.arrive_and_wait();
    for (int round = 0; round < rounds; ++round) {
      double own = 0, other = 0;
      if (round % 2 == 0) {
        own = nanoseconds(ours, phases);
        other = nanoseconds(theirs, phases);
      } else {
        other = nanoseconds(theirs, phases);
        own = nanoseconds(ours, phases);
      }
      if (thread == 0) {
        our_times.push_back(own);
        their_times.push_back(other);
        ratios.push_back(own / other);
      }
    }
  };
  std::vector<std::thread> all;
  for (int thread = 1; thread < threads; ++thread) all.emplace_back(body, thread);
  body(0);
  for (auto &thread : all) thread.join();
  std::printf("%d threads, %s, %d rounds of %d phases: corecast::barrier %.0f ns, std::barrier %.0f ns, "
              "ratio %.2f (%.2f..%.2f)\n",
              threads, pin ? "pinned" : "not pinned", rounds, phases, at(our_times, 0.5),
              at(their_times, 0.5), at(ratios, 0.5), at(ratios, 0.25), at(ratios, 0.75));
  return 0;
}
