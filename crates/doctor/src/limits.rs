//! The limits of this process on this machine: cpuset, affinity mask, CPU quota.

use corecast_machine::Discovery;
use serde::Serialize;

/// The limits as `--json` prints them.
#[derive(Clone, Debug, Serialize)]
pub struct Limits {
    /// PUs that this process may use, as a list.
    pub usable: String,
    /// PUs that are online, as a list.
    pub online: String,
    /// PUs that the cpuset withholds, as a list.
    pub outside_cpuset: String,
    /// PUs that the affinity mask withholds, as a list.
    pub outside_mask: String,
    /// The file that names the cpuset.
    pub cpuset_source: Option<String>,
    /// CPUs' worth of time that control groups grant; absent without a limit.
    pub quota_cpus: Option<f64>,
    /// The file that names the quota.
    pub quota_source: Option<String>,
    /// Number of threads that can run at the same time, by PUs and quota.
    pub usable_parallelism: usize,
    /// The hypervisor, where there is one.
    pub hypervisor: Option<String>,
}

impl Limits {
    /// The limits that discovery found.
    pub fn of(here: &Discovery) -> Limits {
        Limits {
            usable: here.usable.to_string(),
            online: here.online.to_string(),
            outside_cpuset: here.outside_cpuset.to_string(),
            outside_mask: here.outside_mask.to_string(),
            cpuset_source: here.cpuset_source.clone(),
            quota_cpus: here.quota.as_ref().map(|q| q.cpus),
            quota_source: here.quota.as_ref().map(|q| q.source.clone()),
            usable_parallelism: here.usable_parallelism(),
            hypervisor: here.hypervisor.clone(),
        }
    }
}

/// The limits as text, one sentence each.
#[must_use]
pub fn sentences(here: &Discovery) -> Vec<String> {
    let mut out = Vec::new();
    let cpuset = match &here.cpuset_source {
        Some(source) => format!(", cpuset by {source}"),
        None => String::new(),
    };
    out.push(format!(
        "usable: PU {} of {} online{cpuset}",
        here.usable, here.online
    ));
    for (list, why) in [
        (&here.outside_cpuset, "withheld by the cpuset"),
        (&here.outside_mask, "withheld by the affinity mask"),
        (&here.offline, "switched off"),
        (
            &here.isolated,
            "isolated from ordinary threads by the kernel",
        ),
    ] {
        if !list.is_empty() {
            out.push(format!("{why}: PU {list}"));
        }
    }
    out.push(match &here.quota {
        Some(q) => format!("CPU quota: {} CPUs, by {}", q.cpus, q.source),
        None => "CPU quota: none".to_owned(),
    });
    for kind in &here.core_kinds {
        out.push(format!("{} cores: PU {}", kind.name, kind.pus));
    }
    out
}
