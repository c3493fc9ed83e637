//! How the members of a team wait, and why so.

use std::fmt;

use corecast_machine::Discovery;
use corecast_wire::{FenceKind, Policy, fence_kind};
use serde::Serialize;

/// How members wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// `balanced`, `crowded`, `spin`, `park` or `own`.
    pub policy: &'static str,
    /// Nanoseconds of polling.
    pub spin_ns: u32,
    /// Nanoseconds of polling with the CPU offered to others.
    pub yield_ns: u32,
    /// Whether members sleep after that.
    pub park: bool,
    /// Why so.
    pub reason: String,
}

impl Waits {
    /// The waits of a team on the machine at hand, unless it asks for a policy: by its size, the
    /// usable PUs and the CPU quota.
    ///
    /// # Examples
    ///
    /// ```
    /// let here = corecast::machine::discover();
    /// let crowd = corecast::Waits::of_team(1_000_000, &here);
    /// assert_eq!(crowd.policy, "crowded");
    /// println!("{crowd}");
    /// ```
    pub fn of_team(ranks: usize, here: &Discovery) -> Self {
        let usable = here.unthrottled_parallelism();
        let quota = match &here.quota {
            Some(quota) if usable < here.usable.len() => {
                format!(" that a quota of {} CPUs pays for {usable} of", quota.cpus)
            }
            _ => String::new(),
        };
        let relation = if ranks <= usable {
            "a PU for each rank"
        } else {
            "ranks have to take turns"
        };
        let pus = count(here.usable.len(), "usable PU");
        Self::new(
            Policy::for_team(ranks, usable),
            format!("{} on {pus}{quota}, {relation}", count(ranks, "rank")),
        )
    }

    /// As teams take them.
    pub fn as_policy(&self) -> Policy {
        Policy {
            spin_ns: self.spin_ns,
            yield_ns: self.yield_ns,
            park: self.park,
        }
    }

    /// Those that were asked for.
    pub(crate) fn asked(policy: Policy) -> Self {
        Self::new(policy, "asked for".to_owned())
    }

    fn new(policy: Policy, reason: String) -> Self {
        let names = [
            (Policy::BALANCED, "balanced"),
            (Policy::CROWDED, "crowded"),
            (Policy::SPIN, "spin"),
            (Policy::PARK, "park"),
        ];
        let known = names.iter().find(|(known, _)| *known == policy);
        Self {
            policy: known.map_or("own", |&(_, name)| name),
            spin_ns: policy.spin_ns,
            yield_ns: policy.yield_ns,
            park: policy.park,
            reason,
        }
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.policy, self.reason)?;
        let mut phases = Vec::new();
        if self.spin_ns == u32::MAX {
            phases.push("spin for ever".to_owned());
        } else {
            let timed = [(self.spin_ns, "spin"), (self.yield_ns, "yield")];
            for (ns, what) in timed.into_iter().filter(|&(ns, _)| ns > 0) {
                phases.push(format!("{what} {} µs", ns.div_ceil(1000)));
            }
            phases.push(if self.park { "sleep" } else { "go on yielding" }.to_owned());
        }
        let last = phases.pop().unwrap_or_default();
        match phases.is_empty() {
            true => write!(f, ": {last}"),
            false => write!(f, ": {}, then {last}", phases.join(", ")),
        }
    }
}

/// Whether whoever wakes a sleeping member pays a fence, in a sentence.
pub fn fence() -> &'static str {
    match fence_kind() {
        FenceKind::Asymmetric | FenceKind::SharedAsymmetric => {
            "membarrier, which only those pay who go to sleep"
        }
        FenceKind::Symmetric | FenceKind::SharedSymmetric => {
            "full, at every notification: the kernel refuses membarrier, or CORECAST_FENCE says so"
        }
    }
}

/// `1 rank`, `2 ranks`.
pub(crate) fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
