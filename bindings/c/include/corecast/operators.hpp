// Operators: built-in ones, and functions.
#ifndef CORECAST_OPERATORS_HPP
#define CORECAST_OPERATORS_HPP

#include "error.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace corecast {

// A built-in operator.
struct built_in {
  const corecast_operator_t *handle;
};

// Integers wrap around. Minimum and maximum are NaN if either number is. Floats have no bitwise
// operators.
inline constexpr built_in sum{CORECAST_OPERATOR_SUM};
inline constexpr built_in product{CORECAST_OPERATOR_PRODUCT};
inline constexpr built_in min{CORECAST_OPERATOR_MIN};
inline constexpr built_in max{CORECAST_OPERATOR_MAX};
inline constexpr built_in bit_and{CORECAST_OPERATOR_AND};
inline constexpr built_in bit_or{CORECAST_OPERATOR_OR};
inline constexpr built_in bit_xor{CORECAST_OPERATOR_XOR};

// A function that combines two elements and is not commutative: the order of ranks is kept.
template <class F>
struct ordered {
  F function;
  template <class T>
  T operator()(const T &a, const T &b) {
    return function(a, b);
  }
  template <class T>
    requires std::is_invocable_v<const F &, const T &, const T &>
  T operator()(const T &a, const T &b) const {
    return function(a, b);
  }
};
template <class F>
ordered(F) -> ordered<F>;

namespace detail {

template <class T>
struct no_element;

template <class T>
constexpr corecast_element_t element_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_integral_v<U> && !std::is_same_v<U, bool>) {
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (sizeof(U) == 1) return is_signed ? CORECAST_ELEMENT_I8 : CORECAST_ELEMENT_U8;
    if constexpr (sizeof(U) == 2) return is_signed ? CORECAST_ELEMENT_I16 : CORECAST_ELEMENT_U16;
    if constexpr (sizeof(U) == 4) return is_signed ? CORECAST_ELEMENT_I32 : CORECAST_ELEMENT_U32;
    if constexpr (sizeof(U) == 8) return is_signed ? CORECAST_ELEMENT_I64 : CORECAST_ELEMENT_U64;
  } else if constexpr (std::is_same_v<U, float>) {
    return CORECAST_ELEMENT_F32;
  } else if constexpr (std::is_same_v<U, double>) {
    return CORECAST_ELEMENT_F64;
  } else {
    static_assert(sizeof(no_element<U>) == 0,
                  "the built-in operators know integers, float and double: give a function");
  }
}

template <class F>
inline constexpr bool is_ordered = false;
template <class F>
inline constexpr bool is_ordered<ordered<F>> = true;

// Whether one function of this type is as good as any other: a lambda that captures nothing is.
template <class F>
inline constexpr bool is_stateless = std::is_empty_v<F> && std::is_default_constructible_v<F>;
template <class F>
inline constexpr bool is_stateless<ordered<F>> = is_stateless<F>;

// Calls a function on each pair of elements. A function that throws ends the program, as it would in
// a parallel algorithm of the standard library.
template <class T, class F>
void combine_by(F &function, void *into, const void *with, std::size_t count) noexcept {
  auto *left = static_cast<T *>(into);
  auto *right = static_cast<const T *>(with);
  for (std::size_t i = 0; i < count; ++i) left[i] = function(left[i], right[i]);
}

// corecast_combine_t of a function that is the context.
template <class T, class F>
void combine(void *into, const void *with, std::size_t count, void *context) noexcept {
  combine_by<T>(*static_cast<F *>(context), into, with, count);
}

// corecast_combine_t of a stateless function.
template <class T, class F>
void combine_stateless(void *into, const void *with, std::size_t count, void *) noexcept {
  F function{};
  combine_by<T>(function, into, with, count);
}

using operator_owner = std::unique_ptr<corecast_operator_t, free_by<corecast_operator_free>>;

// Makes an operator of a function, which must stay for as long as the operator is used.
template <class T, class F>
operator_owner make_handle(F &function) {
  using Function = std::remove_cv_t<F>;
  static_assert(std::is_trivially_copyable_v<T>, "elements are trivially copyable");
  static_assert(std::is_invocable_r_v<T, F &, const T &, const T &>,
                "an operator makes one element of two");
  static_assert(alignof(T) <= 16, "elements are aligned to at most 16 bytes");
  corecast_operator_t *handle = nullptr;
  void *context = const_cast<void *>(static_cast<const void *>(std::addressof(function)));
  corecast_combine_t combining = &combine<T, F>;
  if constexpr (is_stateless<Function>) {
    combining = &combine_stateless<T, Function>;
    context = nullptr;
  }
  check(corecast_operator_new(combining, context, sizeof(T), is_ordered<Function>, &handle));
  return operator_owner(handle);
}

}  // namespace detail

// A function as an operator that is made once for many operations: corecast::make_operator<T>(f)
// gives it. Operations take any function as it is, too; one that captures something then costs an
// allocation for each operation.
template <class T, class F>
class own_operator {
 public:
  using element = T;

  explicit own_operator(F function)
      : function_(std::move(function)), handle_(detail::make_handle<T>(function_)) {}
  own_operator(const own_operator &) = delete;
  own_operator &operator=(const own_operator &) = delete;
  ~own_operator() = default;

  [[nodiscard]] const corecast_operator_t *handle() const noexcept { return handle_.get(); }

 private:
  F function_;
  detail::operator_owner handle_;
};

template <class T, class F>
[[nodiscard]] own_operator<T, F> make_operator(F function) {
  return own_operator<T, F>(std::move(function));
}

namespace detail {
template <class O>
inline constexpr bool is_own_operator = false;
template <class T, class F>
inline constexpr bool is_own_operator<own_operator<T, F>> = true;

// Whether nothing of an operator but its handle is used after the call.
template <class O>
inline constexpr bool is_handle_alone =
    std::is_same_v<std::remove_cv_t<O>, built_in> || is_stateless<std::remove_cv_t<O>>;

// Calls use(element, handle) with what stands for an operator on elements T in corecast.h.
template <class T, class O, class Use>
decltype(auto) with_operator(O &op, Use &&use) {
  using Operator = std::remove_cv_t<O>;
  if constexpr (std::is_same_v<Operator, built_in>) {
    return use(element_of<T>(), op.handle);
  } else if constexpr (is_own_operator<Operator>) {
    static_assert(std::is_same_v<T, typename Operator::element>,
                  "the operator was made for elements of another type");
    return use(corecast_element_t{CORECAST_ELEMENT_OWN}, op.handle());
  } else if constexpr (is_stateless<Operator>) {
    // Made once, and kept: a program that ends may still be using it.
    static const corecast_operator_t *const handle = make_handle<T>(op).release();
    return use(corecast_element_t{CORECAST_ELEMENT_OWN}, handle);
  } else {
    // An operation in flight keeps what it needs of the handle.
    const operator_owner own = make_handle<T>(op);
    const corecast_operator_t *handle = own.get();
    return use(corecast_element_t{CORECAST_ELEMENT_OWN}, handle);
  }
}
}  // namespace detail

}  // namespace corecast

#endif /* CORECAST_OPERATORS_HPP */
