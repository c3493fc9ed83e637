// The operations of members and flights.
#ifndef CORECAST_OPERATIONS_HPP
#define CORECAST_OPERATIONS_HPP

#include "operators.hpp"

#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace corecast {

namespace detail {
template <class B>
using element_t = typename decltype(std::span{std::declval<B &>()})::element_type;
}  // namespace detail

// What can be sent: a contiguous range of trivially copyable elements.
template <class B>
concept readable = requires(B &buffer) { std::span{buffer}; } &&
                   std::is_trivially_copyable_v<std::remove_cv_t<detail::element_t<B>>>;

// What can be received into.
template <class B>
concept writable = readable<B> && !std::is_const_v<detail::element_t<B>>;

// Which part of a buffer is each rank's: counts[r] elements from displacements[r] on.
struct parts {
  std::span<const std::size_t> counts;
  std::span<const std::size_t> displacements;
};

// The operations, for members, which wait, and for flights, which give requests. In flight, buffers
// and operators outlive the call: temporaries do not compile, except views and what has no state.
template <class Self>
class operations {
 public:
  // Returns when every member has called it.
  decltype(auto) barrier() { return self().call(corecast_barrier, corecast_start_barrier); }

  // Gives root's data to every member.
  template <writable B>
  decltype(auto) broadcast(std::size_t root, B &&data) {
    lasting<B>();
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
  // function of two elements; in flight, one that captures something is a variable that outlives
  // the request.
  template <writable B, class O>
  decltype(auto) reduce(std::size_t root, B &&data, O &&op) {
    lasting<B>();
    const std::span all{data};
    return reducing<B, O>(op, corecast_reduce, corecast_start_reduce,
                       root, static_cast<void *>(all.data()), all.size());
  }

  // Combines everybody's data into everybody's.
  template <writable B, class O>
  decltype(auto) allreduce(B &&data, O &&op) {
    lasting<B>();
    const std::span all{data};
    return reducing<B, O>(op, corecast_allreduce, corecast_start_allreduce,
                       static_cast<void *>(all.data()), all.size());
  }

  // Combines the data of all ranks up to this one.
  template <writable B, class O>
  decltype(auto) scan(B &&data, O &&op) {
    lasting<B>();
    const std::span all{data};
    return reducing<B, O>(op, corecast_scan, corecast_start_scan,
                       static_cast<void *>(all.data()), all.size());
  }

  // Combines the data of all ranks before this one; that of rank 0 stays as it is.
  template <writable B, class O>
  decltype(auto) exscan(B &&data, O &&op) {
    lasting<B>();
    const std::span all{data};
    return reducing<B, O>(op, corecast_exscan, corecast_start_exscan,
                       static_cast<void *>(all.data()), all.size());
  }

  // Combines everybody's send and gives each rank its block, as block() divides them.
  template <readable S, writable R, class O>
  decltype(auto) reduce_scatter(S &&send, R &&recv, O &&op) {
    same<S, R>();
    const std::span all{send};
    const std::span own{recv};
    detail::require(own.size() == block(all.size(), self().rank()).second,
                    "reduce_scatter: `recv` needs as many elements as this rank's block");
    return reducing<S, O>(op, corecast_reduce_scatter, corecast_start_reduce_scatter,
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
    return reducing<S, O>(op, corecast_reduce_scatterv, corecast_start_reduce_scatterv,
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

  // Refuses buffers that end before an operation in flight does.
  template <class... Buffers>
  static constexpr void lasting() {
    static_assert(!Self::in_flight || ((std::is_lvalue_reference_v<Buffers> ||
                                        std::ranges::borrowed_range<Buffers>)&&...),
                  "in flight: a buffer that is a temporary ends before the operation does: give a "
                  "variable, or a span of one");
  }

  template <class S, class R>
  static void same() {
    lasting<S, R>();
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

  template <class B, class O, class Wait, class Start, class... Arguments>
  decltype(auto) reducing(std::remove_reference_t<O> &op, Wait wait, Start start,
                          Arguments... arguments) {
    static_assert(!Self::in_flight || std::is_lvalue_reference_v<O> || detail::is_handle_alone<O>,
                  "in flight: an operator that is a temporary ends before the operation does: give "
                  "a variable, or a function that captures nothing");
    using T = std::remove_cv_t<detail::element_t<B>>;
    return detail::with_operator<T>(
        op, [&](corecast_element_t element, const corecast_operator_t *handle) -> decltype(auto) {
          return self().call(wait, start, arguments..., element, handle);
        });
  }
};

}  // namespace corecast

#endif /* CORECAST_OPERATIONS_HPP */
