// A queue between two threads that are no team: numbers go to a thread that squares them, and come back.
//
//   c++ -std=c++20 -pthread 04_queue.cpp $(pkg-config --cflags --libs corecast)
#include <corecast.hpp>
#include <cstdio>
#include <thread>

int main() {
  auto [send_number, get_number] = corecast::queue();
  auto [send_square, get_square] = corecast::queue({.slots = 16});
  std::thread worker([numbers = std::move(get_number), squares = std::move(send_square)]() mutable {
    try {
      for (;;) {
        const long number = numbers.receive_value<long>();
        squares.send_value(number * number);
      }
    } catch (const corecast::error &error) {
      // The other end was dropped: there are no more numbers.
      if (error.status() != CORECAST_STATUS_CLOSED) throw;
    }
  });
  {
    const auto numbers = std::make_unique<corecast::sender>(std::move(send_number));
    for (long number = 1; number <= 5; ++number) numbers->send_value(number);
  }
  for (int i = 1; i <= 5; ++i)
    std::printf("%ld%c", get_square.receive_value<long>(), i < 5 ? ' ' : '\n');
  worker.join();
}
