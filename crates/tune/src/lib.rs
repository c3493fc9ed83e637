//! Corecast's autotuner: the model proposes a few algorithms, races on the hardware decide between them, and the
//! result is a table of algorithms by operation and length.
//!
//! ```text
//! candidates ──► racer ──► sequential_test ──► outcome ──► guidelines ──► ranges
//! what races     rounds    who goes on         who won     what must      which lengths
//!                of all                        where       hold besides   have what
//! ```
//!
//! | part | holds |
//! | --- | --- |
//! | [`tuner`] | the order of all races, and the time that each gets |
//! | [`search_space`], [`planned`] | the plans and ways to wait that a team can have |
//! | [`candidates`] | the algorithms that race for an operation at a size, and why the others do not |
//! | [`predict`], [`modelled`] | times on the simulated machine |
//! | [`forecast`] | times and bounds of all models for one call, shown beside measured times |
//! | [`measure`] | measured costs of messages, calls and waits on this machine |
//! | [`racer`] | the trait of what runs races |
//! | [`hardware`] | races on this machine, of teams of threads or of processes |
//! | [`sequential_test`], [`betting_martingale`] | the test that ends a race |
//! | [`guidelines`] | inequalities that must hold between operations |
//! | [`ranges`] | ranges of lengths from the winners at raced sizes |
//! | [`outcome`], [`keep`] | the result, and how it is stored in the profile |
//! | [`check`] | new races of a tuned team against every algorithm |
//! | [`contest`] | races of a team's plans, without tuning |
//!
//! Source: Nishtala and Yelick 2009, *Optimizing Collective Communication on Multicores*, whose tuner searches trees,
//! sizes and synchronisation modes.
//!
//! # Examples
//!
//! ```
//! use corecast_bench::cpu_placement;
//! use corecast_collectives::{Algorithms, Plans};
//! use corecast_model::Collective;
//! use corecast_team::Options;
//! use corecast_plan::patterns;
//! use corecast_tune::{hardware::Hardware, search_space::SearchSpace, predict::Unknown, tuner::{TuneRequest, tune}};
//! use std::time::Duration;
//!
//! let search_space = SearchSpace {
//!     plans: Plans::of_tree(&patterns::knomial(2, 0, 2)),
//!     algorithms: Algorithms::default(),
//!     sharing: 1,
//!     processes: false,
//!     barrier: "binomial".to_owned(),
//!     barrier_ns: None,
//!     tree: [("binomial".to_owned(), None), ("binomial".to_owned(), None)],
//!     rivals: Vec::new(),
//!     waits: "balanced".to_owned(),
//!     wait_configs: Vec::new(),
//!     transfer_paths: false,
//! };
//! let request = TuneRequest {
//!     operations: vec![Collective::Allgather],
//!     sizes: vec![8],
//!     budget: Duration::from_millis(300),
//!     ..TuneRequest::default()
//! };
//! let never = || false;
//! let mut racer = Hardware::threads(cpu_placement::free(2), request.start, Options::default(), &never);
//! let outcome = tune(&mut racer, &search_space, &Unknown, &request, &mut |_| {})?;
//! let point = &outcome.operations[0].points[0];
//! println!("allgather of 8 bytes: {} takes {:?} ns", point.winner().name, point.winner().measured_ns);
//! # Ok::<(), corecast_tune::racer::RaceFailed>(())
//! ```
#![forbid(unsafe_code)]

pub mod betting_martingale;
pub mod candidates;
pub mod check;
pub mod contest;
pub mod forecast;
pub mod guidelines;
pub mod hardware;
pub mod keep;
pub mod measure;
pub mod modelled;
pub mod outcome;
pub mod planned;
pub mod predict;
pub mod racer;
pub mod ranges;
mod request;
pub mod search_space;
pub mod sequential_test;
mod sessions;
mod simulated;
mod thread_teams;
mod transfer_paths;
pub mod tuner;
mod unconfirmed;
