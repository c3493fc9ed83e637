//! Corecast's doctor: finds what slows Corecast down on this machine, or in a program, and says how to mend it.
//!
//! ```text
//! Facts::gather: tries and reads ────► examine: pure functions ──► findings
//! Program::look: reads its files ─────┘
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | [`facts`] | reads facts of this machine, and tries calls that a kernel may refuse |
//! | [`checks`] | make findings from the facts |
//! | [`program`] | finds the libraries and runtimes of a program from its files, without running it |
//! | [`conditions`] | tell whether one team can run here as planned |
//! | [`limits`] | the PUs and CPU time that this process may use: cpuset, mask, quota |
//! | [`pinning`] | tries whether threads can be pinned |
//!
//! **Architecture invariant:** nothing here prints; the `corecast` command does.
//!
//! # Examples
//!
//! ```
//! use corecast_doctor::{Facts, Level, examine};
//!
//! let mut facts = Facts::sound();
//! facts.limits.quota_cpus = Some(2.0);
//! let findings = examine(&facts);
//! assert_eq!(findings[0].level, Level::Warning);
//! assert!(findings[0].fix.as_deref().unwrap().contains("teams of at most 2 ranks"));
//! ```
#![forbid(unsafe_code)]

pub mod checks;
pub mod conditions;
pub mod facts;
mod finding;
pub mod limits;
pub mod pinning;
pub mod program;

pub use checks::examine;
pub use conditions::Conditions;
pub use facts::{Facts, read_peer};
pub use finding::{Finding, Level};
pub use limits::Limits;
pub use program::{Program, ProgramError};
