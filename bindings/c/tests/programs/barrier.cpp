// One program over both barriers: what std::barrier does, corecast::barrier does, by changing one line.
#include <atomic>
#include <barrier>
#include <corecast.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "check.h"

struct count_phases {
  int *phases;
  void operator()() noexcept { ++*phases; }
};

// Threads sum what others wrote in the phase before; thread t leaves after 100 + t laps.
template <template <class> class Barrier>
static long workers(int threads) {
  int phases = 0;
  std::atomic<long> total = 0;
  std::vector<int> cells(static_cast<std::size_t>(threads), 0);
  {
    Barrier<count_phases> barrier(threads, count_phases{&phases});
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        long sum = 0;
        for (int lap = 1; lap <= 100 + t; ++lap) {
          cells[static_cast<std::size_t>(t)] = lap;
          if (lap % 2 == 0) {
            barrier.arrive_and_wait();
          } else {
            auto token = barrier.arrive();
            barrier.wait(std::move(token));
          }
          if (lap <= 100)
            for (const int cell : cells) sum += cell;
          barrier.arrive_and_wait();
        }
        total += sum;
        barrier.arrive_and_drop();
      });
    }
    for (auto &thread : all) thread.join();
  }
  CHECK(phases >= 200);
  return total;
}

template <class F>
using std_barrier = std::barrier<F>;
template <class F>
using our_barrier = corecast::barrier<F>;

int main() {
  for (int threads = 1; threads <= 5; ++threads) {
    const long expected = 100L * 101 / 2 * threads * threads;
    CHECK(workers<std_barrier>(threads) == expected);
    CHECK(workers<our_barrier>(threads) == expected);
  }

  // A completion that has a state of its own, a lambda, and none at all.
  int runs = 0;
  corecast::barrier counting(2, [&runs]() noexcept { ++runs; });
  auto token = counting.arrive(2);
  counting.wait(std::move(token));
  CHECK(runs == 1);
  corecast::barrier<> plain(1);
  plain.arrive_and_wait();
  static_assert(corecast::barrier<>::max() > 1'000'000);

  try {
    static_cast<void>(plain.arrive(2));
    CHECK(false);
  } catch (const corecast::error &error) {
    CHECK(error.status() == CORECAST_STATUS_INVALID);
  }
  try {
    const corecast::barrier<> too_many(-1);
    CHECK(false);
  } catch (const corecast::error &error) {
    CHECK(error.status() == CORECAST_STATUS_INVALID);
  }
  std::puts("corecast::barrier is a std::barrier");
}
