// Operations in flight whose buffers and operators belong to the body: it ends, also by an exception, after they have.
#include "check.h"

#include <corecast.hpp>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t LONG = std::size_t{1} << 15;

// A buffer of the body. When it is destroyed, the allreduce of ones among two ranks has written its result.
struct buffer {
  std::vector<double> data = std::vector<double>(LONG, 1.0);
  ~buffer() { CHECK(data.front() == 2.0 && data.back() == 2.0); }
};

// Rank 0 throws while its operation cannot have ended: rank 1 begins it only afterwards.
void throws(corecast::member &member) {
  static std::atomic<bool> thrown{false};
  if (member.rank() == 1) {
    while (!thrown) std::this_thread::yield();
  }
  bool caught = false;
  try {
    member.overlap([&](corecast::flight &flight) {
      buffer own;
      auto request = flight.allreduce(own.data, corecast::sum);
      if (member.rank() == 0) {
        thrown = true;
        throw std::runtime_error("the computation failed");
      }
    });
  } catch (const std::runtime_error &error) {
    caught = std::string(error.what()) == "the computation failed";
  }
  CHECK(caught == (member.rank() == 0));
}

// An operator that captures something lives as long as the request that comes after it.
void captures(corecast::member &member) {
  std::vector<double> data(LONG, 1.0);
  member.overlap([&](corecast::flight &flight) {
    const std::vector<double> weight(1, 2.0);
    auto weighted = [weight](double a, double b) { return weight.at(0) * (a + b); };
    auto request = flight.allreduce(data, weighted);
  });
  CHECK(data.front() == 4.0 && data.back() == 4.0);
}

// Requests can be moved, kept in containers, detached, and outlive the body, after which they do nothing.
void moves(corecast::member &member) {
  std::vector<std::vector<double>> data(6, std::vector<double>(LONG, 1.0));
  std::optional<corecast::request> later;
  member.overlap([&](corecast::flight &flight) {
    std::vector<corecast::request> requests;
    for (std::size_t i = 0; i < 4; i++) {
      requests.push_back(flight.allreduce(data[i], corecast::sum));
    }
    requests.erase(requests.begin());
    CHECK(data[0].back() == 2.0);
    corecast::request last = std::move(requests.back());
    requests.pop_back();
    last.wait();
    CHECK(data[3].back() == 2.0);
    flight.allreduce(data[4], corecast::sum).detach();
    later.emplace(flight.allreduce(data[5], corecast::sum));
  });
  for (const auto &each : data) CHECK(each.front() == 2.0 && each.back() == 2.0);
  bool refused = false;
  try {
    later->wait();
  } catch (const corecast::error &error) {
    refused = error.status() == CORECAST_STATUS_INVALID;
  }
  CHECK(refused);
  later.reset();
}

// The nine modes. With await::no after it, rank 0 leaves a long broadcast before the others come.
void sides(corecast::member &member) {
  constexpr corecast::await all[] = {corecast::await::no, corecast::await::my, corecast::await::all};
  static std::atomic<std::size_t> left{0};
  std::size_t early = 0;
  for (const corecast::await before : all) {
    for (const corecast::await after : all) {
      std::vector<double> data(LONG, double(member.rank()));
      const bool first = before != corecast::await::all && after == corecast::await::no;
      early += first ? 1 : 0;
      member.overlap([&](corecast::flight &flight) {
        while (first && member.rank() == 1 && left < early) std::this_thread::yield();
        auto request = flight.synced({before, after}, [&](corecast::flight &flight) {
          return flight.broadcast(0, data);
        });
        if (first && member.rank() == 0) ++left;
        if (after != corecast::await::no) CHECK(data.back() == 0.0 && request.test());
      });
      CHECK(data.front() == 0.0 && data.back() == 0.0);
    }
  }
  member.overlap([&](corecast::flight &flight) {
    flight.synced(corecast::strict, [](corecast::flight &flight) { flight.barrier().wait(); });
    try {
      flight.synced(corecast::loose, [](corecast::flight &) { throw 7; });
      CHECK(false);
    } catch (int seven) {
      CHECK(seven == 7);
    }
  });
}

bool told_rank_0 = false;

// A failure of an operation that only the destructor has waited for comes from overlap.
void fails(corecast::member &member) {
  if (member.rank() == 1) return;
  bool told = false;
  try {
    member.overlap([](corecast::flight &flight) { auto request = flight.barrier(); });
  } catch (const corecast::error &error) {
    told = error.status() == CORECAST_STATUS_PEER_LOST;
  }
  CHECK(told);
  told_rank_0 = true;
}

}  // namespace

int main() {
  corecast::team team = corecast::builder().threads(2).depth(8).build();
  team.run([](corecast::member &member) {
    throws(member);
    captures(member);
    moves(member);
    sides(member);
  });
  corecast::team unlucky(2);
  try {
    unlucky.run(fails);
  } catch (const corecast::error &error) {
    CHECK(error.status() == CORECAST_STATUS_PEER_LOST);
  }
  CHECK(told_rank_0);
  std::puts("operations in flight in C++ are right");
}
