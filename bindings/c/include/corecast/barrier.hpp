// A barrier with the interface of std::barrier.
#ifndef CORECAST_BARRIER_HPP
#define CORECAST_BARRIER_HPP

#include "error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace corecast {

namespace detail {
struct nothing {
  void operator()() const noexcept {}
};
}  // namespace detail

// std::barrier by another name: a program changes `std::barrier` to `corecast::barrier`. Any thread
// may come; the last one of each phase runs the completion before anybody goes on. More arrivals
// than are missing, which std::barrier leaves undefined, are a corecast::error.
template <class CompletionFunction = detail::nothing>
class barrier {
  static_assert(std::is_nothrow_invocable_v<CompletionFunction &>,
                "the completion of a barrier must not throw: declare it noexcept");

 public:
  // The phase in which a thread has arrived.
  class arrival_token {
   public:
    arrival_token(arrival_token &&) noexcept = default;
    arrival_token &operator=(arrival_token &&) noexcept = default;
    ~arrival_token() = default;

   private:
    friend class barrier;
    explicit arrival_token(corecast_phase_t phase) noexcept : phase_(phase) {}
    corecast_phase_t phase_;
  };

  [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept {
    return std::numeric_limits<std::int32_t>::max();
  }

  explicit barrier(std::ptrdiff_t expected,
                   CompletionFunction completion = CompletionFunction())
      : completion_(std::move(completion)) {
    corecast_completion_t complete = nullptr;
    if constexpr (!std::is_same_v<CompletionFunction, detail::nothing>) {
      complete = [](void *context) noexcept {
        std::invoke(*static_cast<CompletionFunction *>(context));
      };
    }
    corecast_barrier_t *handle = nullptr;
    detail::check(corecast_barrier_new(static_cast<std::size_t>(expected), nullptr, complete,
                                       std::addressof(completion_), &handle));
    handle_.reset(handle);
  }

  barrier(const barrier &) = delete;
  barrier &operator=(const barrier &) = delete;
  ~barrier() = default;

  [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1) {
    corecast_phase_t phase = 0;
    detail::check(
        corecast_barrier_arrive(handle_.get(), static_cast<std::size_t>(update), &phase));
    return arrival_token(phase);
  }

  void wait(arrival_token &&arrival) const {
    detail::check(corecast_barrier_wait(handle_.get(), arrival.phase_));
  }

  void arrive_and_wait() { detail::check(corecast_barrier_arrive_and_wait(handle_.get())); }

  void arrive_and_drop() { detail::check(corecast_barrier_arrive_and_drop(handle_.get())); }

 private:
  CompletionFunction completion_;
  std::unique_ptr<corecast_barrier_t, detail::free_by<corecast_barrier_free>> handle_;
};

}  // namespace corecast

#endif /* CORECAST_BARRIER_HPP */
