// Members, their operations in flight, and requests.
#ifndef CORECAST_MEMBER_HPP
#define CORECAST_MEMBER_HPP

#include "operations.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace corecast {

// An operation in flight. Dropping it loses nothing: the operation goes on.
class [[nodiscard]] request {
 public:
  explicit request(corecast_request_t *handle) : handle_(handle) {}

  // Whether it has ended. Lets all in flight go as far as they can.
  [[nodiscard]] bool test() {
    bool done = false;
    detail::check(corecast_request_test(handle_, &done));
    return done;
  }

  // Waits until it has ended. Once.
  void wait() { detail::check(corecast_request_wait(std::exchange(handle_, nullptr))); }

 private:
  corecast_request_t *handle_;
};

// A member whose operations are in flight, for as long as the body of member::overlap runs.
class flight : public operations<flight> {
 public:
  flight(const flight &) = delete;
  flight &operator=(const flight &) = delete;

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Lets every operation in flight go as far as it can without waiting.
  void progress() { detail::check(corecast_flight_progress(handle_)); }

 private:
  friend class operations<flight>;
  friend class member;
  flight(const corecast_flight_t *handle, std::size_t rank, std::size_t size)
      : handle_(handle), rank_(rank), size_(size) {}

  template <class W, class S, class... Arguments>
  request call(W, S start, Arguments... arguments) {
    corecast_request_t *handle = nullptr;
    detail::check(start(handle_, arguments..., &handle));
    return request(handle);
  }

  const corecast_flight_t *handle_;
  std::size_t rank_;
  std::size_t size_;
};

// For whom one side of an operation waits: for nobody, for the member's own data, which is what every
// operation does by itself, or for all members, by a barrier.
enum class await { no = CORECAST_AWAIT_NO, my = CORECAST_AWAIT_MY, all = CORECAST_AWAIT_ALL };

// Both sides of an operation. All members give the same.
struct synchrony {
  await before;
  await after;
};

// What an operation does by itself.
inline constexpr synchrony loose{await::my, await::my};
// All members wait for all, before and after.
inline constexpr synchrony strict{await::all, await::all};

// One rank of a team.
class member : public operations<member> {
 public:
  [[nodiscard]] std::size_t rank() const noexcept { return corecast_member_rank(handle_); }
  [[nodiscard]] std::size_t size() const noexcept { return corecast_member_size(handle_); }
  [[nodiscard]] corecast_member_t *handle() const noexcept { return handle_; }

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
  // second barrier.
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
  // this returns. What the body throws is thrown from here.
  template <class Body>
  void overlap(Body &&body) {
    struct call {
      Body &body;
      member &self;
      std::exception_ptr thrown;
    } call{body, *this, nullptr};
    const corecast_status_t status = corecast_overlap(
        handle_,
        [](const corecast_flight_t *handle, void *context) noexcept {
          auto &call = *static_cast<struct call *>(context);
          try {
            flight in_flight(handle, call.self.rank(), call.self.size());
            call.body(in_flight);
          } catch (...) {
            call.thrown = std::current_exception();
          }
        },
        &call);
    if (call.thrown) std::rethrow_exception(call.thrown);
    detail::check(status);
  }

 private:
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
