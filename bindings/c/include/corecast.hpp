/*
 * Corecast for C++20: corecast.h with owners, spans, templates and exceptions.
 *
 *   corecast::team team(4);
 *   team.run([](corecast::member &member) {
 *     std::vector<double> data(100, 1.0);
 *     member.allreduce(data, corecast::sum);
 *   });
 *
 * Elements are of any trivially copyable type. Whatever goes wrong is a
 * corecast::error, whose what() quotes the input and says the way out.
 *
 * Threads: as in corecast.h. A member belongs to one thread at a time; a team
 * and a barrier to any.
 */
#ifndef CORECAST_HPP
#define CORECAST_HPP

#include "corecast.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace corecast {

// What a call that did not do what it was asked for throws.
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

template <class B>
using element_t = typename decltype(std::span{std::declval<B &>()})::element_type;

template <auto Free>
struct free_by {
  template <class Handle>
  void operator()(Handle *handle) const noexcept {
    static_cast<void>(Free(handle));
  }
};

// Calls F on each pair of elements. An F that throws ends the program, as it would in a parallel
// algorithm of the standard library.
template <class T, class F>
void combine(void *into, const void *with, std::size_t count, void *context) noexcept {
  auto *left = static_cast<T *>(into);
  auto *right = static_cast<const T *>(with);
  auto &function = *static_cast<F *>(context);
  for (std::size_t i = 0; i < count; ++i) left[i] = function(left[i], right[i]);
}

}  // namespace detail

// What can be sent: a contiguous range of trivially copyable elements.
template <class B>
concept readable = requires(B &buffer) { std::span{buffer}; } &&
                   std::is_trivially_copyable_v<std::remove_cv_t<detail::element_t<B>>>;

// What can be received into.
template <class B>
concept writable = readable<B> && !std::is_const_v<detail::element_t<B>>;

// A built-in operator.
struct named {
  corecast_operator_t code;
};

inline constexpr named sum{CORECAST_OPERATOR_SUM};
inline constexpr named product{CORECAST_OPERATOR_PRODUCT};
inline constexpr named min{CORECAST_OPERATOR_MIN};
inline constexpr named max{CORECAST_OPERATOR_MAX};
inline constexpr named bit_and{CORECAST_OPERATOR_AND};
inline constexpr named bit_or{CORECAST_OPERATOR_OR};
inline constexpr named bit_xor{CORECAST_OPERATOR_XOR};

// A function that combines two elements and is not commutative: the order of ranks is kept.
template <class F>
struct ordered {
  F function;
  template <class T>
  T operator()(const T &a, const T &b) {
    return function(a, b);
  }
};
template <class F>
ordered(F) -> ordered<F>;

namespace detail {
template <class F>
inline constexpr bool is_ordered = false;
template <class F>
inline constexpr bool is_ordered<ordered<F>> = true;
}  // namespace detail

// Which part of a buffer is each rank's: counts[r] elements from displacements[r] on.
struct parts {
  std::span<const std::size_t> counts;
  std::span<const std::size_t> displacements;
};

// The operations, for members, which wait, and for flights, which give requests.
template <class Self>
class operations {
 public:
  // Returns when every member has called it.
  decltype(auto) barrier() { return self().call(corecast_barrier, corecast_start_barrier); }

  // Gives root's data to every member.
  template <writable B>
  decltype(auto) broadcast(std::size_t root, B &&data) {
    const std::span all{data};
    return self().call(corecast_broadcast, corecast_start_broadcast, root,
                       static_cast<void *>(all.data()), all.size_bytes());
  }

  // Gives each rank its part of root's send. Other ranks may give an empty one.
  template <readable S, writable R>
  decltype(auto) scatter(std::size_t root, S &&send, R &&recv) {
    same<S, R>();
    const std::span all{send};
    const std::span own{recv};
    detail::require(self().rank() != root || all.size() == own.size() * self().size(),
                    "scatter: `send` needs as many elements as all `recv` together");
    return self().call(corecast_scatter, corecast_start_scatter, root,
                       static_cast<const void *>(all.data()), static_cast<void *>(own.data()),
                       own.size_bytes());
  }

  // Gives everybody's send to root's recv, in rank order. Other ranks may give an empty one.
  template <readable S, writable R>
  decltype(auto) gather(std::size_t root, S &&send, R &&recv) {
    same<S, R>();
    const std::span own{send};
    const std::span all{recv};
    detail::require(self().rank() != root || all.size() == own.size() * self().size(),
                    "gather: `recv` needs as many elements as all `send` together");
    return self().call(corecast_gather, corecast_start_gather, root,
                       static_cast<const void *>(own.data()), static_cast<void *>(all.data()),
                       own.size_bytes());
  }

  // Gives everybody's send to everybody's recv, in rank order.
  template <readable S, writable R>
  decltype(auto) allgather(S &&send, R &&recv) {
    same<S, R>();
    const std::span own{send};
    const std::span all{recv};
    detail::require(all.size() == own.size() * self().size(),
                    "allgather: `recv` needs as many elements as all `send` together");
    return self().call(corecast_allgather, corecast_start_allgather,
                       static_cast<const void *>(own.data()), static_cast<void *>(all.data()),
                       own.size_bytes());
  }

  // Part r of recv is what rank r has sent.
  template <readable S, writable R>
  decltype(auto) alltoall(S &&send, R &&recv) {
    same<S, R>();
    const std::span from{send};
    const std::span to{recv};
    detail::require(from.size() == to.size() && from.size() % self().size() == 0,
                    "alltoall: `send` and `recv` need as many elements, one part for each rank");
    return self().call(corecast_alltoall, corecast_start_alltoall,
                       static_cast<const void *>(from.data()), static_cast<void *>(to.data()),
                       from.size_bytes() / self().size());
  }

  // scatter of parts of any lengths; root alone gives send and its parts.
  template <readable S, writable R>
  decltype(auto) scatterv(std::size_t root, S &&send, parts from, R &&recv) {
    same<S, R>();
    const std::span all{send};
    const std::span own{recv};
    if (self().rank() == root) within(from, all.size());
    return self().call(corecast_scatterv, corecast_start_scatterv, root,
                       static_cast<const void *>(all.data()), from.counts.data(),
                       from.displacements.data(), static_cast<void *>(own.data()), own.size(),
                       sizeof(own[0]));
  }

  // gather of parts of any lengths; root alone gives recv and its parts.
  template <readable S, writable R>
  decltype(auto) gatherv(std::size_t root, S &&send, R &&recv, parts to) {
    same<S, R>();
    const std::span own{send};
    const std::span all{recv};
    if (self().rank() == root) within(to, all.size());
    return self().call(corecast_gatherv, corecast_start_gatherv, root,
                       static_cast<const void *>(own.data()), own.size(),
                       static_cast<void *>(all.data()), to.counts.data(),
                       to.displacements.data(), sizeof(own[0]));
  }

  // allgather of parts of any lengths.
  template <readable S, writable R>
  decltype(auto) allgatherv(S &&send, R &&recv, parts to) {
    same<S, R>();
    const std::span own{send};
    const std::span all{recv};
    within(to, all.size());
    return self().call(corecast_allgatherv, corecast_start_allgatherv,
                       static_cast<const void *>(own.data()), own.size(),
                       static_cast<void *>(all.data()), to.counts.data(),
                       to.displacements.data(), sizeof(own[0]));
  }

  // alltoall of parts of any lengths.
  template <readable S, writable R>
  decltype(auto) alltoallv(S &&send, parts give, R &&recv, parts take) {
    same<S, R>();
    const std::span from{send};
    const std::span to{recv};
    within(give, from.size());
    within(take, to.size());
    return self().call(corecast_alltoallv, corecast_start_alltoallv,
                       static_cast<const void *>(from.data()), give.counts.data(),
                       give.displacements.data(), static_cast<void *>(to.data()),
                       take.counts.data(), take.displacements.data(), sizeof(from[0]));
  }

  // Combines everybody's data into root's. The operator is corecast::sum and its siblings, or a
  // function of two elements; in flight the function must stay until the operation has ended.
  template <writable B, class O>
  decltype(auto) reduce(std::size_t root, B &&data, O &&op) {
    const std::span all{data};
    return reducing<B>(op, corecast_reduce, corecast_start_reduce, corecast_reduce_with,
                       corecast_start_reduce_with, root, static_cast<void *>(all.data()),
                       all.size());
  }

  // Combines everybody's data into everybody's.
  template <writable B, class O>
  decltype(auto) allreduce(B &&data, O &&op) {
    const std::span all{data};
    return reducing<B>(op, corecast_allreduce, corecast_start_allreduce, corecast_allreduce_with,
                       corecast_start_allreduce_with, static_cast<void *>(all.data()),
                       all.size());
  }

  // Combines the data of all ranks up to this one.
  template <writable B, class O>
  decltype(auto) scan(B &&data, O &&op) {
    const std::span all{data};
    return reducing<B>(op, corecast_scan, corecast_start_scan, corecast_scan_with,
                       corecast_start_scan_with, static_cast<void *>(all.data()), all.size());
  }

  // Combines the data of all ranks before this one; that of rank 0 stays as it is.
  template <writable B, class O>
  decltype(auto) exscan(B &&data, O &&op) {
    const std::span all{data};
    return reducing<B>(op, corecast_exscan, corecast_start_exscan, corecast_exscan_with,
                       corecast_start_exscan_with, static_cast<void *>(all.data()), all.size());
  }

  // Combines everybody's send and gives each rank its block, as block() divides them.
  template <readable S, writable R, class O>
  decltype(auto) reduce_scatter(S &&send, R &&recv, O &&op) {
    same<S, R>();
    const std::span all{send};
    const std::span own{recv};
    detail::require(own.size() == block(all.size(), self().rank()).second,
                    "reduce_scatter: `recv` needs as many elements as this rank's block");
    return reducing<S>(op, corecast_reduce_scatter, corecast_start_reduce_scatter,
                       corecast_reduce_scatter_with, corecast_start_reduce_scatter_with,
                       static_cast<const void *>(all.data()), all.size(),
                       static_cast<void *>(own.data()));
  }

  // reduce_scatter in blocks of any lengths, one after another.
  template <readable S, writable R, class O>
  decltype(auto) reduce_scatterv(S &&send, std::span<const std::size_t> counts, R &&recv, O &&op) {
    same<S, R>();
    const std::span all{send};
    const std::span own{recv};
    std::size_t total = 0;
    for (const std::size_t count : counts) total += count;
    detail::require(counts.size() == self().size() && total == all.size() &&
                        own.size() == counts[self().rank()],
                    "reduce_scatterv: one count for each rank, `send` as long as all of them, "
                    "`recv` as this rank's");
    return reducing<S>(op, corecast_reduce_scatterv, corecast_start_reduce_scatterv,
                       corecast_reduce_scatterv_with, corecast_start_reduce_scatterv_with,
                       static_cast<const void *>(all.data()), counts.data(),
                       static_cast<void *>(own.data()));
  }

  // Where the block of a rank begins among so many elements, and how many it has.
  [[nodiscard]] std::pair<std::size_t, std::size_t> block(std::size_t count,
                                                          std::size_t rank) const {
    std::size_t begin = 0;
    std::size_t length = 0;
    detail::check(corecast_block(count, static_cast<const Self &>(*this).size(), rank, &begin,
                                 &length));
    return {begin, length};
  }

 private:
  Self &self() { return static_cast<Self &>(*this); }

  template <class S, class R>
  static void same() {
    static_assert(std::is_same_v<std::remove_cv_t<detail::element_t<S>>,
                                 std::remove_cv_t<detail::element_t<R>>>,
                  "`send` and `recv` have elements of two types");
  }

  void within(parts of, std::size_t length) {
    detail::require(
        of.counts.size() == self().size() && of.displacements.size() == self().size(),
        "parts: one count and one displacement for each rank");
    for (std::size_t rank = 0; rank < of.counts.size(); ++rank) {
      const std::size_t count = of.counts[rank];
      detail::require(count == 0 || (of.displacements[rank] <= length &&
                                     count <= length - of.displacements[rank]),
                      "parts: one of them is not within its buffer");
    }
  }

  template <class B, class O, class W, class SW, class O1, class S1, class... Arguments>
  decltype(auto) reducing(O &op, W wait, SW start, O1 wait_with, S1 start_with,
                          Arguments... arguments) {
    using T = std::remove_cv_t<detail::element_t<B>>;
    if constexpr (std::is_same_v<std::remove_cv_t<O>, named>) {
      return self().call(wait, start, arguments..., detail::element_of<T>(), op.code);
    } else {
      static_assert(std::is_invocable_r_v<T, O &, const T &, const T &>,
                    "an operator makes one element of two");
      static_assert(alignof(T) <= 16, "elements are aligned to at most 16 bytes");
      using F = std::remove_cv_t<O>;
      const corecast_own_operator_t own{&detail::combine<T, O>,
                                        const_cast<void *>(static_cast<const void *>(
                                            std::addressof(op))),
                                        sizeof(T), detail::is_ordered<F>};
      return self().call(wait_with, start_with, arguments..., &own);
    }
  }
};

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

// A member whose operations are in flight: what the body of member::overlap gets.
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

// A team of threads, in this process or in several.
class team {
 public:
  // A team of so many threads of this process, everything chosen by Corecast.
  explicit team(std::size_t ranks) {
    corecast_team_t *handle = nullptr;
    detail::check(corecast_team_new(ranks, &handle));
    handle_.reset(handle);
  }

  // Owns a handle of corecast.h.
  [[nodiscard]] static team of(corecast_team_t *handle) noexcept { return team(handle, owned{}); }

  [[nodiscard]] std::size_t size() const noexcept { return corecast_team_size(handle()); }
  [[nodiscard]] corecast_team_t *handle() const noexcept { return handle_.get(); }

  // The ranks of this process.
  [[nodiscard]] std::vector<std::size_t> ranks() const {
    std::vector<std::size_t> all(size());
    std::size_t count = 0;
    detail::check(corecast_team_ranks(handle(), all.data(), all.size(), &count));
    all.resize(count);
    return all;
  }

  // Runs body(member) as every rank of this process, each on a thread of its own. Throws what the
  // first body to throw has thrown.
  template <class Body>
  void run(Body &&body) {
    struct call {
      Body &body;
      std::mutex lock;
      std::exception_ptr thrown;
    } call{body, {}, nullptr};
    const corecast_status_t status = corecast_team_run(
        handle(),
        [](corecast_member_t *handle, void *context) noexcept {
          auto &call = *static_cast<struct call *>(context);
          try {
            member lent(handle);
            call.body(lent);
          } catch (...) {
            const std::lock_guard guard(call.lock);
            if (!call.thrown) call.thrown = std::current_exception();
          }
        },
        &call);
    if (call.thrown) std::rethrow_exception(call.thrown);
    detail::check(status);
  }

  // Becomes a member, for those who bring their own threads. Each rank can be joined once.
  [[nodiscard]] member join(std::size_t rank) const {
    corecast_member_t *handle = nullptr;
    detail::check(corecast_team_join(this->handle(), rank, &handle));
    return member(member::owner(handle));
  }

  // Pins the calling thread to the PU of a rank, where the team pins; says whether it is held there.
  bool pin_here(std::size_t rank) const {
    bool pinned = false;
    detail::check(corecast_team_pin_here(handle(), rank, &pinned));
    return pinned;
  }

  // What runs, where, and why.
  [[nodiscard]] std::string explain() const {
    std::size_t length = 0;
    detail::check(corecast_team_explain(handle(), nullptr, 0, &length));
    std::string text(length + 1, '\0');
    detail::check(corecast_team_explain(handle(), text.data(), text.size(), &length));
    // It may have been another text meanwhile: up to its end, as far as there was room.
    text.resize(std::char_traits<char>::length(text.c_str()));
    return text;
  }

 private:
  struct owned {};
  team(corecast_team_t *handle, owned) noexcept : handle_(handle) {}

  std::unique_ptr<corecast_team_t, detail::free_by<corecast_team_free>> handle_;
};

// Makes teams in a particular way: corecast::builder().threads(4).wait("park").build().
class builder {
 public:
  builder() {
    corecast_builder_t *handle = nullptr;
    detail::check(corecast_builder_new(&handle));
    handle_.reset(handle);
  }

  builder &threads(std::size_t ranks) { return tell(corecast_builder_threads, ranks); }
  builder &cores(const std::string &list) { return tell(corecast_builder_cores, list.c_str()); }
  builder &machine_file(const std::string &path) {
    return tell(corecast_builder_machine_file, path.c_str());
  }
  builder &profile_folder(const std::string &folder) {
    return tell(corecast_builder_profile_folder, folder.c_str());
  }
  builder &pattern(const std::string &name) {
    return tell(corecast_builder_pattern, name.c_str());
  }
  builder &algorithms(const std::string &text) {
    return tell(corecast_builder_algorithms, text.c_str());
  }
  builder &root(std::size_t rank) { return tell(corecast_builder_root, rank); }
  builder &pin(bool pin) { return tell(corecast_builder_pin, pin); }
  builder &wait(const std::string &word) { return tell(corecast_builder_wait, word.c_str()); }
  builder &policy(std::uint32_t spin_ns, std::uint32_t yield_ns, bool park) {
    return tell(corecast_builder_policy, spin_ns, yield_ns, park);
  }
  builder &patience(std::uint64_t ns) { return tell(corecast_builder_patience, ns); }
  builder &join_limit(std::uint64_t ns) { return tell(corecast_builder_join_limit, ns); }
  builder &deterministic(bool on) { return tell(corecast_builder_deterministic, on); }
  builder &depth(std::size_t operations) { return tell(corecast_builder_depth, operations); }
  builder &backend(const std::string &name) {
    return tell(corecast_builder_backend, name.c_str());
  }
  builder &slots(std::size_t slots) { return tell(corecast_builder_slots, slots); }
  builder &start(const std::string &word) { return tell(corecast_builder_start, word.c_str()); }

  // A team of threads of this process.
  [[nodiscard]] team build() const {
    corecast_team_t *made = nullptr;
    detail::check(corecast_builder_build(handle_.get(), &made));
    return team::of(made);
  }

  // A team with other processes that meet at the address: see corecast_builder_enter.
  [[nodiscard]] team enter(const std::string &address, std::size_t size,
                           std::span<const std::size_t> ranks) const {
    corecast_team_t *made = nullptr;
    detail::check(corecast_builder_enter(handle_.get(), address.c_str(), size, ranks.data(),
                                         ranks.size(), &made));
    return team::of(made);
  }

  // The same with so many ranks, whichever they are.
  [[nodiscard]] team enter(const std::string &address, std::size_t size,
                           std::size_t count = 1) const {
    corecast_team_t *made = nullptr;
    detail::check(corecast_builder_enter(handle_.get(), address.c_str(), size, nullptr, count,
                                         &made));
    return team::of(made);
  }

 private:
  template <class F, class... Arguments>
  builder &tell(F function, Arguments... arguments) {
    detail::check(function(handle_.get(), arguments...));
    return *this;
  }

  std::unique_ptr<corecast_builder_t, detail::free_by<corecast_builder_free>> handle_;
};

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

#endif /* CORECAST_HPP */
