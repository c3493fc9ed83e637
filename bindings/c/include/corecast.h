/*
 * Corecast: communication between the cores of one machine.
 *
 * A team has one member per rank. Members call the same operations in the same
 * order; whoever does otherwise gets an error, and so does everybody who waits
 * for it. Every function that can fail returns a corecast_status_t and says why
 * in words: corecast_error_message(). No panic and no exception leaves Corecast.
 *
 * Threads: each function says who may call it.
 *   any          any thread, at any time, also several at once
 *   one          one thread at a time may use this handle
 *
 * A member that is used by two threads at once, or by its own operator, gets
 * CORECAST_STATUS_BUSY where that can be told.
 *
 * Written by cbindgen from bindings/c/src; do not edit.
 */

#ifndef CORECAST_H
#define CORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Any rank, among those that a process wishes for in `corecast_builder_enter`.
#define CORECAST_ANY_RANK SIZE_MAX

// How a call went. The text of `corecast_error_message()` says more.
typedef enum corecast_status {
  // It went well.
  CORECAST_STATUS_OK = 0,
  // An argument cannot be: NULL, a length, a root, a number or a word. Nothing was done, and the
  // team is as it was.
  CORECAST_STATUS_INVALID = 1,
  // Another thread is using this handle at this moment, or the member's own operator is. Nothing
  // was done.
  CORECAST_STATUS_BUSY = 2,
  // The team could not be made.
  CORECAST_STATUS_UNBUILDABLE = 3,
  // The processes did not become one team.
  CORECAST_STATUS_NOT_MET = 4,
  // The rank could not be joined.
  CORECAST_STATUS_NOT_JOINED = 5,
  // Two members are in different operations, or gave different roots. The team is done for.
  CORECAST_STATUS_MISMATCH = 6,
  // Two members gave different lengths. The team is done for.
  CORECAST_STATUS_LENGTH = 7,
  // A process has overwritten the team's memory. The team is done for.
  CORECAST_STATUS_SPOILT = 8,
  // A member has left, or died, while others wait for it. The team is done for.
  CORECAST_STATUS_PEER_LOST = 9,
  // This process was forked from the one that joined.
  CORECAST_STATUS_FORKED = 10,
  // Nobody has joined as a rank that is waited for. The team is done for.
  CORECAST_STATUS_NEVER_JOINED = 11,
  // A member takes longer than the limit that was set. The team is done for.
  CORECAST_STATUS_STALLED = 12,
  // Operations in flight cannot be had: no depth, or no memory.
  CORECAST_STATUS_NO_FLIGHT = 13,
  // The member has left its team, by a panic of Corecast that was caught before.
  CORECAST_STATUS_LEFT = 14,
  // Corecast panicked; a member that was in use has left its team.
  CORECAST_STATUS_PANICKED = 15,
  // The system refused memory or a thread, or something else that has no status of its own.
  CORECAST_STATUS_FAILED = 16,
} corecast_status;

// Types of elements that the built-in operators know.
typedef enum corecast_element {
  // `uint8_t`
  CORECAST_ELEMENT_U8 = 0,
  // `uint16_t`
  CORECAST_ELEMENT_U16 = 1,
  // `uint32_t`
  CORECAST_ELEMENT_U32 = 2,
  // `uint64_t`
  CORECAST_ELEMENT_U64 = 3,
  // `unsigned __int128`
  CORECAST_ELEMENT_U128 = 4,
  // `int8_t`
  CORECAST_ELEMENT_I8 = 5,
  // `int16_t`
  CORECAST_ELEMENT_I16 = 6,
  // `int32_t`
  CORECAST_ELEMENT_I32 = 7,
  // `int64_t`
  CORECAST_ELEMENT_I64 = 8,
  // `__int128`
  CORECAST_ELEMENT_I128 = 9,
  // IEEE 754's binary16, such as `_Float16`.
  CORECAST_ELEMENT_F16 = 10,
  // The upper half of a `float`.
  CORECAST_ELEMENT_BF16 = 11,
  // `float`
  CORECAST_ELEMENT_F32 = 12,
  // `double`
  CORECAST_ELEMENT_F64 = 13,
} corecast_element;

// The built-in operators. Integers wrap around; floats have no bitwise ones.
typedef enum corecast_operator {
  // a + b
  CORECAST_OPERATOR_SUM = 0,
  // a · b
  CORECAST_OPERATOR_PRODUCT = 1,
  // The smaller one; NaN if either is, and -0 below +0.
  CORECAST_OPERATOR_MIN = 2,
  // The larger one; NaN if either is, and -0 below +0.
  CORECAST_OPERATOR_MAX = 3,
  // a & b
  CORECAST_OPERATOR_AND = 4,
  // a | b
  CORECAST_OPERATOR_OR = 5,
  // a ^ b
  CORECAST_OPERATOR_XOR = 6,
} corecast_operator;

// A barrier of threads that need no rank: any thread may come, and the number that is expected may
// shrink, as with C++20's `std::barrier`. Members of a team have `corecast_barrier`.
typedef struct corecast_barrier_t corecast_barrier_t;

// Makes teams. Whatever is not said is found out: the machine, its costs, the plans. What was said
// stays: one builder can make several teams.
typedef struct corecast_builder_t corecast_builder_t;

// A member whose operations are in flight, for as long as the body of `corecast_overlap` runs. Only the
// thread of the body may use it.
typedef struct corecast_flight_t corecast_flight_t;

// A rank of a team. One thread at a time may use it. Freeing it means leaving: whoever waits for it
// fails.
typedef struct corecast_member_t corecast_member_t;

// An operation in flight. It is given back by `corecast_request_wait`, or when the body returns.
typedef struct corecast_request_t corecast_request_t;

// A team of threads, in this process or in several. Free its members before it.
typedef struct corecast_team_t corecast_team_t;

// What functions return.
typedef enum corecast_status corecast_status_t;

// What the last thread of a phase runs before anybody goes on. It must not unwind: no exception, no
// `longjmp`; nor use the barrier.
//
// The caller sees to it that
// `context` is what `corecast_barrier_new` was given.
typedef void (*corecast_completion_t)(void *context);

// The phase in which a thread has arrived.
typedef uint32_t corecast_phase_t;

// What a member does while operations of its are in flight. It must not unwind: no exception, no
// `longjmp`.
//
// The caller sees to it that
// `flight` is lent for as long as this runs; `context` is what `corecast_overlap` was given.
typedef void (*corecast_flight_body_t)(const struct corecast_flight_t *flight,
                                       void *context);

// A `corecast_element`.
typedef int32_t corecast_element_t;

// A `corecast_operator`.
typedef int32_t corecast_operator_t;

// Combines arrays element by element: `into[i] = into[i] ∘ with[i]` for `count` elements, of which
// those of `with` come from higher ranks. It may be called with any pieces of the data, on the
// threads of any members, several at once. It must not unwind: no exception, no `longjmp`.
//
// The caller sees to it that
// Both arrays have `count` elements, and do not overlap.
typedef void (*corecast_combine_t)(void *into,
                                   const void *with,
                                   size_t count,
                                   void *context);

// An operator of one's own: an associative function. All members give the same one.
typedef struct corecast_own_operator_t {
  // What combines.
  corecast_combine_t combine;
  // Handed to `combine` as it is.
  void *context;
  // Bytes of an element, at least 1. Elements are aligned to at most 16 bytes.
  size_t element_bytes;
  // Whether the order of ranks must be kept: the operator is not commutative.
  bool ordered;
} corecast_own_operator_t;

// What a thread of `corecast_team_run` does as a rank. It must not unwind: no exception, no
// `longjmp`.
//
// The caller sees to it that
// `member` is lent for as long as this runs; `context` is what `corecast_team_run` was given.
typedef void (*corecast_body_t)(struct corecast_member_t *member, void *context);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The most that a barrier can expect.
//
// Threads: any.
size_t corecast_barrier_max(void);

// A barrier of `expected` threads in each phase. The last one of each runs `completion` with
// `context`, unless that is NULL, before anybody goes on. `waiting` is a word as for
// `corecast_builder_wait`; NULL: as `CORECAST_WAIT` says, else as fits the machine and the number of
// threads.
//
// Threads: any.
//
// The caller sees to it that
// `waiting` is NULL or a text that ends; `completion` may be called with `context` on any thread;
// `barrier` is NULL or a place for a handle.
corecast_status_t corecast_barrier_new(size_t expected,
                                       const char *waiting,
                                       corecast_completion_t completion,
                                       void *context,
                                       struct corecast_barrier_t **barrier);

// Frees a barrier at which no thread waits. NULL is nothing.
//
// Threads: one.
//
// The caller sees to it that
// `barrier` is NULL or a live handle, which is used no more.
void corecast_barrier_free(struct corecast_barrier_t *barrier);

// `arrivals` arrive, and this goes on. Writes the phase to `phase`, unless that is NULL, for
// `corecast_barrier_wait`. More arrivals than are missing are refused.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle; `phase` is NULL or a place for one.
corecast_status_t corecast_barrier_arrive(const struct corecast_barrier_t *barrier,
                                          size_t arrivals,
                                          corecast_phase_t *phase);

// Waits until a phase, this one or the one before, is over.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle.
corecast_status_t corecast_barrier_wait(const struct corecast_barrier_t *barrier,
                                        corecast_phase_t phase);

// Arrives and waits until the phase is over.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle.
corecast_status_t corecast_barrier_arrive_and_wait(const struct corecast_barrier_t *barrier);

// Arrives, and is expected no more from the next phase on.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle.
corecast_status_t corecast_barrier_arrive_and_drop(const struct corecast_barrier_t *barrier);

// A builder that has been told nothing: one rank for each PU that this process may use.
//
// Threads: any.
//
// The caller sees to it that
// `builder` is NULL or a place for a handle.
corecast_status_t corecast_builder_new(struct corecast_builder_t **builder);

// Frees a builder. NULL is nothing.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle, which is used no more.
void corecast_builder_free(struct corecast_builder_t *builder);

// `ranks` ranks on the usable PUs, one NUMA node after the other. More ranks than PUs go around
// them, unpinned unless `corecast_builder_pin` says otherwise.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_threads(struct corecast_builder_t *builder,
                                           size_t ranks);

// One rank for each PU of a list such as "0-3,8", in its order.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `list` is a text that ends.
corecast_status_t corecast_builder_cores(struct corecast_builder_t *builder,
                                         const char *list);

// Plans for the costs in this machine file instead of this machine's own.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `path` is a text that ends.
corecast_status_t corecast_builder_machine_file(struct corecast_builder_t *builder,
                                                const char *path);

// Where measured costs and tuned profiles lie, instead of the user's cache folder.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `folder` is a text that ends.
corecast_status_t corecast_builder_profile_folder(struct corecast_builder_t *builder,
                                                  const char *folder);

// Runs this pattern, whatever model and races say: "smelt", "binomial", "dissemination:2" and so
// on. Operations that it cannot do are chosen as if it had not been named.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `pattern` is a text that ends.
corecast_status_t corecast_builder_pattern(struct corecast_builder_t *builder,
                                           const char *pattern);

// Uses these algorithms by length, written as in `CORECAST_ALGO`:
// "allreduce=ring@4K..1M,doubling@..4K;barrier=tree".
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `algorithms` is a text that ends.
corecast_status_t corecast_builder_algorithms(struct corecast_builder_t *builder,
                                              const char *algorithms);

// Builds all trees from this rank. Any rank can still be the root of any operation; that of the
// tree is the fastest.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_root(struct corecast_builder_t *builder,
                                        size_t rank);

// Whether threads are pinned: those of `corecast_team_run`, and those that call
// `corecast_team_pin_here`. By default they are unless there are more ranks than usable PUs.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_pin(struct corecast_builder_t *builder,
                                       bool pin);

// How members wait: "spin", "balanced", "park", or for how long a wait may use a CPU before it
// sleeps, such as "20us". By default as `CORECAST_WAIT` says, else "balanced".
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `waiting` is a text that ends.
corecast_status_t corecast_builder_wait(struct corecast_builder_t *builder,
                                        const char *waiting);

// How members wait, to the nanosecond: polling, then polling with the CPU offered to others, then
// sleeping, or beginning again where `park` is false.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_policy(struct corecast_builder_t *builder,
                                          uint32_t spin_ns,
                                          uint32_t yield_ns,
                                          bool park);

// How long a member may sleep for another one before that is `CORECAST_STATUS_STALLED`, in
// nanoseconds; by default for ever.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_patience(struct corecast_builder_t *builder,
                                            uint64_t nanoseconds);

// How long a member may sleep for a rank that nobody has joined, and how long processes wait for
// each other, in nanoseconds; 10 s by default.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_join_limit(struct corecast_builder_t *builder,
                                              uint64_t nanoseconds);

// Whether reductions give the same bits on every rank, for every plan, root, length and repetition;
// false by default.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_deterministic(struct corecast_builder_t *builder,
                                                 bool deterministic);

// Operations that a member can have in flight at a time; 8 by default.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_depth(struct corecast_builder_t *builder,
                                         size_t depth);

// The queues' protocol: "ump", the default, or "fastforward".
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `backend` is a text that ends.
corecast_status_t corecast_builder_backend(struct corecast_builder_t *builder,
                                           const char *backend);

// Slots of each queue, a power of two, at least 2; 64 by default.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_slots(struct corecast_builder_t *builder,
                                         size_t slots);

// Takes a tuning that was raced with operations that begin so: "strict", all ranks at one instant,
// which is the default; or "loose", one operation after the other.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `start` is a text that ends.
corecast_status_t corecast_builder_start(struct corecast_builder_t *builder,
                                         const char *start);

// Discovers, chooses, and makes a team of threads of this process.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `team` is NULL or a place for a handle.
corecast_status_t corecast_builder_build(const struct corecast_builder_t *builder,
                                         struct corecast_team_t **team);

// Meets other processes at `address` and becomes one team of `size` ranks with them. This process
// brings `count` ranks: those in `ranks`, where `CORECAST_ANY_RANK` is any; all of them any, where
// `ranks` is NULL. Returns when all have come, at the latest after the limit of
// `corecast_builder_join_limit`.
//
// An address with a '/' is a path, at which a socket stands meanwhile; any other one is a name of
// up to 80 bytes that this user's processes share. The process that comes first chooses for all.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `address` is a text that ends; `ranks` is NULL or has `count`
// numbers; `team` is NULL or a place for a handle.
corecast_status_t corecast_builder_enter(const struct corecast_builder_t *builder,
                                         const char *address,
                                         size_t size,
                                         const size_t *ranks,
                                         size_t count,
                                         struct corecast_team_t **team);

// Becomes part of the team that this process was started for by a launcher such as
// `corecast run -n 4 -- PROGRAM`. Gives NULL where there was none: that is no error.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `team` is NULL or a place for a handle.
corecast_status_t corecast_builder_inherited(const struct corecast_builder_t *builder,
                                             struct corecast_team_t **team);

// The most that a barrier can expect.
//
// Threads: any.
size_t corecast_barrier_max(void);

// A barrier of `expected` threads in each phase. The last one of each runs `completion` with
// `context`, unless that is NULL, before anybody goes on. `waiting` is a word as for
// `corecast_builder_wait`; NULL: as `CORECAST_WAIT` says, else as fits the machine and the number of
// threads.
//
// Threads: any.
//
// The caller sees to it that
// `waiting` is NULL or a text that ends; `completion` may be called with `context` on any thread;
// `barrier` is NULL or a place for a handle.
corecast_status_t corecast_barrier_new(size_t expected,
                                       const char *waiting,
                                       corecast_completion_t completion,
                                       void *context,
                                       struct corecast_barrier_t **barrier);

// Frees a barrier at which no thread waits. NULL is nothing.
//
// Threads: one.
//
// The caller sees to it that
// `barrier` is NULL or a live handle, which is used no more.
void corecast_barrier_free(struct corecast_barrier_t *barrier);

// `arrivals` arrive, and this goes on. Writes the phase to `phase`, unless that is NULL, for
// `corecast_barrier_wait`. More arrivals than are missing are refused.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle; `phase` is NULL or a place for one.
corecast_status_t corecast_barrier_arrive(const struct corecast_barrier_t *barrier,
                                          size_t arrivals,
                                          corecast_phase_t *phase);

// Waits until a phase, this one or the one before, is over.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle.
corecast_status_t corecast_barrier_wait(const struct corecast_barrier_t *barrier,
                                        corecast_phase_t phase);

// Arrives and waits until the phase is over.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle.
corecast_status_t corecast_barrier_arrive_and_wait(const struct corecast_barrier_t *barrier);

// Arrives, and is expected no more from the next phase on.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle.
corecast_status_t corecast_barrier_arrive_and_drop(const struct corecast_barrier_t *barrier);

// A builder that has been told nothing: one rank for each PU that this process may use.
//
// Threads: any.
//
// The caller sees to it that
// `builder` is NULL or a place for a handle.
corecast_status_t corecast_builder_new(struct corecast_builder_t **builder);

// Frees a builder. NULL is nothing.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle, which is used no more.
void corecast_builder_free(struct corecast_builder_t *builder);

// `ranks` ranks on the usable PUs, one NUMA node after the other. More ranks than PUs go around
// them, unpinned unless `corecast_builder_pin` says otherwise.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_threads(struct corecast_builder_t *builder,
                                           size_t ranks);

// One rank for each PU of a list such as "0-3,8", in its order.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `list` is a text that ends.
corecast_status_t corecast_builder_cores(struct corecast_builder_t *builder,
                                         const char *list);

// Plans for the costs in this machine file instead of this machine's own.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `path` is a text that ends.
corecast_status_t corecast_builder_machine_file(struct corecast_builder_t *builder,
                                                const char *path);

// Where measured costs and tuned profiles lie, instead of the user's cache folder.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `folder` is a text that ends.
corecast_status_t corecast_builder_profile_folder(struct corecast_builder_t *builder,
                                                  const char *folder);

// Runs this pattern, whatever model and races say: "smelt", "binomial", "dissemination:2" and so
// on. Operations that it cannot do are chosen as if it had not been named.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `pattern` is a text that ends.
corecast_status_t corecast_builder_pattern(struct corecast_builder_t *builder,
                                           const char *pattern);

// Uses these algorithms by length, written as in `CORECAST_ALGO`:
// "allreduce=ring@4K..1M,doubling@..4K;barrier=tree".
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `algorithms` is a text that ends.
corecast_status_t corecast_builder_algorithms(struct corecast_builder_t *builder,
                                              const char *algorithms);

// Builds all trees from this rank. Any rank can still be the root of any operation; that of the
// tree is the fastest.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_root(struct corecast_builder_t *builder,
                                        size_t rank);

// Whether threads are pinned: those of `corecast_team_run`, and those that call
// `corecast_team_pin_here`. By default they are unless there are more ranks than usable PUs.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_pin(struct corecast_builder_t *builder,
                                       bool pin);

// How members wait: "spin", "balanced", "park", or for how long a wait may use a CPU before it
// sleeps, such as "20us". By default as `CORECAST_WAIT` says, else "balanced".
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `waiting` is a text that ends.
corecast_status_t corecast_builder_wait(struct corecast_builder_t *builder,
                                        const char *waiting);

// How members wait, to the nanosecond: polling, then polling with the CPU offered to others, then
// sleeping, or beginning again where `park` is false.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_policy(struct corecast_builder_t *builder,
                                          uint32_t spin_ns,
                                          uint32_t yield_ns,
                                          bool park);

// How long a member may sleep for another one before that is `CORECAST_STATUS_STALLED`, in
// nanoseconds; by default for ever.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_patience(struct corecast_builder_t *builder,
                                            uint64_t nanoseconds);

// How long a member may sleep for a rank that nobody has joined, and how long processes wait for
// each other, in nanoseconds; 10 s by default.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_join_limit(struct corecast_builder_t *builder,
                                              uint64_t nanoseconds);

// Whether reductions give the same bits on every rank, for every plan, root, length and repetition;
// false by default.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_deterministic(struct corecast_builder_t *builder,
                                                 bool deterministic);

// Operations that a member can have in flight at a time; 8 by default.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_depth(struct corecast_builder_t *builder,
                                         size_t depth);

// The queues' protocol: "ump", the default, or "fastforward".
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `backend` is a text that ends.
corecast_status_t corecast_builder_backend(struct corecast_builder_t *builder,
                                           const char *backend);

// Slots of each queue, a power of two, at least 2; 64 by default.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_slots(struct corecast_builder_t *builder,
                                         size_t slots);

// Takes a tuning that was raced with operations that begin so: "strict", all ranks at one instant,
// which is the default; or "loose", one operation after the other.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `start` is a text that ends.
corecast_status_t corecast_builder_start(struct corecast_builder_t *builder,
                                         const char *start);

// Discovers, chooses, and makes a team of threads of this process.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `team` is NULL or a place for a handle.
corecast_status_t corecast_builder_build(const struct corecast_builder_t *builder,
                                         struct corecast_team_t **team);

// Meets other processes at `address` and becomes one team of `size` ranks with them. This process
// brings `count` ranks: those in `ranks`, where `CORECAST_ANY_RANK` is any; all of them any, where
// `ranks` is NULL. Returns when all have come, at the latest after the limit of
// `corecast_builder_join_limit`.
//
// An address with a '/' is a path, at which a socket stands meanwhile; any other one is a name of
// up to 80 bytes that this user's processes share. The process that comes first chooses for all.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `address` is a text that ends; `ranks` is NULL or has `count`
// numbers; `team` is NULL or a place for a handle.
corecast_status_t corecast_builder_enter(const struct corecast_builder_t *builder,
                                         const char *address,
                                         size_t size,
                                         const size_t *ranks,
                                         size_t count,
                                         struct corecast_team_t **team);

// Becomes part of the team that this process was started for by a launcher such as
// `corecast run -n 4 -- PROGRAM`. Gives NULL where there was none: that is no error.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `team` is NULL or a place for a handle.
corecast_status_t corecast_builder_inherited(const struct corecast_builder_t *builder,
                                             struct corecast_team_t **team);

// Runs `body`, which starts operations without waiting for them and computes in between. All have
// ended when this returns. As with operations that wait all members start the same ones in the same
// order, but may wait for them in any order. Up to as many as the team's depth are in flight; one more
// waits for the oldest.
//
// Returns the first failure of an operation that the body has not waited for. While the body runs, the
// member itself can do nothing else.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; what operations are given stays until they have ended.
corecast_status_t corecast_overlap(struct corecast_member_t *member,
                                   corecast_flight_body_t body,
                                   void *context);

// Lets every operation in flight go as far as it can without waiting.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs.
corecast_status_t corecast_flight_progress(const struct corecast_flight_t *flight);

// Says to `done` whether the operation has ended. Lets all in flight go as far as they can.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `request` is NULL, or one that was not waited for; `done` is NULL or a place for an answer.
corecast_status_t corecast_request_test(struct corecast_request_t *request,
                                        bool *done);

// Waits until the operation has ended, and gives the request back.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `request` is NULL, or one that was not waited for.
corecast_status_t corecast_request_wait(struct corecast_request_t *request);

// Starts `corecast_barrier`: this is the arrival, `corecast_request_wait` the departure.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle.
corecast_status_t corecast_start_barrier(const struct corecast_flight_t *flight,
                                         struct corecast_request_t **request);

// Starts `corecast_broadcast`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `bytes` bytes, until the operation has ended.
corecast_status_t corecast_start_broadcast(const struct corecast_flight_t *flight,
                                           size_t root,
                                           void *data,
                                           size_t bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_scatter`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `recv`
// has `bytes` bytes, the root's `send` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_scatter(const struct corecast_flight_t *flight,
                                         size_t root,
                                         const void *send,
                                         void *recv,
                                         size_t bytes,
                                         struct corecast_request_t **request);

// Starts `corecast_scatterv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `recv`
// has `recv_count` elements; the root's `counts` and `displacements` have a number for each rank,
// and its `send` has all those parts, until the operation has ended.
corecast_status_t corecast_start_scatterv(const struct corecast_flight_t *flight,
                                          size_t root,
                                          const void *send,
                                          const size_t *counts,
                                          const size_t *displacements,
                                          void *recv,
                                          size_t recv_count,
                                          size_t element_bytes,
                                          struct corecast_request_t **request);

// Starts `corecast_gather`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `bytes` bytes, the root's `recv` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_gather(const struct corecast_flight_t *flight,
                                        size_t root,
                                        const void *send,
                                        void *recv,
                                        size_t bytes,
                                        struct corecast_request_t **request);

// Starts `corecast_gatherv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `send_count` elements; the root's `counts` and `displacements` have a number for each rank,
// and its `recv` has all those parts, until the operation has ended.
corecast_status_t corecast_start_gatherv(const struct corecast_flight_t *flight,
                                         size_t root,
                                         const void *send,
                                         size_t send_count,
                                         void *recv,
                                         const size_t *counts,
                                         const size_t *displacements,
                                         size_t element_bytes,
                                         struct corecast_request_t **request);

// Starts `corecast_allgather`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `bytes` bytes, `recv` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_allgather(const struct corecast_flight_t *flight,
                                           const void *send,
                                           void *recv,
                                           size_t bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_allgatherv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `send_count` elements; `counts` and `displacements` have a number for each rank, and `recv`
// has all those parts, until the operation has ended.
corecast_status_t corecast_start_allgatherv(const struct corecast_flight_t *flight,
                                            const void *send,
                                            size_t send_count,
                                            void *recv,
                                            const size_t *counts,
                                            const size_t *displacements,
                                            size_t element_bytes,
                                            struct corecast_request_t **request);

// Starts `corecast_alltoall`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// and `recv` have `bytes` bytes for each rank, until the operation has ended.
corecast_status_t corecast_start_alltoall(const struct corecast_flight_t *flight,
                                          const void *send,
                                          void *recv,
                                          size_t bytes,
                                          struct corecast_request_t **request);

// Starts `corecast_alltoallv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; all
// counts and displacements have a number for each rank; `send` and `recv` have all those parts,
// until the operation has ended.
corecast_status_t corecast_start_alltoallv(const struct corecast_flight_t *flight,
                                           const void *send,
                                           const size_t *send_counts,
                                           const size_t *send_displacements,
                                           void *recv,
                                           const size_t *recv_counts,
                                           const size_t *recv_displacements,
                                           size_t element_bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_reduce`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_reduce(const struct corecast_flight_t *flight,
                                        size_t root,
                                        void *data,
                                        size_t count,
                                        corecast_element_t element,
                                        corecast_operator_t operator_,
                                        struct corecast_request_t **request);

// Starts `corecast_reduce_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_reduce_with(const struct corecast_flight_t *flight,
                                             size_t root,
                                             void *data,
                                             size_t count,
                                             const struct corecast_own_operator_t *operator_,
                                             struct corecast_request_t **request);

// Starts `corecast_allreduce`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_allreduce(const struct corecast_flight_t *flight,
                                           void *data,
                                           size_t count,
                                           corecast_element_t element,
                                           corecast_operator_t operator_,
                                           struct corecast_request_t **request);

// Starts `corecast_allreduce_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_allreduce_with(const struct corecast_flight_t *flight,
                                                void *data,
                                                size_t count,
                                                const struct corecast_own_operator_t *operator_,
                                                struct corecast_request_t **request);

// Starts `corecast_reduce_scatter`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `count` elements, `recv` as many as the block of this rank, until the operation has ended.
corecast_status_t corecast_start_reduce_scatter(const struct corecast_flight_t *flight,
                                                const void *send,
                                                size_t count,
                                                void *recv,
                                                corecast_element_t element,
                                                corecast_operator_t operator_,
                                                struct corecast_request_t **request);

// Starts `corecast_reduce_scatter_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `count` elements, `recv` as many as the block of this rank. `operator` is NULL or an
// operator that keeps to its contract, until the operation has ended.
corecast_status_t corecast_start_reduce_scatter_with(const struct corecast_flight_t *flight,
                                                     const void *send,
                                                     size_t count,
                                                     void *recv,
                                                     const struct corecast_own_operator_t *operator_,
                                                     struct corecast_request_t **request);

// Starts `corecast_reduce_scatterv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle;
// `counts` has a number for each rank, `send` as many elements as all of them, `recv` as many as
// this rank's, until the operation has ended.
corecast_status_t corecast_start_reduce_scatterv(const struct corecast_flight_t *flight,
                                                 const void *send,
                                                 const size_t *counts,
                                                 void *recv,
                                                 corecast_element_t element,
                                                 corecast_operator_t operator_,
                                                 struct corecast_request_t **request);

// Starts `corecast_reduce_scatterv_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle;
// `counts` has a number for each rank, `send` as many elements as all of them, `recv` as many as
// this rank's. `operator` is NULL or an operator that keeps to its contract, until the operation
// has ended.
corecast_status_t corecast_start_reduce_scatterv_with(const struct corecast_flight_t *flight,
                                                      const void *send,
                                                      const size_t *counts,
                                                      void *recv,
                                                      const struct corecast_own_operator_t *operator_,
                                                      struct corecast_request_t **request);

// Starts `corecast_scan`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_scan(const struct corecast_flight_t *flight,
                                      void *data,
                                      size_t count,
                                      corecast_element_t element,
                                      corecast_operator_t operator_,
                                      struct corecast_request_t **request);

// Starts `corecast_scan_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_scan_with(const struct corecast_flight_t *flight,
                                           void *data,
                                           size_t count,
                                           const struct corecast_own_operator_t *operator_,
                                           struct corecast_request_t **request);

// Starts `corecast_exscan`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_exscan(const struct corecast_flight_t *flight,
                                        void *data,
                                        size_t count,
                                        corecast_element_t element,
                                        corecast_operator_t operator_,
                                        struct corecast_request_t **request);

// Starts `corecast_exscan_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_exscan_with(const struct corecast_flight_t *flight,
                                             void *data,
                                             size_t count,
                                             const struct corecast_own_operator_t *operator_,
                                             struct corecast_request_t **request);

// This rank; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `member` is NULL or a live handle.
size_t corecast_member_rank(const struct corecast_member_t *member);

// Number of ranks of its team; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `member` is NULL or a live handle.
size_t corecast_member_size(const struct corecast_member_t *member);

// Leaves the team, and frees a member that `corecast_team_join` gave. Those of `corecast_team_run`
// are freed by it alone. NULL is nothing.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle, which is used no more.
corecast_status_t corecast_member_free(struct corecast_member_t *member);

// Returns when every member has called it. What members wrote before is visible to all after.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle.
corecast_status_t corecast_barrier(struct corecast_member_t *member);

// Gives `root`'s `data` to every member. All give the same length.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `bytes` bytes.
corecast_status_t corecast_broadcast(struct corecast_member_t *member,
                                     size_t root,
                                     void *data,
                                     size_t bytes);

// Gives each rank its part of `root`'s `send`: `bytes` bytes each, in rank order. Other ranks may
// give NULL for `send`.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `recv` has `bytes` bytes, the root's `send` as many for each
// rank.
corecast_status_t corecast_scatter(struct corecast_member_t *member,
                                   size_t root,
                                   const void *send,
                                   void *recv,
                                   size_t bytes);

// `corecast_scatter` of parts of any lengths: `counts[r]` elements from `displacements[r]` on for
// each rank r, which `root` alone gives. Lengths are in elements of `element_bytes`; `recv` takes
// `recv_count` of them.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `recv` has `recv_count` elements; the root's `counts` and
// `displacements` have a number for each rank, and its `send` has all those parts.
corecast_status_t corecast_scatterv(struct corecast_member_t *member,
                                    size_t root,
                                    const void *send,
                                    const size_t *counts,
                                    const size_t *displacements,
                                    void *recv,
                                    size_t recv_count,
                                    size_t element_bytes);

// Gives everybody's `send`, `bytes` bytes each, to `root`'s `recv`, side by side in rank order. Other
// ranks may give NULL for `recv`.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `bytes` bytes, the root's `recv` as many for each
// rank.
corecast_status_t corecast_gather(struct corecast_member_t *member,
                                  size_t root,
                                  const void *send,
                                  void *recv,
                                  size_t bytes);

// `corecast_gather` of parts of any lengths, for which `root` alone says where it wants them. Parts
// may lie in any order, with gaps, but not one over the other.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `send_count` elements; the root's `counts` and
// `displacements` have a number for each rank, and its `recv` has all those parts.
corecast_status_t corecast_gatherv(struct corecast_member_t *member,
                                   size_t root,
                                   const void *send,
                                   size_t send_count,
                                   void *recv,
                                   const size_t *counts,
                                   const size_t *displacements,
                                   size_t element_bytes);

// Gives everybody's `send`, `bytes` bytes each, to everybody's `recv`, side by side in rank order.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `bytes` bytes, `recv` as many for each rank.
corecast_status_t corecast_allgather(struct corecast_member_t *member,
                                     const void *send,
                                     void *recv,
                                     size_t bytes);

// `corecast_allgather` of parts of any lengths. All members give the same counts; displacements are
// each one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `send_count` elements; `counts` and `displacements`
// have a number for each rank, and `recv` has all those parts.
corecast_status_t corecast_allgatherv(struct corecast_member_t *member,
                                      const void *send,
                                      size_t send_count,
                                      void *recv,
                                      const size_t *counts,
                                      const size_t *displacements,
                                      size_t element_bytes);

// Gives each rank its part of everybody's `send`: part r of `recv` is what rank r has sent. All parts
// have `bytes` bytes.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` and `recv` have `bytes` bytes for each rank.
corecast_status_t corecast_alltoall(struct corecast_member_t *member,
                                    const void *send,
                                    void *recv,
                                    size_t bytes);

// `corecast_alltoall` of parts of any lengths: what rank a sends to rank b is as long as what b
// takes from a.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; all counts and displacements have a number for each rank;
// `send` and `recv` have all those parts.
corecast_status_t corecast_alltoallv(struct corecast_member_t *member,
                                     const void *send,
                                     const size_t *send_counts,
                                     const size_t *send_displacements,
                                     void *recv,
                                     const size_t *recv_counts,
                                     const size_t *recv_displacements,
                                     size_t element_bytes);

// Bytes of an element, 0 for a number that is no `corecast_element`.
//
// Threads: any.
size_t corecast_element_bytes(corecast_element_t element);

// Where the block of `rank` begins among `count` elements that are divided among `size` ranks, and
// how many it has: as `corecast_reduce_scatter` divides them. The first ones have one more where they
// cannot be equal.
//
// Threads: any.
//
// The caller sees to it that
// `begin` and `length` are NULL or places for numbers.
corecast_status_t corecast_block(size_t count,
                                 size_t size,
                                 size_t rank,
                                 size_t *begin,
                                 size_t *length);

// Combines the members' `data` element by element into that of `root`; on other ranks `data` stays
// as it is. All give the same number of elements, the same type and the same operator.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements.
corecast_status_t corecast_reduce(struct corecast_member_t *member,
                                  size_t root,
                                  void *data,
                                  size_t count,
                                  corecast_element_t element,
                                  corecast_operator_t operator_);

// `corecast_reduce` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
// operator that keeps to its contract.
corecast_status_t corecast_reduce_with(struct corecast_member_t *member,
                                       size_t root,
                                       void *data,
                                       size_t count,
                                       const struct corecast_own_operator_t *operator_);

// Combines the members' `data` element by element into everybody's: the same bits for all.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements.
corecast_status_t corecast_allreduce(struct corecast_member_t *member,
                                     void *data,
                                     size_t count,
                                     corecast_element_t element,
                                     corecast_operator_t operator_);

// `corecast_allreduce` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
// operator that keeps to its contract.
corecast_status_t corecast_allreduce_with(struct corecast_member_t *member,
                                          void *data,
                                          size_t count,
                                          const struct corecast_own_operator_t *operator_);

// Combines the members' `send`, `count` elements each, and gives each rank its block of the result
// in `recv`: see `corecast_block`.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `count` elements, `recv` as many as the block of
// this rank.
corecast_status_t corecast_reduce_scatter(struct corecast_member_t *member,
                                          const void *send,
                                          size_t count,
                                          void *recv,
                                          corecast_element_t element,
                                          corecast_operator_t operator_);

// `corecast_reduce_scatter` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `count` elements, `recv` as many as the block of
// this rank. `operator` is NULL or an operator that keeps to its contract.
corecast_status_t corecast_reduce_scatter_with(struct corecast_member_t *member,
                                               const void *send,
                                               size_t count,
                                               void *recv,
                                               const struct corecast_own_operator_t *operator_);

// `corecast_reduce_scatter` in blocks of any lengths, one after another in rank order: `counts[r]`
// elements for each rank r. All give the same counts.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `counts` has a number for each rank, `send` as many elements
// as all of them, `recv` as many as this rank's.
corecast_status_t corecast_reduce_scatterv(struct corecast_member_t *member,
                                           const void *send,
                                           const size_t *counts,
                                           void *recv,
                                           corecast_element_t element,
                                           corecast_operator_t operator_);

// `corecast_reduce_scatterv` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `counts` has a number for each rank, `send` as many elements
// as all of them, `recv` as many as this rank's. `operator` is NULL or an operator that keeps to
// its contract.
corecast_status_t corecast_reduce_scatterv_with(struct corecast_member_t *member,
                                                const void *send,
                                                const size_t *counts,
                                                void *recv,
                                                const struct corecast_own_operator_t *operator_);

// Combines the `data` of all ranks up to this one into this one's.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements.
corecast_status_t corecast_scan(struct corecast_member_t *member,
                                void *data,
                                size_t count,
                                corecast_element_t element,
                                corecast_operator_t operator_);

// `corecast_scan` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
// operator that keeps to its contract.
corecast_status_t corecast_scan_with(struct corecast_member_t *member,
                                     void *data,
                                     size_t count,
                                     const struct corecast_own_operator_t *operator_);

// Combines the `data` of all ranks before this one into this one's. That of rank 0 stays as it is.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements.
corecast_status_t corecast_exscan(struct corecast_member_t *member,
                                  void *data,
                                  size_t count,
                                  corecast_element_t element,
                                  corecast_operator_t operator_);

// `corecast_exscan` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
// operator that keeps to its contract.
corecast_status_t corecast_exscan_with(struct corecast_member_t *member,
                                       void *data,
                                       size_t count,
                                       const struct corecast_own_operator_t *operator_);

// The text of this thread's last call that failed: one line that quotes the input and says the way
// out. Empty if none has. It stays until the next failing call of this thread.
//
// Threads: any.
const char *corecast_error_message(void);

// The name of a status, such as "mismatch"; "unknown" for a number that is none.
//
// Threads: any.
const char *corecast_status_name(int32_t status);

// The version of the library, such as "0.1.0".
//
// Threads: any.
const char *corecast_version(void);

// A team of `ranks` threads of this process, everything chosen by Corecast.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a place for a handle.
corecast_status_t corecast_team_new(size_t ranks, struct corecast_team_t **team);

// Frees a team. Ranks that nobody has joined are lost to those who wait for them. NULL is nothing.
//
// Threads: one.
//
// The caller sees to it that
// `team` is NULL or a live handle, which is used no more.
corecast_status_t corecast_team_free(struct corecast_team_t *team);

// Number of ranks, of all processes together; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle.
size_t corecast_team_size(const struct corecast_team_t *team);

// The ranks of this process, in order: all of them, unless other processes bring some. Writes as
// many as there is room for, and to `count` how many there are.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `ranks` has room for `capacity` numbers, `count` for one.
corecast_status_t corecast_team_ranks(const struct corecast_team_t *team,
                                      size_t *ranks,
                                      size_t capacity,
                                      size_t *count);

// Runs `body` as every rank of this process, each on a thread of its own, pinned where the team
// pins, and returns when all have ended. A team runs once, and no rank of it was joined before.
//
// The first failure of any member, if there was one, is what this returns, too.
//
// Threads: any, once for each team.
//
// The caller sees to it that
// `team` is NULL or a live handle; `body` may be called from several threads at once with `context`.
corecast_status_t corecast_team_run(const struct corecast_team_t *team,
                                    corecast_body_t body,
                                    void *context);

// Becomes a member, for those who bring their own threads. Each rank can be joined once. Pins
// nothing: see `corecast_team_pin_here`.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `member` is NULL or a place for one.
corecast_status_t corecast_team_join(const struct corecast_team_t *team,
                                     size_t rank,
                                     struct corecast_member_t **member);

// Pins the calling thread to the PU of `rank`, where the team pins. Says to `pinned`, unless that
// is NULL, whether the thread is confined to its PU now; a system that refuses is no error. The
// thread stays pinned after the team is gone.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `pinned` is NULL or a place for an answer.
corecast_status_t corecast_team_pin_here(const struct corecast_team_t *team,
                                         size_t rank,
                                         bool *pinned);

// What runs, where, why, and how good it is, in words: as much as fits `buffer` with the 0 at its
// end. Writes the length of the whole text, without that 0, to `length`, unless that is NULL.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `buffer` has `capacity` bytes; `length` is NULL or a place for a
// number.
corecast_status_t corecast_team_explain(const struct corecast_team_t *team,
                                        char *buffer,
                                        size_t capacity,
                                        size_t *length);

// The first failure of any member as a status, with its text; `CORECAST_STATUS_OK` where there was
// none.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle.
corecast_status_t corecast_team_failure(const struct corecast_team_t *team);

// The PU of each rank, by the operating system's numbers: as many as there is room for.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `pus` has room for `capacity` numbers.
corecast_status_t corecast_team_pus(const struct corecast_team_t *team,
                                    uint32_t *pus,
                                    size_t capacity);

// This rank; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `member` is NULL or a live handle.
size_t corecast_member_rank(const struct corecast_member_t *member);

// Number of ranks of its team; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `member` is NULL or a live handle.
size_t corecast_member_size(const struct corecast_member_t *member);

// Leaves the team, and frees a member that `corecast_team_join` gave. Those of `corecast_team_run`
// are freed by it alone. NULL is nothing.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle, which is used no more.
corecast_status_t corecast_member_free(struct corecast_member_t *member);

// Returns when every member has called it. What members wrote before is visible to all after.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle.
corecast_status_t corecast_barrier(struct corecast_member_t *member);

// Gives `root`'s `data` to every member. All give the same length.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `bytes` bytes.
corecast_status_t corecast_broadcast(struct corecast_member_t *member,
                                     size_t root,
                                     void *data,
                                     size_t bytes);

// Gives each rank its part of `root`'s `send`: `bytes` bytes each, in rank order. Other ranks may
// give NULL for `send`.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `recv` has `bytes` bytes, the root's `send` as many for each
// rank.
corecast_status_t corecast_scatter(struct corecast_member_t *member,
                                   size_t root,
                                   const void *send,
                                   void *recv,
                                   size_t bytes);

// `corecast_scatter` of parts of any lengths: `counts[r]` elements from `displacements[r]` on for
// each rank r, which `root` alone gives. Lengths are in elements of `element_bytes`; `recv` takes
// `recv_count` of them.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `recv` has `recv_count` elements; the root's `counts` and
// `displacements` have a number for each rank, and its `send` has all those parts.
corecast_status_t corecast_scatterv(struct corecast_member_t *member,
                                    size_t root,
                                    const void *send,
                                    const size_t *counts,
                                    const size_t *displacements,
                                    void *recv,
                                    size_t recv_count,
                                    size_t element_bytes);

// Gives everybody's `send`, `bytes` bytes each, to `root`'s `recv`, side by side in rank order. Other
// ranks may give NULL for `recv`.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `bytes` bytes, the root's `recv` as many for each
// rank.
corecast_status_t corecast_gather(struct corecast_member_t *member,
                                  size_t root,
                                  const void *send,
                                  void *recv,
                                  size_t bytes);

// `corecast_gather` of parts of any lengths, for which `root` alone says where it wants them. Parts
// may lie in any order, with gaps, but not one over the other.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `send_count` elements; the root's `counts` and
// `displacements` have a number for each rank, and its `recv` has all those parts.
corecast_status_t corecast_gatherv(struct corecast_member_t *member,
                                   size_t root,
                                   const void *send,
                                   size_t send_count,
                                   void *recv,
                                   const size_t *counts,
                                   const size_t *displacements,
                                   size_t element_bytes);

// Gives everybody's `send`, `bytes` bytes each, to everybody's `recv`, side by side in rank order.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `bytes` bytes, `recv` as many for each rank.
corecast_status_t corecast_allgather(struct corecast_member_t *member,
                                     const void *send,
                                     void *recv,
                                     size_t bytes);

// `corecast_allgather` of parts of any lengths. All members give the same counts; displacements are
// each one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `send_count` elements; `counts` and `displacements`
// have a number for each rank, and `recv` has all those parts.
corecast_status_t corecast_allgatherv(struct corecast_member_t *member,
                                      const void *send,
                                      size_t send_count,
                                      void *recv,
                                      const size_t *counts,
                                      const size_t *displacements,
                                      size_t element_bytes);

// Gives each rank its part of everybody's `send`: part r of `recv` is what rank r has sent. All parts
// have `bytes` bytes.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` and `recv` have `bytes` bytes for each rank.
corecast_status_t corecast_alltoall(struct corecast_member_t *member,
                                    const void *send,
                                    void *recv,
                                    size_t bytes);

// `corecast_alltoall` of parts of any lengths: what rank a sends to rank b is as long as what b
// takes from a.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; all counts and displacements have a number for each rank;
// `send` and `recv` have all those parts.
corecast_status_t corecast_alltoallv(struct corecast_member_t *member,
                                     const void *send,
                                     const size_t *send_counts,
                                     const size_t *send_displacements,
                                     void *recv,
                                     const size_t *recv_counts,
                                     const size_t *recv_displacements,
                                     size_t element_bytes);

// Bytes of an element, 0 for a number that is no `corecast_element`.
//
// Threads: any.
size_t corecast_element_bytes(corecast_element_t element);

// Where the block of `rank` begins among `count` elements that are divided among `size` ranks, and
// how many it has: as `corecast_reduce_scatter` divides them. The first ones have one more where they
// cannot be equal.
//
// Threads: any.
//
// The caller sees to it that
// `begin` and `length` are NULL or places for numbers.
corecast_status_t corecast_block(size_t count,
                                 size_t size,
                                 size_t rank,
                                 size_t *begin,
                                 size_t *length);

// Combines the members' `data` element by element into that of `root`; on other ranks `data` stays
// as it is. All give the same number of elements, the same type and the same operator.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements.
corecast_status_t corecast_reduce(struct corecast_member_t *member,
                                  size_t root,
                                  void *data,
                                  size_t count,
                                  corecast_element_t element,
                                  corecast_operator_t operator_);

// `corecast_reduce` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
// operator that keeps to its contract.
corecast_status_t corecast_reduce_with(struct corecast_member_t *member,
                                       size_t root,
                                       void *data,
                                       size_t count,
                                       const struct corecast_own_operator_t *operator_);

// Combines the members' `data` element by element into everybody's: the same bits for all.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements.
corecast_status_t corecast_allreduce(struct corecast_member_t *member,
                                     void *data,
                                     size_t count,
                                     corecast_element_t element,
                                     corecast_operator_t operator_);

// `corecast_allreduce` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
// operator that keeps to its contract.
corecast_status_t corecast_allreduce_with(struct corecast_member_t *member,
                                          void *data,
                                          size_t count,
                                          const struct corecast_own_operator_t *operator_);

// Combines the members' `send`, `count` elements each, and gives each rank its block of the result
// in `recv`: see `corecast_block`.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `count` elements, `recv` as many as the block of
// this rank.
corecast_status_t corecast_reduce_scatter(struct corecast_member_t *member,
                                          const void *send,
                                          size_t count,
                                          void *recv,
                                          corecast_element_t element,
                                          corecast_operator_t operator_);

// `corecast_reduce_scatter` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `count` elements, `recv` as many as the block of
// this rank. `operator` is NULL or an operator that keeps to its contract.
corecast_status_t corecast_reduce_scatter_with(struct corecast_member_t *member,
                                               const void *send,
                                               size_t count,
                                               void *recv,
                                               const struct corecast_own_operator_t *operator_);

// `corecast_reduce_scatter` in blocks of any lengths, one after another in rank order: `counts[r]`
// elements for each rank r. All give the same counts.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `counts` has a number for each rank, `send` as many elements
// as all of them, `recv` as many as this rank's.
corecast_status_t corecast_reduce_scatterv(struct corecast_member_t *member,
                                           const void *send,
                                           const size_t *counts,
                                           void *recv,
                                           corecast_element_t element,
                                           corecast_operator_t operator_);

// `corecast_reduce_scatterv` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `counts` has a number for each rank, `send` as many elements
// as all of them, `recv` as many as this rank's. `operator` is NULL or an operator that keeps to
// its contract.
corecast_status_t corecast_reduce_scatterv_with(struct corecast_member_t *member,
                                                const void *send,
                                                const size_t *counts,
                                                void *recv,
                                                const struct corecast_own_operator_t *operator_);

// Combines the `data` of all ranks up to this one into this one's.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements.
corecast_status_t corecast_scan(struct corecast_member_t *member,
                                void *data,
                                size_t count,
                                corecast_element_t element,
                                corecast_operator_t operator_);

// `corecast_scan` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
// operator that keeps to its contract.
corecast_status_t corecast_scan_with(struct corecast_member_t *member,
                                     void *data,
                                     size_t count,
                                     const struct corecast_own_operator_t *operator_);

// Combines the `data` of all ranks before this one into this one's. That of rank 0 stays as it is.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements.
corecast_status_t corecast_exscan(struct corecast_member_t *member,
                                  void *data,
                                  size_t count,
                                  corecast_element_t element,
                                  corecast_operator_t operator_);

// `corecast_exscan` by an operator of one's own.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements. `operator` is NULL or an
// operator that keeps to its contract.
corecast_status_t corecast_exscan_with(struct corecast_member_t *member,
                                       void *data,
                                       size_t count,
                                       const struct corecast_own_operator_t *operator_);

// The text of this thread's last call that failed: one line that quotes the input and says the way
// out. Empty if none has. It stays until the next failing call of this thread.
//
// Threads: any.
const char *corecast_error_message(void);

// The name of a status, such as "mismatch"; "unknown" for a number that is none.
//
// Threads: any.
const char *corecast_status_name(int32_t status);

// The version of the library, such as "0.1.0".
//
// Threads: any.
const char *corecast_version(void);

// A team of `ranks` threads of this process, everything chosen by Corecast.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a place for a handle.
corecast_status_t corecast_team_new(size_t ranks, struct corecast_team_t **team);

// Frees a team. Ranks that nobody has joined are lost to those who wait for them. NULL is nothing.
//
// Threads: one.
//
// The caller sees to it that
// `team` is NULL or a live handle, which is used no more.
corecast_status_t corecast_team_free(struct corecast_team_t *team);

// Number of ranks, of all processes together; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle.
size_t corecast_team_size(const struct corecast_team_t *team);

// The ranks of this process, in order: all of them, unless other processes bring some. Writes as
// many as there is room for, and to `count` how many there are.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `ranks` has room for `capacity` numbers, `count` for one.
corecast_status_t corecast_team_ranks(const struct corecast_team_t *team,
                                      size_t *ranks,
                                      size_t capacity,
                                      size_t *count);

// Runs `body` as every rank of this process, each on a thread of its own, pinned where the team
// pins, and returns when all have ended. A team runs once, and no rank of it was joined before.
//
// The first failure of any member, if there was one, is what this returns, too.
//
// Threads: any, once for each team.
//
// The caller sees to it that
// `team` is NULL or a live handle; `body` may be called from several threads at once with `context`.
corecast_status_t corecast_team_run(const struct corecast_team_t *team,
                                    corecast_body_t body,
                                    void *context);

// Becomes a member, for those who bring their own threads. Each rank can be joined once. Pins
// nothing: see `corecast_team_pin_here`.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `member` is NULL or a place for one.
corecast_status_t corecast_team_join(const struct corecast_team_t *team,
                                     size_t rank,
                                     struct corecast_member_t **member);

// Pins the calling thread to the PU of `rank`, where the team pins. Says to `pinned`, unless that
// is NULL, whether the thread is confined to its PU now; a system that refuses is no error. The
// thread stays pinned after the team is gone.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `pinned` is NULL or a place for an answer.
corecast_status_t corecast_team_pin_here(const struct corecast_team_t *team,
                                         size_t rank,
                                         bool *pinned);

// What runs, where, why, and how good it is, in words: as much as fits `buffer` with the 0 at its
// end. Writes the length of the whole text, without that 0, to `length`, unless that is NULL.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `buffer` has `capacity` bytes; `length` is NULL or a place for a
// number.
corecast_status_t corecast_team_explain(const struct corecast_team_t *team,
                                        char *buffer,
                                        size_t capacity,
                                        size_t *length);

// The first failure of any member as a status, with its text; `CORECAST_STATUS_OK` where there was
// none.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle.
corecast_status_t corecast_team_failure(const struct corecast_team_t *team);

// The PU of each rank, by the operating system's numbers: as many as there is room for.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `pus` has room for `capacity` numbers.
corecast_status_t corecast_team_pus(const struct corecast_team_t *team,
                                    uint32_t *pus,
                                    size_t capacity);

// Runs `body`, which starts operations without waiting for them and computes in between. All have
// ended when this returns. As with operations that wait all members start the same ones in the same
// order, but may wait for them in any order. Up to as many as the team's depth are in flight; one more
// waits for the oldest.
//
// Returns the first failure of an operation that the body has not waited for. While the body runs, the
// member itself can do nothing else.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; what operations are given stays until they have ended.
corecast_status_t corecast_overlap(struct corecast_member_t *member,
                                   corecast_flight_body_t body,
                                   void *context);

// Lets every operation in flight go as far as it can without waiting.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs.
corecast_status_t corecast_flight_progress(const struct corecast_flight_t *flight);

// Says to `done` whether the operation has ended. Lets all in flight go as far as they can.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `request` is NULL, or one that was not waited for; `done` is NULL or a place for an answer.
corecast_status_t corecast_request_test(struct corecast_request_t *request,
                                        bool *done);

// Waits until the operation has ended, and gives the request back.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `request` is NULL, or one that was not waited for.
corecast_status_t corecast_request_wait(struct corecast_request_t *request);

// Starts `corecast_barrier`: this is the arrival, `corecast_request_wait` the departure.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle.
corecast_status_t corecast_start_barrier(const struct corecast_flight_t *flight,
                                         struct corecast_request_t **request);

// Starts `corecast_broadcast`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `bytes` bytes, until the operation has ended.
corecast_status_t corecast_start_broadcast(const struct corecast_flight_t *flight,
                                           size_t root,
                                           void *data,
                                           size_t bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_scatter`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `recv`
// has `bytes` bytes, the root's `send` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_scatter(const struct corecast_flight_t *flight,
                                         size_t root,
                                         const void *send,
                                         void *recv,
                                         size_t bytes,
                                         struct corecast_request_t **request);

// Starts `corecast_scatterv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `recv`
// has `recv_count` elements; the root's `counts` and `displacements` have a number for each rank,
// and its `send` has all those parts, until the operation has ended.
corecast_status_t corecast_start_scatterv(const struct corecast_flight_t *flight,
                                          size_t root,
                                          const void *send,
                                          const size_t *counts,
                                          const size_t *displacements,
                                          void *recv,
                                          size_t recv_count,
                                          size_t element_bytes,
                                          struct corecast_request_t **request);

// Starts `corecast_gather`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `bytes` bytes, the root's `recv` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_gather(const struct corecast_flight_t *flight,
                                        size_t root,
                                        const void *send,
                                        void *recv,
                                        size_t bytes,
                                        struct corecast_request_t **request);

// Starts `corecast_gatherv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `send_count` elements; the root's `counts` and `displacements` have a number for each rank,
// and its `recv` has all those parts, until the operation has ended.
corecast_status_t corecast_start_gatherv(const struct corecast_flight_t *flight,
                                         size_t root,
                                         const void *send,
                                         size_t send_count,
                                         void *recv,
                                         const size_t *counts,
                                         const size_t *displacements,
                                         size_t element_bytes,
                                         struct corecast_request_t **request);

// Starts `corecast_allgather`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `bytes` bytes, `recv` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_allgather(const struct corecast_flight_t *flight,
                                           const void *send,
                                           void *recv,
                                           size_t bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_allgatherv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `send_count` elements; `counts` and `displacements` have a number for each rank, and `recv`
// has all those parts, until the operation has ended.
corecast_status_t corecast_start_allgatherv(const struct corecast_flight_t *flight,
                                            const void *send,
                                            size_t send_count,
                                            void *recv,
                                            const size_t *counts,
                                            const size_t *displacements,
                                            size_t element_bytes,
                                            struct corecast_request_t **request);

// Starts `corecast_alltoall`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// and `recv` have `bytes` bytes for each rank, until the operation has ended.
corecast_status_t corecast_start_alltoall(const struct corecast_flight_t *flight,
                                          const void *send,
                                          void *recv,
                                          size_t bytes,
                                          struct corecast_request_t **request);

// Starts `corecast_alltoallv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; all
// counts and displacements have a number for each rank; `send` and `recv` have all those parts,
// until the operation has ended.
corecast_status_t corecast_start_alltoallv(const struct corecast_flight_t *flight,
                                           const void *send,
                                           const size_t *send_counts,
                                           const size_t *send_displacements,
                                           void *recv,
                                           const size_t *recv_counts,
                                           const size_t *recv_displacements,
                                           size_t element_bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_reduce`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_reduce(const struct corecast_flight_t *flight,
                                        size_t root,
                                        void *data,
                                        size_t count,
                                        corecast_element_t element,
                                        corecast_operator_t operator_,
                                        struct corecast_request_t **request);

// Starts `corecast_reduce_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_reduce_with(const struct corecast_flight_t *flight,
                                             size_t root,
                                             void *data,
                                             size_t count,
                                             const struct corecast_own_operator_t *operator_,
                                             struct corecast_request_t **request);

// Starts `corecast_allreduce`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_allreduce(const struct corecast_flight_t *flight,
                                           void *data,
                                           size_t count,
                                           corecast_element_t element,
                                           corecast_operator_t operator_,
                                           struct corecast_request_t **request);

// Starts `corecast_allreduce_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_allreduce_with(const struct corecast_flight_t *flight,
                                                void *data,
                                                size_t count,
                                                const struct corecast_own_operator_t *operator_,
                                                struct corecast_request_t **request);

// Starts `corecast_reduce_scatter`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `count` elements, `recv` as many as the block of this rank, until the operation has ended.
corecast_status_t corecast_start_reduce_scatter(const struct corecast_flight_t *flight,
                                                const void *send,
                                                size_t count,
                                                void *recv,
                                                corecast_element_t element,
                                                corecast_operator_t operator_,
                                                struct corecast_request_t **request);

// Starts `corecast_reduce_scatter_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `count` elements, `recv` as many as the block of this rank. `operator` is NULL or an
// operator that keeps to its contract, until the operation has ended.
corecast_status_t corecast_start_reduce_scatter_with(const struct corecast_flight_t *flight,
                                                     const void *send,
                                                     size_t count,
                                                     void *recv,
                                                     const struct corecast_own_operator_t *operator_,
                                                     struct corecast_request_t **request);

// Starts `corecast_reduce_scatterv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle;
// `counts` has a number for each rank, `send` as many elements as all of them, `recv` as many as
// this rank's, until the operation has ended.
corecast_status_t corecast_start_reduce_scatterv(const struct corecast_flight_t *flight,
                                                 const void *send,
                                                 const size_t *counts,
                                                 void *recv,
                                                 corecast_element_t element,
                                                 corecast_operator_t operator_,
                                                 struct corecast_request_t **request);

// Starts `corecast_reduce_scatterv_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle;
// `counts` has a number for each rank, `send` as many elements as all of them, `recv` as many as
// this rank's. `operator` is NULL or an operator that keeps to its contract, until the operation
// has ended.
corecast_status_t corecast_start_reduce_scatterv_with(const struct corecast_flight_t *flight,
                                                      const void *send,
                                                      const size_t *counts,
                                                      void *recv,
                                                      const struct corecast_own_operator_t *operator_,
                                                      struct corecast_request_t **request);

// Starts `corecast_scan`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_scan(const struct corecast_flight_t *flight,
                                      void *data,
                                      size_t count,
                                      corecast_element_t element,
                                      corecast_operator_t operator_,
                                      struct corecast_request_t **request);

// Starts `corecast_scan_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_scan_with(const struct corecast_flight_t *flight,
                                           void *data,
                                           size_t count,
                                           const struct corecast_own_operator_t *operator_,
                                           struct corecast_request_t **request);

// Starts `corecast_exscan`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_exscan(const struct corecast_flight_t *flight,
                                        void *data,
                                        size_t count,
                                        corecast_element_t element,
                                        corecast_operator_t operator_,
                                        struct corecast_request_t **request);

// Starts `corecast_exscan_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_exscan_with(const struct corecast_flight_t *flight,
                                             void *data,
                                             size_t count,
                                             const struct corecast_own_operator_t *operator_,
                                             struct corecast_request_t **request);

// Starts `corecast_barrier`: this is the arrival, `corecast_request_wait` the departure.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle.
corecast_status_t corecast_start_barrier(const struct corecast_flight_t *flight,
                                         struct corecast_request_t **request);

// Starts `corecast_broadcast`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `bytes` bytes, until the operation has ended.
corecast_status_t corecast_start_broadcast(const struct corecast_flight_t *flight,
                                           size_t root,
                                           void *data,
                                           size_t bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_scatter`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `recv`
// has `bytes` bytes, the root's `send` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_scatter(const struct corecast_flight_t *flight,
                                         size_t root,
                                         const void *send,
                                         void *recv,
                                         size_t bytes,
                                         struct corecast_request_t **request);

// Starts `corecast_scatterv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `recv`
// has `recv_count` elements; the root's `counts` and `displacements` have a number for each rank,
// and its `send` has all those parts, until the operation has ended.
corecast_status_t corecast_start_scatterv(const struct corecast_flight_t *flight,
                                          size_t root,
                                          const void *send,
                                          const size_t *counts,
                                          const size_t *displacements,
                                          void *recv,
                                          size_t recv_count,
                                          size_t element_bytes,
                                          struct corecast_request_t **request);

// Starts `corecast_gather`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `bytes` bytes, the root's `recv` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_gather(const struct corecast_flight_t *flight,
                                        size_t root,
                                        const void *send,
                                        void *recv,
                                        size_t bytes,
                                        struct corecast_request_t **request);

// Starts `corecast_gatherv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `send_count` elements; the root's `counts` and `displacements` have a number for each rank,
// and its `recv` has all those parts, until the operation has ended.
corecast_status_t corecast_start_gatherv(const struct corecast_flight_t *flight,
                                         size_t root,
                                         const void *send,
                                         size_t send_count,
                                         void *recv,
                                         const size_t *counts,
                                         const size_t *displacements,
                                         size_t element_bytes,
                                         struct corecast_request_t **request);

// Starts `corecast_allgather`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `bytes` bytes, `recv` as many for each rank, until the operation has ended.
corecast_status_t corecast_start_allgather(const struct corecast_flight_t *flight,
                                           const void *send,
                                           void *recv,
                                           size_t bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_allgatherv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `send_count` elements; `counts` and `displacements` have a number for each rank, and `recv`
// has all those parts, until the operation has ended.
corecast_status_t corecast_start_allgatherv(const struct corecast_flight_t *flight,
                                            const void *send,
                                            size_t send_count,
                                            void *recv,
                                            const size_t *counts,
                                            const size_t *displacements,
                                            size_t element_bytes,
                                            struct corecast_request_t **request);

// Starts `corecast_alltoall`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// and `recv` have `bytes` bytes for each rank, until the operation has ended.
corecast_status_t corecast_start_alltoall(const struct corecast_flight_t *flight,
                                          const void *send,
                                          void *recv,
                                          size_t bytes,
                                          struct corecast_request_t **request);

// Starts `corecast_alltoallv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; all
// counts and displacements have a number for each rank; `send` and `recv` have all those parts,
// until the operation has ended.
corecast_status_t corecast_start_alltoallv(const struct corecast_flight_t *flight,
                                           const void *send,
                                           const size_t *send_counts,
                                           const size_t *send_displacements,
                                           void *recv,
                                           const size_t *recv_counts,
                                           const size_t *recv_displacements,
                                           size_t element_bytes,
                                           struct corecast_request_t **request);

// Starts `corecast_reduce`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_reduce(const struct corecast_flight_t *flight,
                                        size_t root,
                                        void *data,
                                        size_t count,
                                        corecast_element_t element,
                                        corecast_operator_t operator_,
                                        struct corecast_request_t **request);

// Starts `corecast_reduce_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_reduce_with(const struct corecast_flight_t *flight,
                                             size_t root,
                                             void *data,
                                             size_t count,
                                             const struct corecast_own_operator_t *operator_,
                                             struct corecast_request_t **request);

// Starts `corecast_allreduce`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_allreduce(const struct corecast_flight_t *flight,
                                           void *data,
                                           size_t count,
                                           corecast_element_t element,
                                           corecast_operator_t operator_,
                                           struct corecast_request_t **request);

// Starts `corecast_allreduce_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_allreduce_with(const struct corecast_flight_t *flight,
                                                void *data,
                                                size_t count,
                                                const struct corecast_own_operator_t *operator_,
                                                struct corecast_request_t **request);

// Starts `corecast_reduce_scatter`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `count` elements, `recv` as many as the block of this rank, until the operation has ended.
corecast_status_t corecast_start_reduce_scatter(const struct corecast_flight_t *flight,
                                                const void *send,
                                                size_t count,
                                                void *recv,
                                                corecast_element_t element,
                                                corecast_operator_t operator_,
                                                struct corecast_request_t **request);

// Starts `corecast_reduce_scatter_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `count` elements, `recv` as many as the block of this rank. `operator` is NULL or an
// operator that keeps to its contract, until the operation has ended.
corecast_status_t corecast_start_reduce_scatter_with(const struct corecast_flight_t *flight,
                                                     const void *send,
                                                     size_t count,
                                                     void *recv,
                                                     const struct corecast_own_operator_t *operator_,
                                                     struct corecast_request_t **request);

// Starts `corecast_reduce_scatterv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle;
// `counts` has a number for each rank, `send` as many elements as all of them, `recv` as many as
// this rank's, until the operation has ended.
corecast_status_t corecast_start_reduce_scatterv(const struct corecast_flight_t *flight,
                                                 const void *send,
                                                 const size_t *counts,
                                                 void *recv,
                                                 corecast_element_t element,
                                                 corecast_operator_t operator_,
                                                 struct corecast_request_t **request);

// Starts `corecast_reduce_scatterv_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle;
// `counts` has a number for each rank, `send` as many elements as all of them, `recv` as many as
// this rank's. `operator` is NULL or an operator that keeps to its contract, until the operation
// has ended.
corecast_status_t corecast_start_reduce_scatterv_with(const struct corecast_flight_t *flight,
                                                      const void *send,
                                                      const size_t *counts,
                                                      void *recv,
                                                      const struct corecast_own_operator_t *operator_,
                                                      struct corecast_request_t **request);

// Starts `corecast_scan`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_scan(const struct corecast_flight_t *flight,
                                      void *data,
                                      size_t count,
                                      corecast_element_t element,
                                      corecast_operator_t operator_,
                                      struct corecast_request_t **request);

// Starts `corecast_scan_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_scan_with(const struct corecast_flight_t *flight,
                                           void *data,
                                           size_t count,
                                           const struct corecast_own_operator_t *operator_,
                                           struct corecast_request_t **request);

// Starts `corecast_exscan`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended.
corecast_status_t corecast_start_exscan(const struct corecast_flight_t *flight,
                                        void *data,
                                        size_t count,
                                        corecast_element_t element,
                                        corecast_operator_t operator_,
                                        struct corecast_request_t **request);

// Starts `corecast_exscan_with`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements. `operator` is NULL or an operator that keeps to its contract, until the
// operation has ended.
corecast_status_t corecast_start_exscan_with(const struct corecast_flight_t *flight,
                                             void *data,
                                             size_t count,
                                             const struct corecast_own_operator_t *operator_,
                                             struct corecast_request_t **request);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CORECAST_H */
