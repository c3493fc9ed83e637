//! Finds the tuning of a profile that fits a team.

use std::fmt;

use corecast_machine::CpuList;
use corecast_model::profile::{Circumstances, Mode, Start, Tuning};

/// The properties of a team that a tuning has to match.
#[derive(Clone, Copy, Debug)]
pub struct Fit<'a> {
    /// The PU of each rank.
    pub threads: &'a [u32],
    /// Whether ranks are pinned to these PUs.
    pub pinned: bool,
    /// Whether ranks are threads or processes.
    pub mode: Mode,
    /// How operations begin. If only the other kind of start was tuned, that tuning is taken.
    pub start: Start,
}

/// The tuning for a team among those of a profile, or why there is none.
pub(crate) fn fitting<'a>(
    tunings: &'a [Tuning],
    fit: &Fit<'_>,
    now: &Circumstances,
) -> Result<&'a Tuning, String> {
    let of_team = |tuning: &&Tuning| {
        (&tuning.threads[..], tuning.pinned, tuning.mode) == (fit.threads, fit.pinned, fit.mode)
    };
    let (mut found, mut stale) = (None, None);
    for tuning in tunings.iter().filter(of_team) {
        match tuning.under.stale(now) {
            Some(reason) => stale = Some(reason),
            None if tuning.synchronisation == fit.start => return Ok(tuning),
            None => found = Some(tuning),
        }
    }
    found.ok_or_else(|| match stale {
        Some(reason) => {
            format!("the tuning of {fit} is refused: {reason}; run corecast tune again")
        }
        None => format!("{fit} was not tuned yet, see corecast tune"),
    })
}

impl fmt::Display for Fit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pus: CpuList = self.threads.iter().copied().collect();
        let pinned = if self.pinned { "pinned" } else { "not pinned" };
        let ranks = self.threads.len();
        write!(f, "a team of {ranks} {} on PU {pus}, {pinned},", self.mode)
    }
}
