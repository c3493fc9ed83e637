//! Whether a team can run here as planned: pinning, memory, waits, CPU quota.

use anyhow::Result;
use corecast_machine::{Discovery, pin_current};
use serde::Serialize;

use crate::draw::boxes::count;
use crate::draw::topo_text::ranges;
use crate::source::Source;

/// What was found, for the machine at hand; empty for machines from elsewhere.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Circumstances {
    /// Whether each member could be pinned to its hardware thread; absent elsewhere.
    pinning: Option<Pinning>,
    /// CPUs' worth of time that control groups grant; absent without a limit.
    quota_cpus: Option<f64>,
    /// Whether members that spin would be stopped for want of CPU time.
    quota_too_small: bool,
    /// How members would wait; absent elsewhere.
    waits: Option<corecast::Waits>,
    /// Which fence wakes sleepers; absent elsewhere.
    fence: Option<&'static str>,
    /// Where members' lines would lie; absent elsewhere.
    lines: Option<corecast::Homes>,
    /// Members of the team.
    team: usize,
}

/// The outcome of a trial.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pinning {
    /// Hardware threads that a thread could be pinned to.
    pub(crate) possible: Vec<u32>,
    /// The others, and what the system said about the first of them.
    pub(crate) refused: Vec<u32>,
    pub(crate) reason: Option<String>,
}

impl Circumstances {
    /// Those of `threads` on the machine of `source`.
    ///
    /// # Errors
    ///
    /// An environment that names no way to wait.
    pub(crate) fn of(source: &Source, threads: &[u32]) -> Result<Circumstances> {
        let Some(here) = &source.here else {
            return Ok(Circumstances {
                team: threads.len(),
                ..Circumstances::default()
            });
        };
        let pinning = try_pinning(threads);
        let pinned = pinning.refused.is_empty();
        let costs = corecast::costs::of_waits(&source.file);
        let waits = corecast::Waits::of_team(threads.len(), here, costs);
        Ok(Circumstances {
            pinning: Some(pinning),
            lines: Some(corecast::Homes::of(here, threads, pinned)),
            quota_cpus: here.quota.as_ref().map(|q| q.cpus),
            quota_too_small: too_small(here, threads.len()),
            waits: Some(waits.by_environment()?),
            fence: Some(corecast::fence()),
            team: threads.len(),
        })
    }

    /// The same for people.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(waits) = &self.waits {
            out.push(format!("waits: {waits}"));
        }
        if let Some(fence) = self.fence {
            out.push(format!("fence: {fence}"));
        }
        if let Some(pinning) = &self.pinning {
            out.push(match &pinning.reason {
                None => format!("pinning: possible for {}", count(self.team, "member")),
                Some(reason) => {
                    let refused = ranges(pinning.refused.clone());
                    format!(
                        "pinning: refused for PU {refused}, where members run unpinned: {reason}"
                    )
                }
            });
            if let Some(lines) = &self.lines {
                out.push(format!("lines: {}", lines.reason));
            }
            out.push(match self.quota_cpus {
                None => "quota: none".to_owned(),
                Some(cpus) if self.quota_too_small => format!(
                    "quota: {cpus} CPUs for a team of {}: members that spin will be stopped in each period, \
                     choose a smaller team",
                    self.team
                ),
                Some(cpus) => format!("quota: {cpus} CPUs, enough for a team of {}", self.team),
            });
        }
        out
    }
}

/// Whether the quota pays for less than `members` threads that never sleep.
fn too_small(here: &Discovery, members: usize) -> bool {
    here.quota.as_ref().is_some_and(|q| q.cpus < members as f64)
}

/// Pins a thread of its own to each of `threads` in turn.
pub(crate) fn try_pinning(threads: &[u32]) -> Pinning {
    let threads = threads.to_vec();
    let trial = std::thread::spawn(move || {
        let mut outcome = Pinning {
            possible: Vec::new(),
            refused: Vec::new(),
            reason: None,
        };
        for pu in threads {
            match pin_current(pu) {
                Ok(pinning) if pinning.confirmed() => outcome.possible.push(pu),
                Ok(_) => {
                    outcome.refused.push(pu);
                    outcome.reason.get_or_insert_with(|| {
                        "the system accepted the pinning without obeying it".to_owned()
                    });
                }
                Err(error) => {
                    outcome.refused.push(pu);
                    outcome.reason.get_or_insert_with(|| error.to_string());
                }
            }
        }
        outcome
    });
    trial.join().unwrap_or(Pinning {
        possible: Vec::new(),
        refused: Vec::new(),
        reason: Some("the trial did not finish".to_owned()),
    })
}
