//! Corecast's doctor: what keeps Corecast from being as fast as it can be on this machine, and the way out.
//!
//! ```text
//! Facts::gather: tries and reads ────► examine: pure functions ──► findings
//! Program::look: reads its files ─────┘
//! ```
//!
//! | module | what it knows |
//! | --- | --- |
//! | [`facts`] | what is tried and read on this machine |
//! | [`checks`] | what to think of it |
//! | [`program`] | which libraries and runtimes a program is made of; nothing of it is run |
//! | [`conditions`] | whether one team can run here as planned |
//! | [`limits`] | what this process may use: cpuset, mask, quota |
//! | [`pinning`] | whether threads can be pinned |
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
