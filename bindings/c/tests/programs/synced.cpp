// Barriers around operations, operators of every sort, and operations that are cancelled.
#include <atomic>
#include <corecast.hpp>
#include <cstdio>
#include <cstdlib>

#include "check.h"

constexpr std::size_t RANKS = 3;

template <class F>
static corecast_status_t status_of(F &&call) {
  try {
    call();
  } catch (const corecast::error &error) {
    return error.status();
  }
  return CORECAST_STATUS_OK;
}

static void barriers_around() {
  std::atomic<std::size_t> come = 0, done = 0;
  corecast::team(RANKS).run([&](corecast::member &member) {
    for (std::size_t round = 1; round <= 50; ++round) {
      ++come;
      const long sum = member.synced(corecast::strict, [&](corecast::member &member) {
        CHECK(come >= RANKS * round);
        const long sum = member.allreduce_value(1L, corecast::sum);
        ++done;
        return sum;
      });
      CHECK(sum == long(RANKS) && done >= RANKS * round);
    }
    // A body that returns nothing; and no barrier at all, which a single member may call.
    member.synced({corecast::await::no, corecast::await::all}, [](auto &member) { member.barrier(); });
    if (member.rank() == 0) CHECK(member.synced(corecast::loose, [](auto &) { return 5; }) == 5);
    // What the body throws comes back, and there is no second barrier.
    try {
      member.synced(corecast::strict, [](corecast::member &) { throw 7; });
      CHECK(false);
    } catch (int seven) {
      CHECK(seven == 7);
    }
    member.barrier();
  });
}

struct pair {
  std::uint64_t a, b;
};

static void operators() {
  const auto then = corecast::ordered{
      [](pair f, pair g) { return pair{f.a * g.a, f.b * g.a + g.b}; }};
  const auto once = corecast::make_operator<pair>(then);
  const long most = 1000;
  corecast::team(RANKS).run([&](corecast::member &member) {
    const std::size_t rank = member.rank();
    for (int repeated = 0; repeated < 20; ++repeated) {
      // A function as it is, one that captures something, and an operator that was made before.
      pair data[1] = {{rank + 2, rank + 1}}, other[1] = {{rank + 2, rank + 1}};
      member.allreduce(data, then);
      member.allreduce(other, once);
      CHECK(data[0].a == 24 && data[0].b == (1 * 3 + 2) * 4 + 3);
      CHECK(other[0].a == data[0].a && other[0].b == data[0].b);
      const auto capped = [&most](long a, long b) { return std::min(a + b, most); };
      CHECK(member.allreduce_value(long(500 + rank), capped) == 1000);
      // In flight the handle may go before the operation has ended.
      long sums[4] = {1, 2, 3, long(rank)};
      member.overlap([&](corecast::flight &flight) {
        static_cast<void>(flight.allreduce(sums, capped));
        static_cast<void>(flight.scan(data, once));
      });
      CHECK(sums[0] == 3 && sums[2] == 9 && sums[3] == 3);
    }
  });
}

static void cancelled() {
  corecast::team team(RANKS);
  std::atomic<int> told = 0;
  team.run([&](corecast::member &member) {
    CHECK(member.allreduce_value(1, corecast::sum) == int(RANKS));
    if (member.rank() == 1) {
      member.cancel();
    } else {
      CHECK(status_of([&] { member.barrier(); }) == CORECAST_STATUS_CANCELLED);
      ++told;
    }
  });
  CHECK(told == int(RANKS) - 1);
  CHECK(corecast_team_failure(team.handle()) == CORECAST_STATUS_OK);
}

int main() {
  barriers_around();
  operators();
  cancelled();
  std::puts("operations in C++ are synchronised and cancelled");
}
