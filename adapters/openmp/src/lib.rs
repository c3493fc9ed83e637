//! Corecast's barrier under unmodified OpenMP programs: a library that is loaded before the program's own, by
//! `corecast run -- PROGRAM` or by `LD_PRELOAD`. `docs/openmp.md` says which programs and constructs it covers.
//!
//! Compilers turn OpenMP into calls of a *runtime*: GCC calls `GOMP_barrier`, Clang calls `__kmpc_barrier`. This
//! library exports functions of the same names, which the loader finds first. It lets the runtime do everything (start
//! threads, share loops, run tasks), and only decides who runs a barrier: a team of Corecast, or the runtime.
//!
//! # Layers
//!
//! A file imports and calls only files of smaller numbers, so it can be read knowing nothing but those. Read downwards,
//! the picture is the order of what happens: the loader calls at the top left before the program starts, the program's
//! code at the top right for each region and each barrier in it.
//!
//! ```text
//! the loader      the program's code
//!     │             ┌────┼─────┐
//!     ▼             │    ▼     │
//! 14 mod       13   │ constructs       the ends of constructs, each of which has a barrier
//!     │             ├────┴─────┤
//!     │             ▼          ▼
//!     │        12  gnu        llvm     starts of regions, and barriers, by the two runtimes' names and calling
//!     │             │          │       conventions; beside them passed_on, what stays with the runtime
//!     │             └────┬─────┘
//!     │        11      entry           begins a region, meets at a barrier, cancels its team
//!     │                  │
//!     │        10      timed           a thread's stay in a region whose waits are recorded
//!     │                  │
//!     │         9      thread          the levels that a thread is in, and the regions that it starts
//!     │                  │
//!     │         8      level           one region around a thread's code, and whose its barriers are
//!     │                  │
//!     │         7      region          what the thread that starts a region shares with those in it; beside it
//!     │             ┌────┴─────┐       unload, the end of libraries
//!     ├───────► 6 waits        │       the record of waits
//!     │             │      5 teams     the team cache; beside it copyprivate, what `single copyprivate` gives
//!     └───────► 4   │  init ◄──┤       on or off and the CPUs at the start; what is said at the end
//!               3   │  runtime ◄       the runtimes of the process, and which of them some code uses
//!                   ▼    ▼     ▼
//!               2     objects          the program and its libraries: where they lie, and when some are unloaded
//!               1     record           the form of the record of waits, which is that of teams
//! ```
//!
//! All but [`record`], which is the façade's, lie in `preload/`.
//!
//! # Invariants
//!
//! **Invariant 1:** a barrier of a region is Corecast's for all of its threads or for none.
//!
//! - At the first barrier of a region each thread looks for the region's team. The first one decides under a lock, and
//!   all others find what it decided, a team or a refusal.
//! - A barrier has to complete pending tasks and to see cancellations, which only the runtime can do. So the thread
//!   that makes a task, or cancels, first cancels the team's barriers from its own next one on. Say that this is
//!   barrier *k*, and that other threads already wait in it:
//!
//!   ```text
//!   thread 0:  barrier k-1   task: cancels k, then makes it   barrier k: the runtime's
//!   thread 1:  barrier k-1   barrier k: waits ─── error ────► barrier k: the runtime's
//!   ```
//!
//!   Barrier *k* of the team cannot have completed, because thread 0 has not come to it. Those before *k* do complete,
//!   because thread 0 has come to them. So all threads leave the team at the same barrier, and as none of them uses the
//!   team again before the region ends, they meet at the runtime's barriers *k*, *k* + 1, ….
//! - Where two runtimes meet in one program, code of one is called in regions of the other. A thread then is in levels of
//!   both, and a barrier, a task or the end of a construct is looked for in the innermost level of the runtime that the
//!   calling code reaches: by the names that it calls, and the object that it is in. Nothing of one runtime ever counts
//!   for a region of the other.
//!
//! **Invariant 2:** the fields of a region are written by the thread that starts it, while no other thread is in it:
//! before the runtime's fork, and after its join. In between they are only read; what threads change meanwhile is
//! atomic or under a lock.
//!
//! **Invariant 3:** a cached team belongs to at most one region, and each of its members to one thread of that region.
//! A team that was cancelled, or made before a `fork`, is not used again.
//!
//! **Invariant 4:** a barrier finds its team by a few loads and two compares: no call, no lock, no write, and nothing that
//! another thread has written since the region began. One compare is that the thread has a team, the other one that the
//! call comes from the object of the region's code.
//!
//! **Invariant 5:** only runtimes are kept loaded. An address of any other object is remembered together with
//! `objects::state`, and looked up again once something was unloaded.
//!
//! **Invariant 6:** threads of a region take no lock of the loader, which may hold it for the constructor or destructor
//! that has started the region. So they look objects up without it, and have no thread-local values with destructors. The
//! exception is the first call from an object that was not seen before.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod preload;
pub use corecast::record;
