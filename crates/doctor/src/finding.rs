//! The findings of checks, with their levels.

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// There is no problem.
    Ok,
    /// The finding is good to know; it changes no results and few times.
    Note,
    /// The finding costs time or makes times meaningless.
    Warning,
    /// A feature of Corecast does not work here.
    Failure,
}

impl Level {
    /// The name of the level in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What was found, with its numbers.
    pub found: String,
    /// How to mend it; absent where nothing needs to be done.
    pub fix: Option<String>,
}

impl Finding {
    pub(crate) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            check,
            level: Level::Ok,
            found: found.into(),
            fix: None,
        }
    }

    pub(crate) fn at(
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
