//! Corecast's autotuner: the model proposes a handful, races on the hardware decide, and what comes of it is a table
//! of algorithms by operation and length.
//!
//! ```text
//! field ──► racer ──► judge ──► outcome ──► guidelines ──► ranges
//! who may   rounds    who goes  who won     what must      which lengths
//! race      of all    on        where       hold besides   have what
//! ```
//!
//! | part | holds |
//! | --- | --- |
//! | [`tuner`] | the order of it all, and who gets how much time |
//! | [`menu`], [`planned`] | what a team can be made of: plans and waits |
//! | [`field`] | who races for an operation at a size, and who does not and why |
//! | [`predict`], [`modelled`] | what the simulated machine says |
//! | [`forecast`] | what all models say of a call, beside what is measured |
//! | [`measure`] | what messages, calls and waits cost on this machine, now |
//! | [`racer`] | where races are run: a trait |
//! | [`hardware`], [`sessions`] | teams of threads, and of processes, on this machine |
//! | [`judge`], [`wealth`] | the sequential test |
//! | [`guidelines`] | what must hold between operations |
//! | [`ranges`] | from sizes to lengths |
//! | [`outcome`], [`keep`] | what came of it, and its place in the profile |
//! | [`check`] | a tuned team against every algorithm, anew |
//! | [`contest`] | races of a team's plans, without tuning |
//!
//! Source: Nishtala and Yelick 2009, *Optimizing Collective Communication on Multicores*, whose tuner searches trees,
//! sizes and synchronisation modes.
//!
//! # Examples
//!
//! ```
//! use corecast_bench::{seat, sized::Operation};
//! use corecast_coll::{Algorithms, Options, Plans};
//! use corecast_plan::patterns;
//! use corecast_tune::{hardware::Hardware, menu::Menu, predict::Unknown, tuner::{Wish, tune}};
//! use std::time::Duration;
//!
//! let menu = Menu {
//!     plans: Plans::of_tree(&patterns::knomial(2, 0, 2)),
//!     algorithms: Algorithms::default(),
//!     crowded: false,
//!     processes: false,
//!     barrier: "binomial".to_owned(),
//!     barrier_ns: None,
//!     tree: [("binomial".to_owned(), None), ("binomial".to_owned(), None)],
//!     rivals: Vec::new(),
//!     waits: "balanced".to_owned(),
//!     policies: Vec::new(),
//! };
//! let wish = Wish {
//!     operations: vec![Operation::Allgather],
//!     sizes: vec![8],
//!     budget: Duration::from_millis(300),
//!     ..Wish::default()
//! };
//! let never = || false;
//! let mut racer = Hardware::new(seat::free(2), 2, wish.synchrony, Options::default(), &never);
//! let outcome = tune(&mut racer, &menu, &Unknown, &wish, &mut |_| {})?;
//! let point = &outcome.operations[0].points[0];
//! println!("allgather of 8 bytes: {} takes {:?} ns", point.winner().name, point.winner().measured_ns);
//! # Ok::<(), corecast_tune::racer::RaceFailed>(())
//! ```
#![forbid(unsafe_code)]

pub mod check;
pub mod contest;
mod doubts;
pub mod field;
pub mod forecast;
pub mod guidelines;
pub mod hardware;
pub mod judge;
pub mod keep;
pub mod measure;
pub mod menu;
pub mod modelled;
pub mod outcome;
pub mod planned;
pub mod predict;
pub mod racer;
pub mod ranges;
pub mod sessions;
pub mod tuner;
pub mod wealth;
