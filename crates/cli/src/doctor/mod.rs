//! What `corecast doctor` knows: facts of this machine, and what to think of them.
//!
//! ```text
//! facts: tries and reads ────► processors, kernel, knowledge: pure functions ──► findings
//! program: reads its files ──► runtimes: pure functions ──────────────────────┘
//! ```
//!
//! **Architecture Invariant:** a check does no I/O and reads no clock: all that it judges is in [`facts::Facts`],
//! so that each is tested with made-up facts.

pub(crate) mod facts;
mod kernel;
mod knowledge;
mod processors;
pub(crate) mod program;
mod runtimes;

use serde::Serialize;

use facts::Facts;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// Good to know; results and most times are as they would be without.
    Note,
    /// Costs time or makes times meaningless.
    Warning,
    /// Something that Corecast offers cannot be had here.
    Failure,
}

impl Level {
    /// As people and JSON read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// What one check says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The check.
    pub(crate) check: &'static str,
    pub(crate) level: Level,
    /// What was found, with its numbers.
    pub(crate) found: String,
    /// What to do about it; absent where nothing needs to be done.
    pub(crate) fix: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            check,
            level: Level::Ok,
            found: found.into(),
            fix: None,
        }
    }

    fn at(
        level: Level,
        check: &'static str,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            check,
            level,
            found: found.into(),
            fix: Some(fix.into()),
        }
    }
}

/// All checks of a machine, and of a program if one was looked at, in the order in which they are read.
pub(crate) fn examine(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![
        processors::quota(facts),
        processors::cpuset(facts),
        processors::mask(facts),
        processors::siblings(facts),
        processors::governor(facts),
        processors::steal(facts),
        processors::pinning(facts),
        kernel::shared_memory(facts),
        kernel::membarrier(facts),
        kernel::peer_memory(facts),
        kernel::deaths(facts),
        kernel::dev_shm(facts),
        knowledge::costs(facts),
        knowledge::profile(facts),
    ];
    if let Some(program) = &facts.program {
        findings.extend(runtimes::examine(facts, program));
    }
    findings
}
