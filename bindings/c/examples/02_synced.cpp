// A reduction with a barrier before it and one after it. By itself a reduction makes a member wait for no
// more than its own data: one that only gives may go on before the others have come.
//
//   c++ -std=c++20 02_synced.cpp $(pkg-config --cflags --libs corecast)
#include <atomic>
#include <corecast.hpp>
#include <cstdio>

int main() {
  std::atomic<int> come = 0;
  corecast::team(2).run([&](corecast::member &member) {
    int data[1] = {1};
    ++come;
    member.synced(corecast::strict,
                  [&](corecast::member &member) { member.reduce(0, data, corecast::min); });
    if (member.rank() == 1) std::printf("%d of %zu were there\n", come.load(), member.size());
  });
}
