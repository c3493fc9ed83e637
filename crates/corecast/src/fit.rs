//! Finds the tuning of a profile that fits a team.
//!
//! A tuning was raced by one team. Where none is of the very team, the nearest one says more about this machine than limits
//! from elsewhere: of members of the same kind, whose ranks share PUs as well or do not either, and of a similar number of
//! ranks.

use std::cmp::Reverse;
use std::fmt;

use corecast_machine::CpuList;
use corecast_model::profile::{Circumstances, Mode, Start, Tuning};

/// The number of ranks may differ by this factor. A team of two has algorithms of its own, so it is near to no other.
const NEAR: usize = 4;

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
    /// Whether the tuning of a similar team will do where there is none of this one.
    pub similar: bool,
}

/// The tuning for a team among those of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fitting<'a> {
    /// It was raced by this team.
    Exact(&'a Tuning),
    /// It was raced by a similar team, and has algorithms and the transfer path alone for this one.
    Near(&'a Tuning),
}

/// The tuning for a team among those of a profile, or why there is none.
pub(crate) fn fitting<'a>(
    tunings: &'a [Tuning],
    fit: &Fit<'_>,
    now: &Circumstances,
) -> Result<Fitting<'a>, String> {
    let mut stale = None;
    let mut fresh: Vec<&Tuning> = Vec::new();
    for tuning in tunings {
        match tuning.under.stale(now) {
            None => fresh.push(tuning),
            Some(reason) if fit.is_team_of(tuning) => stale = Some(reason),
            Some(_) => {}
        }
    }
    let same_start = |tuning: &&&Tuning| tuning.synchronisation == fit.start;
    let exact = fresh.iter().filter(|tuning| fit.is_team_of(tuning));
    if let Some(tuning) = exact.max_by_key(same_start) {
        return Ok(Fitting::Exact(tuning));
    }
    let near = fresh
        .iter()
        .filter(|tuning| fit.similar && fit.is_near(tuning));
    let nearest = near.min_by_key(|tuning| {
        let (most, least) = fit.ranks_of_both(tuning);
        // Thousandths of a factor are exact enough to compare.
        let factor = 1000 * most / least;
        let alike = (tuning.pinned == fit.pinned, same_start(tuning));
        (factor, Reverse(alike))
    });
    nearest
        .map(|tuning| Fitting::Near(tuning))
        .ok_or_else(|| match stale {
            Some(reason) => {
                format!("the tuning of {fit} is refused: {reason}; run corecast tune again")
            }
            None => format!("{fit} was not tuned yet, nor one like it, see corecast tune"),
        })
}

impl<'a> Fit<'a> {
    /// The team that raced a tuning.
    pub(crate) fn of_tuning(tuning: &'a Tuning) -> Self {
        Self {
            threads: &tuning.threads,
            pinned: tuning.pinned,
            mode: tuning.mode,
            start: tuning.synchronisation,
            similar: false,
        }
    }

    fn is_team_of(&self, tuning: &Tuning) -> bool {
        (&tuning.threads[..], tuning.pinned, tuning.mode) == (self.threads, self.pinned, self.mode)
    }

    fn is_near(&self, tuning: &Tuning) -> bool {
        let (most, least) = self.ranks_of_both(tuning);
        let similar = most == least || (least > 2 && most <= NEAR * least);
        let shared = share_pus(self.threads) == share_pus(&tuning.threads);
        similar && shared && tuning.mode == self.mode
    }

    /// The greater number of ranks, and the smaller one.
    fn ranks_of_both(&self, tuning: &Tuning) -> (usize, usize) {
        let (a, b) = (self.threads.len(), tuning.threads.len());
        (a.max(b), a.min(b))
    }
}

/// Whether two ranks have one PU.
fn share_pus(threads: &[u32]) -> bool {
    let mut sorted = threads.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

impl fmt::Display for Fit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pus: CpuList = self.threads.iter().copied().collect();
        let pinned = if self.pinned { "pinned" } else { "not pinned" };
        let ranks = self.threads.len();
        write!(f, "a team of {ranks} {} on PU {pus}, {pinned},", self.mode)
    }
}
