//! Corecast's collectives under unmodified MPI programs: a library that is loaded before the program's own, by
//! `corecast run -- mpirun … PROGRAM` or by `LD_PRELOAD`. `docs/mpi.md` says what it serves.
//!
//! It exports functions of the names that programs call, which the loader finds first. The processes of a communicator make a
//! team of Corecast on each of their hosts, and its collectives run there; between hosts they run over messages of the MPI
//! library's. Everything else goes on to the MPI
//! library, which starts the processes, carries their messages and knows their communicators and data types.
//!
//! # Layers
//!
//! A file calls only files of smaller numbers.
//!
//! ```text
//! the loader    the program's code
//!     │              │
//!     │       8    entry                       the functions by their names, and where else they are defined
//!     │              ├────────────┐
//!     │       7    moves     reductions        one function for each collective
//!     │              ├────────────┤
//!     │       6    call         parts          one call; buffers with a part for each rank
//!     │              ├────────────┤
//!     │       5  communicators  buffers        what is known of them by handle; the program's buffers as bytes;
//!     │              windows     │             windows of shared memory
//!     │              │            │
//!     │       4    teams      operators        teams of communicators' members; operators of reductions
//!     │              │            │
//!     │       3    card  ranks  race  types    what a process tells others of itself; one rank of a host or of several;
//!     │            heap    │      │     │      memory that programs ask MPI for; who is faster; what is known of data types;
//!     │            regions │      │     │      memory of windows, which teams lend;
//!     │            sites   │      │     │      where the program calls, and how long what no team has takes
//!     │              └─────┴──┬───┴─────┘
//!     └────── 2    process  slots  between     on or off, the MPI library, its progress; where tables keep handles; the
//!                   racing    costs            way between hosts, and what messages cost there; one race
//!             1      corecast_network          what differs between MPI libraries
//! ```
//!
//! # Invariants
//!
//! **Invariant 1:** all ranks of a communicator run a collective on its team, or all of them leave it to the library. So
//! what decides is the same on all ranks: the communicator, how many collectives were called on it, and of reductions the
//! operator and the type. Lengths and types of what is moved may differ between ranks, and decide nothing. Only what is wrong
//! on one rank alone, and is refused by the library before it sends anything, goes there from that rank alone.
//!
//! **Invariant 2:** a communicator's team is made in the same call of all its members, by collectives of the library on that
//! communicator; and it is used only if all of them have mapped its memory.
//!
//! **Invariant 3:** what was learned of a handle is forgotten when the library deletes the attribute that says whose it is,
//! before the handle can be used again.
//!
//! **Invariant 4:** a rank that waits for long has the library make progress, since others may wait for its part of a message.
//!
//! **Invariant 5:** a call that is taken over takes no lock and, where elements are dense and nothing lies in place, copies
//! nothing that its algorithm does not copy but the operands of a reduction that go where the result will be.

mod between;
mod buffers;
mod call;
mod card;
mod communicators;
mod costs;
pub mod entry;
mod heap;
mod moves;
mod narrow;
mod operators;
mod parts;
mod process;
mod race;
mod racing;
mod ranks;
mod reductions;
mod regions;
mod sites;
mod slots;
mod teams;
mod types;
mod windows;

#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    if process::begin() {
        sites::begin();
        // The kinds of fences are asked for now: with one thread the kernel answers at once; later it waits for all CPUs, some
        // 10 ms each.
        corecast_wire::fence_kind();
        corecast_wire::shared_fence_kind();
        // SAFETY: a function of this library, which is never unloaded.
        unsafe { libc::atexit(at_end) };
    }
}

extern "C" fn at_end() {
    communicators::say_if_nothing_was_gained();
}
