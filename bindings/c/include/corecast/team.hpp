// Teams and what makes them.
#ifndef CORECAST_TEAM_HPP
#define CORECAST_TEAM_HPP

#include "member.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace corecast {

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

  // The team of those ranks that go on: all but `leaving`, which are of this process, and those that were lost. Every process
  // that lives calls it, after its members have left. Writes to `completed` how many operations have completed on all of them.
  [[nodiscard]] team without(std::span<const std::size_t> leaving = {}, std::uint64_t *completed = nullptr) const {
    corecast_team_t *next = nullptr;
    detail::check(corecast_team_without(handle(), leaving.data(), leaving.size(), &next, completed));
    return of(next);
  }

  // A team with as many ranks, in which others take the places of those that were lost.
  [[nodiscard]] team refilled(std::uint64_t *completed = nullptr) const {
    corecast_team_t *next = nullptr;
    detail::check(corecast_team_refilled(handle(), &next, completed));
    return of(next);
  }

  // Runs body(member) as every rank of this process, each on a thread of its own, and can be called again. Throws
  // what the first body to throw has thrown.
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

  // Becomes a member, for those who bring their own threads. Each rank can be joined once. The team
  // outlives its members, so it is no temporary.
  [[nodiscard]] member join(std::size_t rank) const & {
    corecast_member_t *handle = nullptr;
    detail::check(corecast_team_join(this->handle(), rank, &handle));
    return member(member::owner(handle));
  }
  member join(std::size_t rank) const && = delete;

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
  // Whether the team learns while it runs which algorithms are fastest.
  builder &learn(bool learn) { return tell(corecast_builder_learn, learn); }
  // Bytes of addresses for the buffers that member::alloc makes for each rank.
  builder &symmetric(std::size_t bytes) { return tell(corecast_builder_symmetric, bytes); }
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

  // As above, with `count` ranks of this process, whichever are free.
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

}  // namespace corecast

#endif /* CORECAST_TEAM_HPP */
