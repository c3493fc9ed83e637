//! Whether a team can run here as planned: pinning, memory, waits, CPU quota.

use corecast_machine::Discovery;
use corecast_model::MachineFile;
use serde::Serialize;

use crate::pinning::{Pinning, try_pinning};
use corecast_model::words::{count, ranges};

/// What was found, for the machine at hand; empty for machines from elsewhere.
#[derive(Debug, Default, Serialize)]
pub struct Conditions {
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
    lines: Option<corecast::NumaPlacement>,
    /// Members of the team.
    team: usize,
}

impl Conditions {
    /// What holds for a team on `threads` of the machine of `file`. `here` is what discovery found, where the
    /// machine is this one; of other machines nothing is known.
    ///
    /// # Errors
    ///
    /// An environment that names no way to wait.
    pub fn of(
        file: &MachineFile,
        here: Option<&Discovery>,
        threads: &[u32],
    ) -> Result<Conditions, corecast::WaitingError> {
        let Some(here) = here else {
            return Ok(Conditions {
                team: threads.len(),
                ..Conditions::default()
            });
        };
        let pinning = try_pinning(threads);
        let pinned = pinning.refused.is_empty();
        let costs = corecast::costs::of_waits(file);
        let waits = corecast::Waits::of_team(threads.len(), here, costs);
        Ok(Conditions {
            pinning: Some(pinning),
            lines: Some(corecast::NumaPlacement::of(here, threads, pinned)),
            quota_cpus: here.quota.as_ref().map(|q| q.cpus),
            quota_too_small: too_small(here, threads.len()),
            waits: Some(waits.by_environment()?),
            fence: Some(corecast::fence()),
            team: threads.len(),
        })
    }

    /// For people, one sentence each.
    pub fn sentences(&self) -> Vec<String> {
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
