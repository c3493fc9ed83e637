// A member finds out that it will not come to the operation in which the others wait, and cancels it.
//
//   c++ -std=c++20 03_cancel.cpp $(pkg-config --cflags --libs corecast)
#include <atomic>
#include <corecast.hpp>
#include <cstdio>

int main() {
  std::atomic<int> told = 0;
  corecast::team team(3);
  team.run([&](corecast::member &member) {
    member.barrier();
    // The operation before has completed for all. The next one will not.
    if (member.rank() == 0) return member.cancel();
    try {
      member.barrier();
    } catch (const corecast::error &error) {
      if (error.status() != CORECAST_STATUS_CANCELLED) throw;
      ++told;
    }
  });
  std::printf("%d of %zu were told: %s\n", told.load(), team.size(),
              corecast_status_name(CORECAST_STATUS_CANCELLED));
}
