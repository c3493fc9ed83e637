// Errors as exceptions, and handles as owners.
#ifndef CORECAST_ERROR_HPP
#define CORECAST_ERROR_HPP

#include "../corecast.h"

#include <stdexcept>
#include <string>

namespace corecast {

// What every function throws that did not do what it was asked for.
class error : public std::runtime_error {
 public:
  error(corecast_status_t status, const std::string &text)
      : std::runtime_error(text), status_(status) {}

  [[nodiscard]] corecast_status_t status() const noexcept { return status_; }

 private:
  corecast_status_t status_;
};

namespace detail {

inline void check(corecast_status_t status) {
  if (status != CORECAST_STATUS_OK) [[unlikely]] throw error(status, corecast_error_message());
}

inline void require(bool holds, const char *text) {
  if (!holds) [[unlikely]] throw error(CORECAST_STATUS_INVALID, text);
}

// Frees a handle by a function of corecast.h.
template <auto Free>
struct free_by {
  template <class Handle>
  void operator()(Handle *handle) const noexcept {
    static_cast<void>(Free(handle));
  }
};

}  // namespace detail

}  // namespace corecast

#endif /* CORECAST_ERROR_HPP */
