// Operations in flight and their requests.
#ifndef CORECAST_FLIGHT_HPP
#define CORECAST_FLIGHT_HPP

#include "operations.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace corecast {

class flight;

// An operation in flight. Its destructor waits until the operation has ended, also when the body of
// member::overlap throws: so buffers and operators are declared before the requests that use them.
// It belongs to the thread of the body. After the body it refers to no operation.
class [[nodiscard]] request {
 public:
  request(request &&other) noexcept { take(other); }
  request &operator=(request &&other) noexcept {
    if (this != &other) {
      end();
      take(other);
    }
    return *this;
  }
  ~request() { end(); }

  // Whether it has ended. Lets all in flight go as far as they can.
  [[nodiscard]] bool test() {
    bool done = false;
    detail::check(corecast_request_test(handle_, &done));
    return done;
  }

  // Waits until it has ended. Once.
  void wait() { detail::check(corecast_request_wait(std::exchange(handle_, nullptr))); }

  // Lets it go on without this request, until the body of member::overlap has ended. Buffer and
  // operator have to outlive that, also if the body throws: they belong outside of it.
  void detach() noexcept { handle_ = nullptr; }

 private:
  friend class flight;
  request(flight &of, corecast_request_t *handle) noexcept;

  inline void take(request &other) noexcept;
  inline void end() noexcept;

  // The requests of a flight are a list, so that it can end those that outlive it.
  flight *flight_ = nullptr;
  request *next_ = nullptr;
  request **link_ = nullptr;
  corecast_request_t *handle_ = nullptr;
};

// For whom one side of an operation waits: for nobody, for the member's own data, which is what every
// operation that waits does by itself, or for all members, by a barrier.
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

// A member whose operations are in flight, for as long as the body of member::overlap runs.
class flight : public operations<flight> {
 public:
  flight(const flight &) = delete;
  flight &operator=(const flight &) = delete;

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Lets every operation in flight go as far as it can without waiting.
  void progress() { detail::check(corecast_flight_progress(handle_)); }

  // Runs body(flight), which starts one operation or several, with this waiting around them, and
  // returns what the body returns. With await::no after it, it waits for nobody: a request that the
  // body returns waits when it is destroyed, one that the body detaches when the overlap ends. See
  // corecast_flight_synced. After a body that throws nothing waits.
  template <class Body>
  auto synced(synchrony sync, Body &&body) {
    using result = std::invoke_result_t<Body &, flight &>;
    using kept = std::conditional_t<std::is_void_v<result>, bool, std::optional<result>>;
    struct call {
      Body &body;
      flight &self;
      kept value{};
      std::exception_ptr thrown;
    } call{body, *this, {}, nullptr};
    const corecast_status_t status = corecast_flight_synced(
        handle_, static_cast<corecast_await_t>(sync.before),
        static_cast<corecast_await_t>(sync.after),
        [](const corecast_flight_t *, void *context) noexcept -> corecast_status_t {
          auto &call = *static_cast<struct call *>(context);
          try {
            if constexpr (std::is_void_v<result>) {
              std::invoke(call.body, call.self);
            } else {
              call.value.emplace(std::invoke(call.body, call.self));
            }
            return CORECAST_STATUS_OK;
          } catch (...) {
            call.thrown = std::current_exception();
            return CORECAST_STATUS_INVALID;
          }
        },
        &call);
    if (call.thrown) std::rethrow_exception(call.thrown);
    detail::check(status);
    if constexpr (!std::is_void_v<result>) return std::move(*call.value);
  }

 private:
  friend class operations<flight>;
  friend class member;
  friend class request;
  static constexpr bool in_flight = true;

  flight(const corecast_flight_t *handle, std::size_t rank, std::size_t size)
      : handle_(handle), rank_(rank), size_(size) {}

  template <class W, class S, class... Arguments>
  request call(W, S start, Arguments... arguments) {
    corecast_request_t *handle = nullptr;
    detail::check(start(handle_, arguments..., &handle));
    return request(*this, handle);
  }

  // Takes the operations from requests that outlive the body. corecast_overlap waits for them.
  ~flight() {
    while (requests_ != nullptr) {
      request &first = *requests_;
      requests_ = first.next_;
      first.flight_ = nullptr;
      first.handle_ = nullptr;
    }
  }

  const corecast_flight_t *handle_;
  std::size_t rank_;
  std::size_t size_;
  request *requests_ = nullptr;
  // The first failure that a destructor of a request was told.
  std::exception_ptr failure_;
};

inline request::request(flight &of, corecast_request_t *handle) noexcept
    : flight_(&of), next_(of.requests_), link_(&of.requests_), handle_(handle) {
  if (next_ != nullptr) next_->link_ = &next_;
  of.requests_ = this;
}

// Takes the place of `other` in the list. This request is in none.
void request::take(request &other) noexcept {
  flight_ = std::exchange(other.flight_, nullptr);
  handle_ = std::exchange(other.handle_, nullptr);
  if (flight_ == nullptr) return;
  next_ = other.next_;
  link_ = other.link_;
  *link_ = this;
  if (next_ != nullptr) next_->link_ = &next_;
}

// Waits, and leaves the list.
void request::end() noexcept {
  if (flight_ == nullptr) return;
  if (handle_ != nullptr) {
    const corecast_status_t status = corecast_request_wait(std::exchange(handle_, nullptr));
    if (status != CORECAST_STATUS_OK && !flight_->failure_) {
      flight_->failure_ = std::make_exception_ptr(error(status, corecast_error_message()));
    }
  }
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
  flight_ = nullptr;
}

}  // namespace corecast

#endif /* CORECAST_FLIGHT_HPP */
