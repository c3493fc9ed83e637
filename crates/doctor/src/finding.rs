//! What a check says, and how much it matters.

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
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
    pub fn name(self) -> &'static str {
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
pub struct Finding {
    /// The check.
    pub check: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What was found, with its numbers.
    pub found: String,
    /// What to do about it; absent where nothing needs to be done.
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
