// One-way queues between two threads.
#ifndef CORECAST_QUEUE_HPP
#define CORECAST_QUEUE_HPP

#include "operations.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace corecast {

// How a queue is made.
struct queue_options {
  // How many short messages it holds: a power of two, at least 2.
  std::size_t slots = 64;
  // The protocol, "ump" or "fastforward".
  const char *backend = "ump";
  // How both ends wait, a word as for builder::wait; nullptr: as CORECAST_WAIT says, else as fits the
  // machine.
  const char *waiting = nullptr;
  // The NUMA nodes where the memory of the ends is to lie.
  std::int32_t sender_node = CORECAST_ANY_NODE;
  std::int32_t receiver_node = CORECAST_ANY_NODE;
};

// What a message is, besides its bytes: members `bytes` and `tag`.
using message = corecast_message_t;

class sender;
class receiver;
[[nodiscard]] inline std::pair<sender, receiver> queue(const queue_options &options = {});

// The sending end of a queue. One thread at a time may use it. When it is dropped, the receiver still
// gets what was sent.
class sender {
 public:
  [[nodiscard]] corecast_sender_t *handle() const noexcept { return handle_.get(); }

  // The longest message in bytes.
  [[nodiscard]] std::size_t message_bytes_max() const noexcept {
    return corecast_sender_message_bytes_max(handle());
  }

  // Sends a message, and waits for room if there is none. The receiver gets the tag along with it.
  template <readable B>
  void send(B &&data, std::uint32_t tag = 0) {
    const std::span all{data};
    detail::check(corecast_sender_send(handle(), tag, all.data(), all.size_bytes()));
  }

  // Sends a message if there is room at once, and says whether it was sent.
  template <readable B>
  [[nodiscard]] bool try_send(B &&data, std::uint32_t tag = 0) {
    const std::span all{data};
    bool sent = false;
    detail::check(corecast_sender_try_send(handle(), tag, all.data(), all.size_bytes(), &sent));
    return sent;
  }

  // send of one value.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void send_value(const T &value, std::uint32_t tag = 0) {
    send(std::span<const T>(&value, 1), tag);
  }

 private:
  friend std::pair<sender, receiver> queue(const queue_options &options);
  explicit sender(corecast_sender_t *handle) : handle_(handle) {}

  std::unique_ptr<corecast_sender_t, detail::free_by<corecast_sender_free>> handle_;
};

// The receiving end of a queue. One thread at a time may use it.
class receiver {
 public:
  [[nodiscard]] corecast_receiver_t *handle() const noexcept { return handle_.get(); }

  // Waits for the next message and copies it to the front of a buffer. One that is longer than the
  // buffer is an error, and stays in the queue. CORECAST_STATUS_CLOSED: nothing is left, and the
  // sender was dropped.
  template <writable B>
  message receive(B &&buffer) {
    const std::span all{buffer};
    message got{0, 0};
    detail::check(corecast_receiver_receive(handle(), all.data(), all.size_bytes(), &got));
    return got;
  }

  // Receives the next message if it is there at once.
  template <writable B>
  [[nodiscard]] std::optional<message> try_receive(B &&buffer) {
    const std::span all{buffer};
    message got{0, 0};
    bool received = false;
    detail::check(corecast_receiver_try_receive(handle(), all.data(), all.size_bytes(), &got,
                                                &received));
    return received ? std::optional(got) : std::nullopt;
  }

  // Waits for the next message, which must be one value of this type. A longer one stays in the
  // queue; a shorter one is taken out of it.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>)
  [[nodiscard]] T receive_value() {
    T value;
    const message got = receive(std::span<T>(&value, 1));
    detail::require(got.bytes == sizeof(T), "receive_value: the message is shorter than the value");
    return value;
  }

  // What the next message is, if it could be received without waiting. It stays in the queue.
  [[nodiscard]] std::optional<message> peek() const {
    message next{0, 0};
    bool there = false;
    detail::check(corecast_receiver_peek(handle(), &next, &there));
    return there ? std::optional(next) : std::nullopt;
  }

 private:
  friend std::pair<sender, receiver> queue(const queue_options &options);
  explicit receiver(corecast_receiver_t *handle) : handle_(handle) {}

  std::unique_ptr<corecast_receiver_t, detail::free_by<corecast_receiver_free>> handle_;
};

// Makes a queue in which messages go one way, from one thread to another, in order:
// auto [sender, receiver] = corecast::queue().
inline std::pair<sender, receiver> queue(const queue_options &options) {
  corecast_sender_t *sending = nullptr;
  corecast_receiver_t *receiving = nullptr;
  detail::check(corecast_queue_new(options.slots, options.backend, options.waiting,
                                   options.sender_node, options.receiver_node, &sending,
                                   &receiving));
  return {sender(sending), receiver(receiving)};
}

}  // namespace corecast

#endif /* CORECAST_QUEUE_HPP */
