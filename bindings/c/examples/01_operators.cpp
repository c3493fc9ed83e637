// Reductions by built-in operators and by functions.
//
//   c++ -std=c++20 01_operators.cpp $(pkg-config --cflags --libs corecast)
#include <corecast.hpp>
#include <cstdio>
#include <cstring>

// A short text, of any length up to 15.
struct word {
  char text[16];
};

int main() {
  // Made once for many operations. Appending is not commutative: the order of ranks counts.
  const auto appending = corecast::make_operator<word>(corecast::ordered{[](word a, word b) {
    std::strncat(a.text, b.text, sizeof a.text - std::strlen(a.text) - 1);
    return a;
  }});
  corecast::team team(4);
  team.run([&](corecast::member &member) {
    const double rank = double(member.rank());
    const double sum = member.allreduce_value(rank, corecast::sum);
    // Any function of two elements is an operator as it is.
    const double largest =
        member.allreduce_value(rank, [](double a, double b) { return a > b ? a : b; });
    word all{};
    std::snprintf(all.text, sizeof all.text, "%zu", member.rank());
    all = member.allreduce_value(all, appending);
    if (member.rank() == 0)
      std::printf("sum %g, largest %g, concatenated %s\n", sum, largest, all.text);
  });
}
