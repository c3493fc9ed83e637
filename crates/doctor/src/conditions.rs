//! The conditions of a team on this machine: pinning, memory, waits, CPU quota.

use corecast_machine::Discovery;
use corecast_model::MachineFile;
use serde::Serialize;

use crate::pinning::{Pinning, try_pinning};
use corecast_model::words::{count, ranges};

/// The conditions of a team; empty for other machines than this one.
#[derive(Debug, Default, Serialize)]
pub struct Conditions {
    /// Whether each member could be pinned to its hardware thread; absent for other machines.
    pinning: Option<Pinning>,
    /// CPUs' worth of time that control groups grant; absent without a limit.
    quota_cpus: Option<f64>,
    /// Whether the quota is too small, so that members that spin would be stopped.
    quota_too_small: bool,
    /// How members would wait; absent for other machines.
    waits: Option<corecast::Waits>,
    /// A sentence that says whether waking a sleeping member costs a memory fence; absent for other machines.
    fence: Option<&'static str>,
    /// The NUMA nodes of the members' lines; absent for other machines.
    lines: Option<corecast::NumaPlacement>,
    /// Number of members of the team.
    team: usize,
}

impl Conditions {
    /// The conditions of a team on `threads` of the machine of `file`. `here` is the result of discovery if the
    /// machine is this one; `None` for other machines, whose conditions are unknown.
    ///
    /// # Errors
    ///
    /// The environment names no way to wait.
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

    /// The conditions as text, one sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(waits) = &self.waits {
            out.push(format!("waits: {waits}"));
            out.push(format!("waiting in the CPU: {}", waits.in_cpu()));
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

/// Whether the quota grants less time than `members` threads need that never sleep.
fn too_small(here: &Discovery, members: usize) -> bool {
    here.quota.as_ref().is_some_and(|q| q.cpus < members as f64)
}
