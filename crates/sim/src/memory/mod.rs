//! The memory of a machine: its caches, which of them has which line, and how long a request for a line takes.
//!
//! A request that misses goes to its *agent*, which puts requests for a line in order: the shared cache of its core's
//! group if no other group is concerned, otherwise the line's home, or the bus. When the request arrives there, all
//! states change at once, and the remaining work is booked with the servers on the way:
//!
//! ```text
//!   core ──► group ──► home ──► owner's cache ──► core        a line from another cache
//!                       ├─────► memory ─────────► core        a line from memory
//!                       └─────► each sharer ────► core        invalidations, and their answers
//! ```
//!
//! While a line changes its owner it is *busy*, and the next request for it waits at the agent. A state says which core
//! will have the line; a copy that is still under way is passed on after its arrival.
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
