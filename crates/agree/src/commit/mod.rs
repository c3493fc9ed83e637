//! Two-phase commit with presumed abort: several participants commit a transaction, or none does.
//!
//! ```text
//! coordinator ── prepare ──► participants   force "prepared", vote
//!             ◄─── votes ───
//! force "committed"
//!             ── outcome ──► participants   force "committed", apply
//!             ◄── acknowledged ───
//! ```
//!
//! | part | file | what it is |
//! | --- | --- | --- |
//! | [`Coordinator`] | `coordinator.rs` | who decides, a machine without I/O |
//! | [`Participant`] | `participant.rs` | who votes and applies, a machine without I/O |
//! | [`Transaction`], [`Votes`], [`Outcome`] | `words.rs` | what they tell each other |
//!
//! Over a tree the two ways down are broadcasts and the two ways up reductions: [`Votes::merge`] and a union of bits are the
//! operators, so the coordinator does not notice whether votes come one by one or all at once.
//!
//! *Presumed abort*: a coordinator that knows nothing of a transaction answers that it was aborted. So an abort forces no
//! record and awaits no acknowledgement.
//!
//! **Invariant 1:** a participant that has voted yes does not abort unless the coordinator says so, also after a restart.
//! **Invariant 2:** the coordinator tells a commit only after its record is durable, and forgets it only when all
//! participants have made theirs durable. **Invariant 3:** no two transactions have one number: each start of a
//! coordinator makes a new incarnation durable before it begins a transaction.
//!
//! Both machines ask for two kinds of records. A *forced* one must be durable before `Forced` is told; what is *noted* may
//! be lost in a crash. The records of one machine are kept in the order in which it asked for them.
//!
//! Source: Smelt §5.1; Mohan, Lindsay, Obermarck, *Transaction Management in the R\* Distributed Database Management System*.

mod coordinator;
mod participant;
mod words;

#[cfg(test)]
mod model;

pub use coordinator::{Coordinator, CoordinatorInput, CoordinatorOutput, CoordinatorRecord};
pub use participant::{Participant, ParticipantInput, ParticipantOutput, ParticipantRecord};
pub use words::{Outcome, Transaction, Votes};
