/*
 * Corecast: communication between the cores of one machine.
 *
 * A team has one member per rank. All members call the same operations in the
 * same order. A member that does not gets an error, and so does every member
 * that waits for it. Every function that can fail returns a corecast_status_t,
 * and corecast_error_message() says in words what went wrong. No panic leaves
 * Corecast.
 *
 * Each function says which threads may call it:
 *   any          any thread, at any time, also several at once
 *   one          one thread at a time may use the handle
 *
 * A second thread that uses a handle at the same time, and a member's own
 * operator that uses the member, get CORECAST_STATUS_BUSY where that is noticed.
 *
 * Written by cbindgen from bindings/c/src; do not edit.
 */

#ifndef CORECAST_H
#define CORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Any rank, among those that a process brings to `corecast_builder_enter`.
#define CORECAST_ANY_RANK SIZE_MAX

// Any NUMA node, for the ends of `corecast_queue_new`.
#define CORECAST_ANY_NODE (-1)

// The built-in operators, as constants of the type that own operators have.
#define CORECAST_OPERATOR_SUM (&corecast_operator_sum)
#define CORECAST_OPERATOR_PRODUCT (&corecast_operator_product)
#define CORECAST_OPERATOR_MIN (&corecast_operator_min)
#define CORECAST_OPERATOR_MAX (&corecast_operator_max)
#define CORECAST_OPERATOR_AND (&corecast_operator_and)
#define CORECAST_OPERATOR_OR (&corecast_operator_or)
#define CORECAST_OPERATOR_XOR (&corecast_operator_xor)

// How a call went. `corecast_error_message()` explains every status but the first.
typedef enum corecast_status {
  // The call did what it was asked for.
  CORECAST_STATUS_OK = 0,
  // An argument was refused: NULL, a length, a root, a number or a word. Nothing was done, and the
  // team is as it was.
  CORECAST_STATUS_INVALID = 1,
  // The handle is in use at this moment, by another thread or by the member's own operator. Nothing
  // was done.
  CORECAST_STATUS_BUSY = 2,
  // The team could not be made.
  CORECAST_STATUS_UNBUILDABLE = 3,
  // The processes did not become one team.
  CORECAST_STATUS_NOT_MET = 4,
  // The rank could not be joined.
  CORECAST_STATUS_NOT_JOINED = 5,
  // Two members are in different operations, or gave different roots. The team has failed.
  CORECAST_STATUS_MISMATCH = 6,
  // Two members gave different lengths. The team has failed.
  CORECAST_STATUS_LENGTH = 7,
  // A process has overwritten the team's memory. The team has failed.
  CORECAST_STATUS_CORRUPT = 8,
  // A member has left, or died, while others wait for it. The team has failed.
  CORECAST_STATUS_PEER_LOST = 9,
  // This process was forked from the one that joined.
  CORECAST_STATUS_FORKED = 10,
  // Nobody has joined as a rank that is waited for. The team has failed.
  CORECAST_STATUS_NEVER_JOINED = 11,
  // A member takes longer than the limit that was set. The team has failed.
  CORECAST_STATUS_STALLED = 12,
  // The team has no operations in flight: its depth is 0, or there is no memory for them.
  CORECAST_STATUS_NO_FLIGHT = 13,
  // The handle is of no more use, because Corecast panicked in an earlier call with it.
  CORECAST_STATUS_LEFT = 14,
  // Corecast panicked. The handle that was in use has left its team or its queue.
  CORECAST_STATUS_PANICKED = 15,
  // The system refused memory or a thread, or the failure has no status of its own.
  CORECAST_STATUS_FAILED = 16,
  // A member has cancelled this operation and all later ones: see `corecast_cancel`.
  CORECAST_STATUS_CANCELLED = 17,
  // The other end of the queue was freed, and nothing is left in it to receive.
  CORECAST_STATUS_CLOSED = 18,
} corecast_status;

// Types of elements. The built-in operators know all of them but the last.
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
  // Elements of an operator of the caller's own, as long as that operator was made for. Only such
  // operators take them.
  CORECAST_ELEMENT_OWN = 14,
} corecast_element;

// For whom one side of an operation waits, as in UPC.
typedef enum corecast_await {
  // For nobody. Before: as `CORECAST_AWAIT_MY`. After: the member goes on at once, and others may
  // read and write its data until it waits. Only operations in flight can do this; of an operation
  // that waits it is the same as `CORECAST_AWAIT_MY`.
  CORECAST_AWAIT_NO = 0,
  // For the member's own data. Before: they may be read as soon as the member calls. After: they are
  // as they should be, and nobody reads them any more. Every operation that waits does this by itself.
  CORECAST_AWAIT_MY = 1,
  // For all members, by a barrier. Before: nobody's data are touched until all have come. After:
  // nobody goes on until all data of all members are as they should be.
  CORECAST_AWAIT_ALL = 2,
} corecast_await;

// A barrier of threads that have no rank: any thread may come, and the number that is expected may
// shrink, as with C++20's `std::barrier`. Members of a team call `corecast_barrier` instead.
typedef struct corecast_barrier_t corecast_barrier_t;

// Makes teams. What it is not told it finds out: the machine, its costs, the plans. It keeps what it
// was told, and one builder can make several teams.
typedef struct corecast_builder_t corecast_builder_t;

// A member whose operations are in flight, for as long as the body of `corecast_overlap` runs. Only
// the thread of the body may use it.
typedef struct corecast_flight_t corecast_flight_t;

// One rank of a team. One thread at a time may use it. Freeing it means leaving the team: whoever
// waits for it then fails.
typedef struct corecast_member_t corecast_member_t;

// How a reduction makes one element of two. The built-in operators are constants
// (`CORECAST_OPERATOR_SUM` and so on), `corecast_operator_new` makes others, and every operation that
// combines takes either. All members give operators that do the same.
typedef struct corecast_operator_t corecast_operator_t;

// The receiving end of a queue. One thread at a time may use it.
typedef struct corecast_receiver_t corecast_receiver_t;

// An operation in flight, until `corecast_request_wait` has returned or the body has.
typedef struct corecast_request_t corecast_request_t;

// The sending end of a queue. One thread at a time may use it.
typedef struct corecast_sender_t corecast_sender_t;

// A team of threads, in this process or in several. Free its members before it.
typedef struct corecast_team_t corecast_team_t;

// A number of `corecast_element`.
typedef int32_t corecast_element_t;

// What functions return.
typedef enum corecast_status corecast_status_t;

// Combines arrays element by element: `into[i] = into[i] ∘ with[i]` for `count` elements, of which
// those of `with` come from higher ranks. It must be associative. It may be called with any pieces of
// the data, on the threads of any members, by several of them at once. It must not unwind: no
// exception, no `longjmp`.
//
// In an operation in flight it runs on that operation's stack, of 128 KiB unless `corecast_builder_stack`
// asks for more, not on the thread's. A function that uses more ends the program with a memory fault, as
// the 1 MiB below the stack cannot be touched. If it has a frame that is longer than that, compile it with
// `-fstack-clash-protection`, or it may reach beyond.
//
// The caller sees to it that
// both arrays have `count` elements and do not overlap.
typedef void (*corecast_combine_t)(void *into,
                                   const void *with,
                                   size_t count,
                                   void *context);

// What each thread of `corecast_team_run` does as a rank. `member` is lent for as long as this runs;
// `context` is what `corecast_team_run` was given. It must not unwind: no exception, no `longjmp`.
typedef void (*corecast_body_t)(struct corecast_member_t *member, void *context);

// A number of `corecast_await`.
typedef int32_t corecast_await_t;

// What `corecast_synced` runs between its barriers. It returns the first status that is not
// `CORECAST_STATUS_OK`. `member` and `context` are those of `corecast_synced`. It must not unwind: no
// exception, no `longjmp`.
typedef corecast_status_t (*corecast_synced_body_t)(struct corecast_member_t *member,
                                                    void *context);

// What a member does while its operations are in flight. `flight` is lent for as long as this runs;
// `context` is what `corecast_overlap` was given. It must not unwind: no exception, no `longjmp`.
typedef void (*corecast_flight_body_t)(const struct corecast_flight_t *flight,
                                       void *context);

// What `corecast_flight_synced` runs: it starts operations, and returns the first status that is not
// `CORECAST_STATUS_OK`. `flight` and `context` are those of `corecast_flight_synced`. It must not
// unwind: no exception, no `longjmp`.
typedef corecast_status_t (*corecast_flight_synced_body_t)(const struct corecast_flight_t *flight,
                                                           void *context);

// What the last thread of a phase runs before anybody goes on. `context` is what
// `corecast_barrier_new` was given. It must not use the barrier, nor unwind: no exception, no
// `longjmp`.
typedef void (*corecast_completion_t)(void *context);

// The phase in which a thread has arrived.
typedef uint32_t corecast_phase_t;

// What a message is, besides its bytes.
typedef struct corecast_message_t {
  // Bytes of the message.
  size_t bytes;
  // The number that the sender gave along.
  uint32_t tag;
} corecast_message_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// a + b. Integers wrap around.
extern const struct corecast_operator_t corecast_operator_sum;

// a · b. Integers wrap around.
extern const struct corecast_operator_t corecast_operator_product;

// The smaller one. It is NaN if either is, and takes -0 for less than +0.
extern const struct corecast_operator_t corecast_operator_min;

// The larger one. It is NaN if either is, and takes -0 for less than +0.
extern const struct corecast_operator_t corecast_operator_max;

// a & b, of integers.
extern const struct corecast_operator_t corecast_operator_and;

// a | b, of integers.
extern const struct corecast_operator_t corecast_operator_or;

// a ^ b, of integers.
extern const struct corecast_operator_t corecast_operator_xor;

// The text of this thread's last call that failed: one line that quotes the input and says what to
// do. It is empty if no call has failed, and stays until the next one fails.
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

// Bytes of an element; 0 for `CORECAST_ELEMENT_OWN`, whose length an operator says, and for a number
// that is no `corecast_element`.
//
// Threads: any.
size_t corecast_element_bytes(corecast_element_t element);

// Makes an operator of a function of the caller's, on elements of `element_bytes` bytes. Where the
// order of ranks must be kept, because the function is not commutative, `ordered` is true.
//
// Operations take it with `CORECAST_ELEMENT_OWN`, or with a type of `corecast_element` that is as
// long. It must live until an operation that waits has returned; one in flight keeps what it needs of
// it.
//
// Threads: any.
//
// The caller sees to it that
// `combine` is NULL or does what `corecast_combine_t` says with `context`, until the last operation
// with this operator has ended; elements are aligned to at most 16 bytes; `operator` is NULL or a
// place for a handle.
corecast_status_t corecast_operator_new(corecast_combine_t combine,
                                        void *context,
                                        size_t element_bytes,
                                        bool ordered,
                                        struct corecast_operator_t **operator_);

// Frees an operator of the caller's own. Operations in flight that use it end as they would have.
// The built-in operators are refused. NULL is allowed and does nothing.
//
// Threads: one.
//
// The caller sees to it that
// `operator` is NULL or a live handle, which is not used afterwards.
corecast_status_t corecast_operator_free(struct corecast_operator_t *operator_);

// Makes a builder that has been told nothing: its team has one rank for each PU that this process may
// use.
//
// Threads: any.
//
// The caller sees to it that
// `builder` is NULL or a place for a handle.
corecast_status_t corecast_builder_new(struct corecast_builder_t **builder);

// Frees a builder. NULL is allowed and does nothing.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle, which is not used afterwards.
void corecast_builder_free(struct corecast_builder_t *builder);

// Discovers the machine, chooses, and makes a team of threads of this process.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `team` is NULL or a place for a handle.
corecast_status_t corecast_builder_build(const struct corecast_builder_t *builder,
                                         struct corecast_team_t **team);

// Meets other processes at `address` and makes one team of `size` ranks with them. This process
// brings `count` ranks: those in `ranks`, of which `CORECAST_ANY_RANK` is one that is free; or any
// free ones, where `ranks` is NULL. Returns when all processes have come, at the latest after the
// limit of `corecast_builder_join_limit`.
//
// An address with a '/' is a path, at which there is a socket meanwhile; any other one is a name of
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

// Makes this process part of the team for which a launcher has started it, such as
// `corecast run -n 4 -- PROGRAM`. Without a launcher the team is NULL, which is no error.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `team` is NULL or a place for a handle.
corecast_status_t corecast_builder_inherited(const struct corecast_builder_t *builder,
                                             struct corecast_team_t **team);

// Asks for `ranks` ranks on the usable PUs, one NUMA node after the other. Where there are more ranks
// than PUs, several share one, and are not pinned unless `corecast_builder_pin` says so.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_threads(struct corecast_builder_t *builder,
                                           size_t ranks);

// Asks for one rank for each PU of a list such as "0-3,8", in its order.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `list` is a text that ends.
corecast_status_t corecast_builder_cores(struct corecast_builder_t *builder,
                                         const char *list);

// Plans for the costs in this machine file instead of those of this machine.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `path` is a text that ends.
corecast_status_t corecast_builder_machine_file(struct corecast_builder_t *builder,
                                                const char *path);

// Looks for measured costs and tuned profiles in this folder instead of the user's cache folder.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `folder` is a text that ends.
corecast_status_t corecast_builder_profile_folder(struct corecast_builder_t *builder,
                                                  const char *folder);

// Runs this pattern, whatever the model and measurements say: "smelt", "binomial", "dissemination:2"
// and so on. For operations that it cannot do Corecast chooses as if none had been named.
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

// Builds all trees from this rank. Any rank can still be the root of any operation; this one is the
// fastest.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_root(struct corecast_builder_t *builder,
                                        size_t rank);

// Says whether threads are pinned: those of `corecast_team_run`, and those that call
// `corecast_team_pin_here`. By default they are, unless there are more ranks than usable PUs.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_pin(struct corecast_builder_t *builder,
                                       bool pin);

// Says whether the team learns while it runs which algorithms are fastest: the first calls of an operation at
// a length race them, and later calls use the winner. By default it does where the environment has
// `CORECAST_TUNE=online`, and it never does in deterministic teams. In a team of processes the first one
// decides for all.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_learn(struct corecast_builder_t *builder,
                                         bool learn);

// Sets aside this many bytes of addresses for each rank of a team of processes, of which `corecast_alloc` makes
// buffers; 0 for none, 1 GiB by default. They take no memory until then. In a team of processes the first one
// decides for all.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_symmetric(struct corecast_builder_t *builder,
                                             size_t bytes);

// Says how members wait: "spin", "balanced", "park", or for how long a wait may use a CPU before it
// sleeps, such as "20us". The default is what `CORECAST_WAIT` says, else "balanced".
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `waiting` is a text that ends.
corecast_status_t corecast_builder_wait(struct corecast_builder_t *builder,
                                        const char *waiting);

// Says how members wait, to the nanosecond: they poll for `spin_ns`, then poll and yield the CPU for
// `yield_ns`, and then sleep, or begin again where `park` is false.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_policy(struct corecast_builder_t *builder,
                                          uint32_t spin_ns,
                                          uint32_t yield_ns,
                                          bool park);

// Says for how many nanoseconds a member may wait for another one before that is
// `CORECAST_STATUS_STALLED`. By default there is no limit.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_patience(struct corecast_builder_t *builder,
                                            uint64_t nanoseconds);

// Says for how many nanoseconds a member may wait for a rank that nobody has joined, and processes for
// each other. The default is 10 s.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_join_limit(struct corecast_builder_t *builder,
                                              uint64_t nanoseconds);

// Says whether reductions give the same bits on every rank, for every plan, root, length and
// repetition. The default is false.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_deterministic(struct corecast_builder_t *builder,
                                                 bool deterministic);

// Says how many operations a member can have in flight at a time. The default is 8.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_depth(struct corecast_builder_t *builder,
                                         size_t depth);

// Says how many bytes the stack of each operation in flight has. Operators run on it, and an algorithm takes some
// kilobytes. The default is 128 KiB; fewer are as many. Memory is taken for what is used.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_stack(struct corecast_builder_t *builder,
                                         size_t bytes);

// Chooses the protocol of the team's queues: "ump", the default, or "fastforward".
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `backend` is a text that ends.
corecast_status_t corecast_builder_backend(struct corecast_builder_t *builder,
                                           const char *backend);

// Says how many slots each of the team's queues has: a power of two, at least 2. The default is 64, and, where
// ranks share hardware threads, 256 for messages as long as with 64.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle.
corecast_status_t corecast_builder_slots(struct corecast_builder_t *builder,
                                         size_t slots);

// Takes a tuning for operations that begin "strict", at all ranks at one instant, which is the default;
// or "loose", each as soon as the one before has ended.
//
// Threads: one.
//
// The caller sees to it that
// `builder` is NULL or a live handle; `start` is a text that ends.
corecast_status_t corecast_builder_start(struct corecast_builder_t *builder,
                                         const char *start);

// Makes a team of the ranks of `team` that go on: all but the `count` ranks in `leaving`, those whose thread panicked, and
// those whose process has ended or has freed its team. The others keep their order, and move up. All members of `team` must
// have left before; in a team of processes each process that lives calls this, with the ranks of its own that leave.
//
// Writes to `completed`, unless that is NULL, the number of operations, from the first one on, that have completed on all
// ranks that go on. `team` can be freed afterwards.
//
// Threads: one.
//
// The caller sees to it that
// `team` is NULL or a live handle; `leaving` has `count` numbers, and may be NULL if that is 0; `next` is NULL or a place
// for a handle; `completed` is NULL or a place for a number.
corecast_status_t corecast_team_without(const struct corecast_team_t *team,
                                        const size_t *leaving,
                                        size_t count,
                                        struct corecast_team_t **next,
                                        uint64_t *completed);

// Makes a team with as many ranks as `team`, in which others take the places of those that were lost: new threads, and in a
// team of processes other processes, which enter a team of this size at the same address, and ask for the ranks that were
// lost. Else as `corecast_team_without`.
//
// Threads: one.
//
// The caller sees to it that
// `team` is NULL or a live handle; `next` is NULL or a place for a handle; `completed` is NULL or a place for a number.
corecast_status_t corecast_team_refilled(const struct corecast_team_t *team,
                                         struct corecast_team_t **next,
                                         uint64_t *completed);

// Makes a team of `ranks` threads of this process. Corecast chooses everything else.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a place for a handle.
corecast_status_t corecast_team_new(size_t ranks, struct corecast_team_t **team);

// Frees a team. Whoever waits for a rank that nobody has joined gets an error. NULL is allowed and
// does nothing.
//
// Threads: one.
//
// The caller sees to it that
// `team` is NULL or a live handle, which is not used afterwards.
corecast_status_t corecast_team_free(struct corecast_team_t *team);

// The number of ranks, of all processes together; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle.
size_t corecast_team_size(const struct corecast_team_t *team);

// Writes the ranks of this process, in order, as many as there is room for, and to `count` how many
// there are. They are all ranks, unless other processes bring some.
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
// pins, and returns when all have ended. It can be called again, as long as no rank was joined by itself. Ranks of
// other processes wait for the next run, or until this process frees the team.
//
// Returns the first failure of any member, if there was one.
//
// Threads: any, one at a time.
//
// The caller sees to it that
// `team` is NULL or a live handle; `body` may be called from several threads at once with `context`.
corecast_status_t corecast_team_run(const struct corecast_team_t *team,
                                    corecast_body_t body,
                                    void *context);

// Makes the caller a member, for programs that bring their own threads. Each rank can be joined once.
// This pins nothing; `corecast_team_pin_here` does.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `member` is NULL or a place for one.
corecast_status_t corecast_team_join(const struct corecast_team_t *team,
                                     size_t rank,
                                     struct corecast_member_t **member);

// Pins the calling thread to the PU of `rank`, where the team pins. Writes to `pinned`, unless that is
// NULL, whether the thread is confined to its PU now; a system that refuses is no error. The thread
// stays pinned after the team is freed.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `pinned` is NULL or a place for an answer.
corecast_status_t corecast_team_pin_here(const struct corecast_team_t *team,
                                         size_t rank,
                                         bool *pinned);

// Writes what runs, where, why, and how good it is, in words: as much as fits `buffer` with the 0 at
// its end. Writes the length of the whole text, without that 0, to `length`, unless that is NULL.
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

// Returns the first failure of any member, with its text; `CORECAST_STATUS_OK` if there was none.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle.
corecast_status_t corecast_team_failure(const struct corecast_team_t *team);

// Writes the PU of each rank, by the operating system's numbers, as many as there is room for.
//
// Threads: any.
//
// The caller sees to it that
// `team` is NULL or a live handle; `pus` has room for `capacity` numbers.
corecast_status_t corecast_team_pus(const struct corecast_team_t *team,
                                    uint32_t *pus,
                                    size_t capacity);

// The rank of a member; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `member` is NULL or a live handle.
size_t corecast_member_rank(const struct corecast_member_t *member);

// The number of ranks of a member's team; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `member` is NULL or a live handle.
size_t corecast_member_size(const struct corecast_member_t *member);

// Leaves the team and frees a member that `corecast_team_join` gave. `corecast_team_run` frees its
// members itself, and they are refused here. NULL is allowed and does nothing.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle, which is not used afterwards.
corecast_status_t corecast_member_free(struct corecast_member_t *member);

// Cancels every operation of the team from this member's next one on: whoever waits in such an
// operation, or starts one, gets `CORECAST_STATUS_CANCELLED` and goes on. Operations before it
// complete for all, as this member has done its part in them. It is for teams in which some member
// will not come to the operation in which the others wait. The team is of no further use afterwards.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle.
corecast_status_t corecast_cancel(struct corecast_member_t *member);

// Gives `bytes` bytes of zeroed memory of this member to `memory`, which begin with a page. Operations of the
// member lend what lies there without a copy to other processes, as they lend any memory to threads. They take
// whole pages, so a few long buffers are better than many short ones. Where the process that made the team has
// set too few addresses aside for it (`corecast_builder_symmetric`), or there is no memory, the status is
// `CORECAST_STATUS_FAILED`.
//
// The memory outlives its member and its team. `corecast_free` gives it back.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle, `memory` NULL or a place for a pointer.
corecast_status_t corecast_alloc(struct corecast_member_t *member,
                                 size_t bytes,
                                 void **memory);

// Gives memory of `corecast_alloc` back. No operation may use it any more. NULL is allowed and does nothing;
// any other address is refused.
//
// Threads: any.
//
// The caller sees to it that
// Nothing uses the memory afterwards.
corecast_status_t corecast_free(void *memory);

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

// Says how `corecast_reduce_scatter` divides `count` elements among `size` ranks: where the block of
// `rank` begins, and how many elements it has. Where the blocks cannot be equal, the first ones have
// one more.
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
// as it is. All give the same number of elements, the same type, and operators that do the same.
//
// `element` is a type that a built-in operator knows, or `CORECAST_ELEMENT_OWN` for an operator of
// `corecast_operator_new`. An operator that does not know the type is refused before the operation
// begins. So it is with all operations that combine.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements; `operator` is NULL or a live
// handle.
corecast_status_t corecast_reduce(struct corecast_member_t *member,
                                  size_t root,
                                  void *data,
                                  size_t count,
                                  corecast_element_t element,
                                  const struct corecast_operator_t *operator_);

// Combines the members' `data` element by element into everybody's. All get the same bits.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements; `operator` is NULL or a live
// handle.
corecast_status_t corecast_allreduce(struct corecast_member_t *member,
                                     void *data,
                                     size_t count,
                                     corecast_element_t element,
                                     const struct corecast_operator_t *operator_);

// Combines the members' `send`, `count` elements each, and gives each rank its block of the result
// in `recv`: `corecast_block` says which.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `send` has `count` elements, `recv` as many as the block of
// this rank; `operator` is NULL or a live handle.
corecast_status_t corecast_reduce_scatter(struct corecast_member_t *member,
                                          const void *send,
                                          size_t count,
                                          void *recv,
                                          corecast_element_t element,
                                          const struct corecast_operator_t *operator_);

// `corecast_reduce_scatter` in blocks of any lengths, one after another in rank order: `counts[r]`
// elements for each rank r. All give the same counts.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `counts` has a number for each rank, `send` as many elements
// as all of them, `recv` as many as this rank's; `operator` is NULL or a live handle.
corecast_status_t corecast_reduce_scatterv(struct corecast_member_t *member,
                                           const void *send,
                                           const size_t *counts,
                                           void *recv,
                                           corecast_element_t element,
                                           const struct corecast_operator_t *operator_);

// Combines the `data` of all ranks up to this one into this one's.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements; `operator` is NULL or a live
// handle.
corecast_status_t corecast_scan(struct corecast_member_t *member,
                                void *data,
                                size_t count,
                                corecast_element_t element,
                                const struct corecast_operator_t *operator_);

// Combines the `data` of all ranks before this one into this one's. That of rank 0 stays as it is.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `data` has `count` elements; `operator` is NULL or a live
// handle.
corecast_status_t corecast_exscan(struct corecast_member_t *member,
                                  void *data,
                                  size_t count,
                                  corecast_element_t element,
                                  const struct corecast_operator_t *operator_);

// Runs `body`, which calls one operation or several, with more waiting around it than they do by
// themselves: a barrier on each side for which `CORECAST_AWAIT_ALL` is given. All members give the
// same `before` and `after`. For less waiting than they do by themselves: `corecast_flight_synced`.
//
// Returns the first failure: of the barrier before, after which `body` is not run; of `body`, after
// which there is no second barrier; or of the barrier after it.
//
// Threads: one.
//
// The caller sees to it that
// `member` is NULL or a live handle; `body` may be called with `context`.
corecast_status_t corecast_synced(struct corecast_member_t *member,
                                  corecast_await_t before,
                                  corecast_await_t after,
                                  corecast_synced_body_t body,
                                  void *context);

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

// Runs `body`, which starts operations without waiting for them and computes in between. All of them
// have ended when this returns. All members start the same operations in the same order, but may wait
// for them in any order. As many as the team's depth can be in flight; starting one more waits for the
// oldest.
//
// Each operation runs on a stack of its own, as does its operator: `corecast_combine_t` says what that means
// for a function of the caller's.
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

// Writes to `done` whether the operation has ended. Lets all operations in flight go as far as they
// can.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `request` is NULL, or one that was not waited for; `done` is NULL or a place for an answer.
corecast_status_t corecast_request_test(struct corecast_request_t *request,
                                        bool *done);

// Waits until the operation has ended, and gives the request back. It must not be used afterwards.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `request` is NULL, or one that was not waited for.
corecast_status_t corecast_request_wait(struct corecast_request_t *request);

// Starts `corecast_reduce`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended; `operator` is NULL or a live handle.
corecast_status_t corecast_start_reduce(const struct corecast_flight_t *flight,
                                        size_t root,
                                        void *data,
                                        size_t count,
                                        corecast_element_t element,
                                        const struct corecast_operator_t *operator_,
                                        struct corecast_request_t **request);

// Starts `corecast_allreduce`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended; `operator` is NULL or a live handle.
corecast_status_t corecast_start_allreduce(const struct corecast_flight_t *flight,
                                           void *data,
                                           size_t count,
                                           corecast_element_t element,
                                           const struct corecast_operator_t *operator_,
                                           struct corecast_request_t **request);

// Starts `corecast_reduce_scatter`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `send`
// has `count` elements, `recv` as many as the block of this rank, until the operation has ended;
// `operator` is NULL or a live handle.
corecast_status_t corecast_start_reduce_scatter(const struct corecast_flight_t *flight,
                                                const void *send,
                                                size_t count,
                                                void *recv,
                                                corecast_element_t element,
                                                const struct corecast_operator_t *operator_,
                                                struct corecast_request_t **request);

// Starts `corecast_reduce_scatterv`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `counts`
// has a number for each rank; `send` has as many elements as all of them, `recv` as many as this
// rank's, until the operation has ended; `operator` is NULL or a live handle.
corecast_status_t corecast_start_reduce_scatterv(const struct corecast_flight_t *flight,
                                                 const void *send,
                                                 const size_t *counts,
                                                 void *recv,
                                                 corecast_element_t element,
                                                 const struct corecast_operator_t *operator_,
                                                 struct corecast_request_t **request);

// Starts `corecast_scan`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended; `operator` is NULL or a live handle.
corecast_status_t corecast_start_scan(const struct corecast_flight_t *flight,
                                      void *data,
                                      size_t count,
                                      corecast_element_t element,
                                      const struct corecast_operator_t *operator_,
                                      struct corecast_request_t **request);

// Starts `corecast_exscan`.
//
// Threads: one, that of the body.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `request` is NULL or a place for a handle; `data`
// has `count` elements, until the operation has ended; `operator` is NULL or a live handle.
corecast_status_t corecast_start_exscan(const struct corecast_flight_t *flight,
                                        void *data,
                                        size_t count,
                                        corecast_element_t element,
                                        const struct corecast_operator_t *operator_,
                                        struct corecast_request_t **request);

// Runs `body`, which starts one operation or several, with the waiting of `corecast_await` around them.
// All members give the same `before` and `after`.
//
// After `CORECAST_AWAIT_NO` this returns at once, whether or not other members have come. The data must
// then stay, and be neither written nor, if the operation writes them, read, until the member has
// waited for the operation or `corecast_overlap` has returned. After `CORECAST_AWAIT_MY` the member's own part of the
// operations is done; after `CORECAST_AWAIT_ALL` that of every member. Their requests may still be
// waited for.
//
// Returns the first failure: of the barrier before, after which `body` is not run; of `body`, after
// which nothing waits; or of what is waited for after it.
//
// Threads: one, that of the body of `corecast_overlap`.
//
// The caller sees to it that
// `flight` is NULL or that of a body that runs; `body` may be called with `context`.
corecast_status_t corecast_flight_synced(const struct corecast_flight_t *flight,
                                         corecast_await_t before,
                                         corecast_await_t after,
                                         corecast_flight_synced_body_t body,
                                         void *context);

// The most threads that a barrier can expect.
//
// Threads: any.
size_t corecast_barrier_max(void);

// Makes a barrier of `expected` threads in each phase. The last one of each phase runs `completion`
// with `context` before anybody goes on, unless that is NULL. `waiting` is a word as for
// `corecast_builder_wait`; NULL means as `CORECAST_WAIT` says, else as fits the machine and the number
// of threads.
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

// Frees a barrier at which no thread waits. NULL is allowed and does nothing.
//
// Threads: one.
//
// The caller sees to it that
// `barrier` is NULL or a live handle, which is not used afterwards.
void corecast_barrier_free(struct corecast_barrier_t *barrier);

// Arrives for `arrivals` threads without waiting. Writes the phase to `phase`, unless that is NULL,
// for `corecast_barrier_wait`. More arrivals than are missing are refused.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle; `phase` is NULL or a place for one.
corecast_status_t corecast_barrier_arrive(const struct corecast_barrier_t *barrier,
                                          size_t arrivals,
                                          corecast_phase_t *phase);

// Waits until a phase is over: the one that runs, or the one before.
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

// Arrives without waiting, and is not expected any more from the next phase on.
//
// Threads: any.
//
// The caller sees to it that
// `barrier` is NULL or a live handle.
corecast_status_t corecast_barrier_arrive_and_drop(const struct corecast_barrier_t *barrier);

// Makes a queue in which messages go one way, from one thread to another, in the order in which they
// were sent. `slots` is how many short messages it holds: a power of two, at least 2 and at most
// 1,048,576; 0 means 64. A message of at most 56 bytes takes one slot, a longer one two or a slot and room
// for its rest: `corecast_sender_message_bytes_max` says how long it may be.
//
// `backend` is the protocol, "ump" or "fastforward"; NULL means "ump". `waiting` is a word as for
// `corecast_builder_wait`; NULL means as `CORECAST_WAIT` says, else as fits the machine. The nodes are
// those NUMA nodes at which the memory of each end is to lie, or `CORECAST_ANY_NODE`; a system that
// refuses to place it is no error.
//
// Threads: any.
//
// The caller sees to it that
// `backend` and `waiting` are NULL or texts that end; `sender` and `receiver` are NULL or places for
// handles.
corecast_status_t corecast_queue_new(size_t slots,
                                     const char *backend,
                                     const char *waiting,
                                     int32_t sender_node,
                                     int32_t receiver_node,
                                     struct corecast_sender_t **sender,
                                     struct corecast_receiver_t **receiver);

// Frees the sending end. The receiver still gets what was sent, and then `CORECAST_STATUS_CLOSED`.
// NULL is allowed and does nothing.
//
// Threads: one.
//
// The caller sees to it that
// `sender` is NULL or a live handle, which is not used afterwards.
corecast_status_t corecast_sender_free(struct corecast_sender_t *sender);

// Frees the receiving end, and what it has not received. A sender that waits for room, or sends when
// there is none, gets `CORECAST_STATUS_CLOSED`. NULL is allowed and does nothing.
//
// Threads: one.
//
// The caller sees to it that
// `receiver` is NULL or a live handle, which is not used afterwards.
corecast_status_t corecast_receiver_free(struct corecast_receiver_t *receiver);

// The longest message in bytes that a queue takes; 0 for NULL.
//
// Threads: any.
//
// The caller sees to it that
// `sender` is NULL or a live handle.
size_t corecast_sender_message_bytes_max(const struct corecast_sender_t *sender);

// Sends a message, and waits for room if there is none. `tag` is a number of the caller's that the
// receiver gets along with it, at most 16,777,215. A message without bytes is allowed.
//
// Threads: one.
//
// The caller sees to it that
// `sender` is NULL or a live handle; `data` has `bytes` bytes.
corecast_status_t corecast_sender_send(struct corecast_sender_t *sender,
                                       uint32_t tag,
                                       const void *data,
                                       size_t bytes);

// Sends a message if there is room at once, and writes to `sent` whether it was sent.
//
// Threads: one.
//
// The caller sees to it that
// `sender` is NULL or a live handle; `data` has `bytes` bytes; `sent` is NULL or a place for an
// answer.
corecast_status_t corecast_sender_try_send(struct corecast_sender_t *sender,
                                           uint32_t tag,
                                           const void *data,
                                           size_t bytes,
                                           bool *sent);

// Waits for the next message, copies it to the front of `buffer`, and writes to `message`, unless
// that is NULL, how long it is and its tag. One that is longer than `capacity` is refused and stays in
// the queue; `message` says how much room it needs.
//
// Threads: one.
//
// The caller sees to it that
// `receiver` is NULL or a live handle; `buffer` has `capacity` bytes; `message` is NULL or a place for
// one.
corecast_status_t corecast_receiver_receive(struct corecast_receiver_t *receiver,
                                            void *buffer,
                                            size_t capacity,
                                            struct corecast_message_t *message);

// Receives the next message as `corecast_receiver_receive` does if it is there at once, and writes to
// `received` whether it was.
//
// Threads: one.
//
// The caller sees to it that
// `receiver` is NULL or a live handle; `buffer` has `capacity` bytes; `message` is NULL or a place for
// one, `received` NULL or a place for an answer.
corecast_status_t corecast_receiver_try_receive(struct corecast_receiver_t *receiver,
                                                void *buffer,
                                                size_t capacity,
                                                struct corecast_message_t *message,
                                                bool *received);

// Writes to `there` whether a message could be received without waiting, and if so to `message`,
// unless that is NULL, how long it is and its tag. The message stays in the queue.
//
// Threads: one.
//
// The caller sees to it that
// `receiver` is NULL or a live handle; `message` is NULL or a place for one, `there` NULL or a place
// for an answer.
corecast_status_t corecast_receiver_peek(struct corecast_receiver_t *receiver,
                                         struct corecast_message_t *message,
                                         bool *there);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CORECAST_H */
