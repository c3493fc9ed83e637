// Queues between threads: values, buffers, tags, ends that are dropped, and what is refused.
#include <array>
#include <corecast.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "check.h"

struct reading {
  std::uint64_t number;
  double value;
};

template <class F>
static corecast_status_t status_of(F &&call) {
  try {
    call();
  } catch (const corecast::error &error) {
    return error.status();
  }
  return CORECAST_STATUS_OK;
}

static void values_in_order() {
  auto ends = corecast::queue();
  auto &receiver = ends.second;
  std::thread other([sender = std::move(ends.first)]() mutable {
    for (std::uint64_t i = 0; i < 10'000; ++i) sender.send_value(reading{i, 0.5 * double(i)});
  });
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto got = receiver.receive_value<reading>();
    CHECK(got.number == i && got.value == 0.5 * double(i));
  }
  // Nothing is left, and the sender is gone.
  CHECK(status_of([&] { static_cast<void>(receiver.receive_value<reading>()); }) ==
        CORECAST_STATUS_CLOSED);
  other.join();
}

static void buffers_and_tags(const corecast::queue_options &options) {
  auto ends = corecast::queue(options);
  auto &[sender, receiver] = ends;
  std::vector<int> data(50, 7), buffer(100);
  CHECK(sender.message_bytes_max() >= data.size() * sizeof(int));
  CHECK(!receiver.peek() && !receiver.try_receive(buffer));
  sender.send(data, 11);
  CHECK(sender.try_send(std::array<int, 2>{1, 2}));
  const auto next = receiver.peek();
  CHECK(next && next->bytes == 200 && next->tag == 11);
  std::array<int, 2> pair{};
  CHECK(status_of([&] { ends.second.receive(pair); }) == CORECAST_STATUS_INVALID);
  const auto got = receiver.receive(buffer);
  CHECK(got.bytes == 200 && got.tag == 11 && buffer[49] == 7 && buffer[50] == 0);
  const auto second = receiver.try_receive(pair);
  CHECK(second && second->tag == 0 && pair[1] == 2);
  // A value of another length.
  sender.send_value('x');
  CHECK(status_of([&] { static_cast<void>(ends.second.receive_value<int>()); }) ==
        CORECAST_STATUS_INVALID);
  while (sender.try_send(data)) {
  }
  const auto gone = std::move(receiver);
  CHECK(gone.peek()->bytes == 200);
}

static void the_receiver_goes() {
  auto ends = corecast::queue({.slots = 2});
  { const auto receiver = std::move(ends.second); }
  const auto fill = [&ends] {
    for (int i = 0; i < 3; ++i) ends.first.send_value(i);
  };
  CHECK(status_of(fill) == CORECAST_STATUS_CLOSED);
}

int main() {
  values_in_order();
  buffers_and_tags({});
  buffers_and_tags({.slots = 8, .backend = "fastforward", .waiting = "park", .receiver_node = 0});
  the_receiver_goes();
  CHECK(status_of([] { static_cast<void>(corecast::queue({.slots = 3})); }) ==
        CORECAST_STATUS_INVALID);
  CHECK(status_of([] { static_cast<void>(corecast::queue({.waiting = "soon"})); }) ==
        CORECAST_STATUS_INVALID);
  std::puts("messages in C++ come in order");
}
