// Owners, spans, templates and exceptions of the C++ header.
#include <algorithm>
#include <array>
#include <corecast.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "check.h"

// Trivially copyable, of no length that a machine knows.
struct particle {
  std::array<float, 3> place;
  std::int16_t kind;
};

struct map {
  std::uint64_t a, b;
};

template <class F>
static corecast_status_t status_of(F &&call, const char *words) {
  try {
    call();
  } catch (const corecast::error &error) {
    CHECK(std::strstr(error.what(), words) != nullptr);
    return error.status();
  }
  return CORECAST_STATUS_OK;
}

static void everything(corecast::member &member) {
  const std::size_t rank = member.rank(), size = member.size();
  member.barrier();

  std::vector<particle> particles(100);
  if (rank == 1)
    for (std::size_t i = 0; i < particles.size(); ++i)
      particles[i] = {{float(i), 1, 2}, std::int16_t(i)};
  member.broadcast(1, particles);
  CHECK(particles[99].kind == 99 && particles[99].place[0] == 99.0f);
  CHECK(member.broadcast_value(2, rank) == 2);

  auto buffer = member.alloc<particle>(100);
  if (rank == 1) std::copy(particles.begin(), particles.end(), buffer.begin());
  CHECK(buffer.size() == 100 && (rank == 1 || buffer[99].kind == 0));
  member.broadcast(1, buffer.span());
  CHECK(buffer[99].kind == 99 && buffer.data()[98].kind == 98);

  std::vector<int> all(size * 2);
  std::iota(all.begin(), all.end(), 0);
  int own[2] = {};
  member.scatter(0, all, own);
  CHECK(own[0] == int(2 * rank) && own[1] == own[0] + 1);
  std::vector<int> gathered(rank == 2 ? size * 2 : 0);
  member.gather(2, own, gathered);
  CHECK(rank != 2 || gathered == all);
  const std::array<int, 2> constant{own[0], own[1]};
  std::vector<int> everywhere(size * 2);
  member.allgather(constant, everywhere);
  CHECK(everywhere == all);
  std::vector<std::size_t> give(size), take(size);
  for (std::size_t to = 0; to < size; ++to) give[to] = 10 * rank + to;
  member.alltoall(give, take);
  for (std::size_t from = 0; from < size; ++from) CHECK(take[from] == 10 * from + rank);

  // Rank r has r elements, behind each other.
  std::vector<std::size_t> counts(size), at(size);
  std::iota(counts.begin(), counts.end(), 0u);
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), std::size_t{0});
  const std::vector<char> mine(rank, char('a' + rank));
  std::vector<char> text(at.back() + counts.back()), back(rank);
  member.allgatherv(mine, text, {counts, at});
  CHECK(std::string(text.begin(), text.end()) == "bcc");
  member.scatterv(1, text, {counts, at}, back);
  CHECK(back == mine);
  std::vector<char> at_root(rank == 0 ? text.size() : 0);
  member.gatherv(0, mine, at_root, {counts, at});
  CHECK(rank != 0 || at_root == text);
  const std::vector<std::size_t> ones(size, 1), places{0, 1, 2};
  std::vector<std::size_t> swapped(size);
  member.alltoallv(give, {ones, places}, swapped, {ones, places});
  CHECK(swapped == take);

  CHECK(member.allreduce_value(1.5, corecast::sum) == 1.5 * double(size));
  CHECK(member.allreduce_value(rank, corecast::max) == size - 1);
  std::vector<float> data{float(rank), 1};
  member.reduce(0, data, corecast::product);
  CHECK(rank != 0 || (data[0] == 0 && data[1] == 1));
  long sums[1] = {long(rank) + 1};
  member.scan(sums, [](long a, long b) { return a + b; });
  CHECK(sums[0] == long((rank + 1) * (rank + 2) / 2));
  map chain[1] = {{rank + 2, rank + 1}};
  member.exscan(chain, corecast::ordered{[](map f, map g) {
                  return map{f.a * g.a, f.b * g.a + g.b};
                }});
  CHECK(rank != 2 || (chain[0].a == 6 && chain[0].b == 5));
  const std::vector<unsigned> five(5, 1u << rank);
  std::vector<unsigned> block(member.block(5, rank).second);
  member.reduce_scatter(five, block, corecast::bit_or);
  for (const unsigned bits : block) CHECK(bits == (1u << size) - 1);
  const std::vector<std::size_t> blocks{0, 1, 4};
  std::vector<unsigned> other(blocks[rank]);
  member.reduce_scatterv(five, blocks, other, corecast::bit_xor);
  for (const unsigned bits : other) CHECK(bits == (1u << size) - 1);

  std::vector<long> first{long(rank)}, second{long(rank)};
  auto add = [](long a, long b) { return a + b; };
  member.overlap([&](corecast::flight &flight) {
    auto summing = flight.allreduce(first, add);
    auto telling = flight.broadcast(1, second);
    flight.progress();
    while (!telling.test()) {
    }
    telling.wait();
    summing.wait();
  });
  CHECK(first[0] == 3 && second[0] == 1);

  // Refused before it begins.
  std::vector<int> three(3);
  CHECK(status_of([&] { member.broadcast(7, three); }, "root 7") == CORECAST_STATUS_INVALID);
  CHECK(status_of([&] { member.allgather(own, three); }, "allgather") == CORECAST_STATUS_INVALID);
  member.barrier();
}

int main() {
  corecast::team team(3);
  CHECK(team.size() == 3 && team.ranks().size() == 3);
  team.run(everything);
  CHECK(team.explain().find("barrier") != std::string::npos);

  // An exception of a body ends the team, and is what run throws; the others are told.
  corecast::team unlucky(2);
  try {
    unlucky.run([](corecast::member &member) {
      if (member.rank() == 1) throw 7;
      CHECK(status_of([&] { member.barrier(); }, "rank 1") == CORECAST_STATUS_PEER_LOST);
    });
    CHECK(false);
  } catch (int seven) {
    CHECK(seven == 7);
  }

  // Own threads, a team as one wants it, and one of processes that are one process.
  corecast::team own =
      corecast::builder().threads(2).wait("park").pattern("binomial").deterministic(true).build();
  {
    corecast::member zero = own.join(0);
    std::jthread other([&own] {
      corecast::member one = own.join(1);
      own.pin_here(1);
      one.barrier();
    });
    zero.barrier();
  }
  CHECK(status_of([&] { static_cast<void>(own.join(0)); }, "joined twice") ==
        CORECAST_STATUS_NOT_JOINED);
  const std::string address = "cpp-" + std::to_string(std::rand()) + "-" +
                              std::to_string(reinterpret_cast<std::uintptr_t>(&own));
  corecast::team met = corecast::builder().enter(address, 2, 2);
  met.run([](corecast::member &member) { CHECK(member.allreduce_value(1, corecast::sum) == 2); });
  // Teams go on without a rank, or with all that are left: one whose body has thrown has left in order.
  std::uint64_t completed = 7;
  const std::array<std::size_t, 1> leaving{0};
  CHECK(met.without(leaving, &completed).size() == 1 && completed == 1);
  corecast::team lucky = unlucky.without();
  CHECK(lucky.size() == 2);
  CHECK(unlucky.refilled().size() == 2);
  CHECK(status_of([] { corecast::team(0); }, "at least one") == CORECAST_STATUS_UNBUILDABLE);
  std::puts("teams in C++ are right");
}
