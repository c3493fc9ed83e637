// Members.
#ifndef CORECAST_MEMBER_HPP
#define CORECAST_MEMBER_HPP

#include "flight.hpp"
#include "symmetric.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace corecast {

// One rank of a team.
class member : public operations<member> {
 public:
  [[nodiscard]] std::size_t rank() const noexcept { return corecast_member_rank(handle_); }
  [[nodiscard]] std::size_t size() const noexcept { return corecast_member_size(handle_); }
  [[nodiscard]] corecast_member_t *handle() const noexcept { return handle_; }

  // Zeroed elements that operations lend without a copy to other processes: see corecast_alloc.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] symmetric_buffer<T> alloc(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    void *memory = nullptr;
    detail::check(corecast_alloc(handle_, count * sizeof(T), &memory));
    return symmetric_buffer<T>(static_cast<T *>(memory), count);
  }

  // broadcast of one value: returns root's.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T broadcast_value(std::size_t root, T value) {
    broadcast(root, std::span<T>(&value, 1));
    return value;
  }

  // allreduce of one value.
  template <class T, class O>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T allreduce_value(T value, O &&op) {
    allreduce(std::span<T>(&value, 1), op);
    return value;
  }

  // Runs body(member), which calls one operation or several, with a barrier on each side for which
  // await::all is given, and returns what the body returns. After a body that throws there is no
  // second barrier. For less waiting: flight::synced.
  template <class Body>
  auto synced(synchrony sync, Body &&body) {
    if (sync.before == await::all) barrier();
    if constexpr (std::is_void_v<std::invoke_result_t<Body &, member &>>) {
      std::invoke(body, *this);
      if (sync.after == await::all) barrier();
    } else {
      auto result = std::invoke(body, *this);
      if (sync.after == await::all) barrier();
      return result;
    }
  }

  // Cancels every operation of the team from this member's next one on: whoever waits in one, or
  // starts one, gets an error of CORECAST_STATUS_CANCELLED. See corecast_cancel.
  void cancel() { detail::check(corecast_cancel(handle_)); }

  // Runs a body that starts operations on a flight without waiting for them. All have ended when
  // this returns. What the body throws is thrown from here, after its requests have waited for their
  // operations; else the first failure of an operation that the body was not told.
  template <class Body>
  void overlap(Body &&body) {
    struct call {
      Body &body;
      member &self;
      std::exception_ptr thrown;
      std::exception_ptr failure;
    } call{body, *this, nullptr, nullptr};
    const corecast_status_t status = corecast_overlap(
        handle_,
        [](const corecast_flight_t *handle, void *context) noexcept {
          auto &call = *static_cast<struct call *>(context);
          flight in_flight(handle, call.self.rank(), call.self.size());
          try {
            call.body(in_flight);
          } catch (...) {
            call.thrown = std::current_exception();
          }
          call.failure = in_flight.failure_;
        },
        &call);
    if (call.thrown) std::rethrow_exception(call.thrown);
    if (call.failure) std::rethrow_exception(call.failure);
    detail::check(status);
  }

 private:
  static constexpr bool in_flight = false;
  friend class operations<member>;
  friend class team;
  using owner = std::unique_ptr<corecast_member_t, detail::free_by<corecast_member_free>>;

  explicit member(owner own) : handle_(own.get()), own_(std::move(own)) {}
  explicit member(corecast_member_t *lent) : handle_(lent) {}

  template <class W, class S, class... Arguments>
  void call(W wait, S, Arguments... arguments) {
    detail::check(wait(handle_, arguments...));
  }

  corecast_member_t *handle_;
  owner own_;
};

}  // namespace corecast

#endif /* CORECAST_MEMBER_HPP */
