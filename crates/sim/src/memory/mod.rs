//! The memory of a machine: caches, who has which line, and what a request for one takes.
//!
//! A request that misses goes to its *agent*, the one that puts requests for a line in order: the shared
//! cache of its core's group if no other group is concerned, else the line's home, or the bus. There all
//! states change at once, at the time of its arrival, and all that still has to happen is booked with the
//! servers on the way:
//!
//! ```text
//!   core ──► group ──► home ──► owner's cache ──► core        a line from another cache
//!                       ├─────► memory ─────────► core        a line from memory
//!                       └─────► each sharer ────► core        invalidations, and their answers
//! ```
//!
//! While a line changes its owner it is *busy*, and the next request for it waits at the agent. States say who will
//! have a line; a copy that is still on its way is given on when it has come.
//!
//! **Invariant M1:** a copy that may be written is the only one of all cores. **M2:** one copy at most answers
//! readers. Both are checked after each change where [`RunOptions::checking`](crate::engine::RunOptions::checking) is
//! on. Copies have no content of their own, so none can be stale.

mod agent;
mod counts;
mod hits;
mod home;
mod line;
mod lru;
mod reads;
mod request;
mod room;
mod system;
mod writes;

pub use counts::{CoreCounts, Counts, Distance, LineSource};
pub use line::CopyState;
pub use request::LineId;
pub(crate) use request::{Access, Agent, Arrival, LineRequest};
pub(crate) use system::{CostTicks, Memory};
