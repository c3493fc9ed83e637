// Symmetric memory.
#ifndef CORECAST_SYMMETRIC_HPP
#define CORECAST_SYMMETRIC_HPP

#include "error.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace corecast {

// Elements that all processes of a team see. They outlive their member and its team.
template <class T>
class symmetric_buffer {
 public:
  [[nodiscard]] std::span<T> span() const noexcept { return {own_.get(), size_}; }
  [[nodiscard]] T *data() const noexcept { return own_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T &operator[](std::size_t index) const noexcept { return own_.get()[index]; }
  [[nodiscard]] T *begin() const noexcept { return own_.get(); }
  [[nodiscard]] T *end() const noexcept { return own_.get() + size_; }

 private:
  friend class member;
  symmetric_buffer(T *memory, std::size_t size) : own_(memory), size_(size) {}

  std::unique_ptr<T, detail::free_by<corecast_free>> own_;
  std::size_t size_;
};

}  // namespace corecast

#endif /* CORECAST_SYMMETRIC_HPP */
