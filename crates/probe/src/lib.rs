//! Corecast's measurements: pairwise send and receive over the queues that the collectives use.
//!
//! Smelt's machine model (§3.1) says for every ordered pair (i, j) of hardware threads how long i
//! is blocked to send one line to j, and how long j is blocked to receive it. [`pairwise`]
//! measures both on this machine (§3.2), over [`corecast_wire::queue`] as it is:
//!
//! ```text
//!  config ─► schedule ─► Measurer (hardware, or a fake) ─► fill ─► Measurement ─► MachineFile
//!            (pure)       one pair at a time               (pure)
//! ```
//!
//! [`deep`](mod@deep) measures the costs below messages: single lines by state and place, waits, copies.
//!
//! # What is measured
//!
//! | matrix | what is timed | on |
//! | --- | --- | --- |
//! | [`send`](Measurement::send) | 8 messages sent one after another, per message | i |
//! | [`receive`](Measurement::receive) | 8 messages received that lie in the queue already, per message | j |
//! | [`send_drained`](Measurement::send_drained) | one message sent, until it has left the write buffer | i |
//! | [`receive_alone`](Measurement::receive_alone) | one message received that lies in the queue already | j |
//! | [`one_way`](Measurement::one_way) | half of a round trip over two queues | i |
//! | [`one`](Measurement::one), [`long`](Measurement::long) | one message after a pause, from a common start; of a line, of 4 KiB | j |
//! | [`crossed`](Measurement::crossed) | one message of a line each way, from a common start | the later one |
//! | [`taken`](Measurement::taken) | `receive_alone` of 4 KiB | j |
//!
//! The two threads take turns by flags outside of the timed sections, so that each line is in the
//! state that it has in steady use: the slots that i writes were last read by j, the lines that j
//! reads were last written by i. One sample is a whole lap of the ring, so every sample pays for
//! the queue's flow control exactly as often as the queue does. Each pair has a queue of its own,
//! made by the two pinned threads themselves, its slots on the receiver's NUMA node.
//!
//! # What the numbers hide
//!
//! A sender is blocked until its stores are in the *write buffer* of its core, not until the line
//! has been fetched and written: `send` is therefore mostly instructions, and the transfer that
//! makes the line writable goes on behind the sender's back. Smelt sends batches of 8 to compensate;
//! where the buffer holds more (56 stores on Skylake, two or three for each message), that does
//! not suffice. `send_drained` is the same with the buffer emptied, which shows the difference.
//!
//! A receiver of 8 messages in adjacent lines is helped by *prefetching* and by its own execution
//! out of order: the first line pays a full transfer, the others a part of it. A message that comes
//! alone, as in a tree, pays `receive_alone`.
//!
//! Nor does either contain the *invalidation* of the receiver's copy that a poll left behind. So
//! `send + receive` is far less than `one_way`, and `send_drained + receive_alone` is about it. In
//! nanoseconds on a two-core KVM guest (Xeon at 2.5 GHz, Cascade Lake, November 2026, `cargo run
//! --release -p corecast-probe --example pairwise`):
//!
//! | | send | receive | send_drained | receive_alone | one_way |
//! | --- | --- | --- | --- | --- | --- |
//! | UMP | 4 | 16 to 17 | 47 to 56 | 57 to 60 | 104 to 109 |
//! | UMP, at times | 8 | 16 to 20 | 43 to 58 | 56 to 64 | 106 to 114 |
//! | FastForward | 4 to 5 | 18 to 19 | 52 to 55 | 56 to 62 | 129 to 131 |
//!
//! At times all instructions of one of the two CPUs take twice as long, as they would if the host
//! ran something else on the same core. An interval tells how well one run knows its median; it
//! does not foresee what the machine will be doing at the next one. [`Basis`] says which of the
//! numbers become a cost model.
//!
//! # Invariants
//!
//! **Architecture invariant:** pairs are measured one after another, never two at once. The
//! estimator, the schedule and the filling are pure; only `hardware`, what `deep` runs on its crews, and the
//! runs' own clocks look at the machine. Nothing panics when pinning is refused: see [`ProbeError`] and
//! [`measure_or_builtin`].
#![forbid(unsafe_code)]

mod calendar;
mod class;
mod config;
pub mod deep;
mod error;
mod estimate;
mod fill;
mod hardware;
mod measurement;
mod measurer;
pub mod network;
mod outcome;
mod run;
mod schedule;

pub use calendar::now_utc;
pub use class::Class;
pub use config::Config;
pub use error::ProbeError;
pub use estimate::{Estimate, OUTLIER_FACTOR};
pub use hardware::Hardware;
pub use measurement::{Basis, Costs, Measurement};
pub use measurer::{Measurer, PairCosts};
pub use outcome::{Outcome, measure_or_builtin};
pub use run::{Progress, pairwise, pairwise_with};
pub use schedule::Schedule;
