//! How the members of a team wait, and the reason.

use std::fmt;

use corecast_machine::Discovery;
use corecast_model::profile::TunedWaits;
use corecast_wire::hardware_wait;
use corecast_wire::{FenceKind, HardwareWait, WaitConfig, WaitCosts, fence_kind};
use serde::Serialize;

use crate::waiting::{self, WAIT, Waiting, WaitingError};

/// How members wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// `balanced`, `crowded`, `spin`, `park`, `budget`, `tuned` or `own`.
    pub policy: &'static str,
    /// Nanoseconds of polling.
    pub spin_ns: u32,
    /// Nanoseconds of waiting in the CPU for a write of the line that is looked at; of polling where the CPU cannot.
    pub hardware_ns: u32,
    /// The instruction by which the CPU waits; absent where it has none.
    pub hardware: Option<&'static str>,
    /// How many waits of this process came to that phase when this was told.
    pub hardware_waits: u64,
    /// Nanoseconds of polling before that, where waits do not spin and such polls have ended them.
    pub soon_ns: u32,
    /// Nanoseconds of polling with the CPU offered to others.
    pub yield_ns: u32,
    /// Whether members sleep after that.
    pub park: bool,
    /// Where the policy comes from, in words.
    pub reason: String,
}

impl Waits {
    /// The default waits of a team on this machine. They depend on its size, the usable PUs, the CPU
    /// quota, and what waiting costs here, see [`costs::of_waits`](crate::costs::of_waits).
    ///
    /// # Examples
    ///
    /// ```
    /// let here = corecast::machine::discover();
    /// let crowd = corecast::Waits::of_team(1_000_000, &here, None);
    /// assert_eq!(crowd.policy, "crowded");
    /// println!("{crowd}");
    /// ```
    pub fn of_team(ranks: usize, here: &Discovery, costs: Option<WaitCosts>) -> Self {
        let usable = here.unthrottled_parallelism();
        let quota = match &here.quota {
            Some(quota) if usable < here.usable.len() => {
                format!(" that a quota of {} CPUs pays for {usable} of", quota.cpus)
            }
            _ => String::new(),
        };
        let (name, relation) = if ranks <= usable {
            ("balanced", "a PU for each rank")
        } else {
            ("crowded", "ranks have to take turns")
        };
        let (policy, basis) = match costs {
            Some(costs) => {
                // A file may have been measured where the CPU had the instruction, or the hypervisor passed it on.
                let hardware_ns = costs.hardware_ns.filter(|_| HardwareWait::here().is_some());
                let late = hardware_ns.map_or(String::new(), |ns| {
                    format!(", a wait in the CPU to be {:.2} µs late", ns / 1e3)
                });
                let basis = format!(
                    "here a yield was measured to take {:.1} µs, a wake-up {:.1} µs{late}",
                    costs.yield_ns / 1e3,
                    costs.wake_ns / 1e3
                );
                let costs = WaitCosts {
                    hardware_ns,
                    ..costs
                };
                (WaitConfig::of_costs(ranks, usable, costs), basis)
            }
            None => (
                WaitConfig::for_team(ranks, usable),
                "what waiting costs here was not measured".to_owned(),
            ),
        };
        let pus = count(here.usable.len(), "usable PU");
        let reason = format!(
            "{} on {pus}{quota}, {relation}; {basis}",
            count(ranks, "rank")
        );
        Self::new(name, policy, reason)
    }

    /// Replaces these waits by those that `CORECAST_WAIT` asks for, where it is set.
    ///
    /// # Errors
    ///
    /// [`WaitingError`] for a value that names no way to wait.
    pub fn by_environment(self) -> Result<Self, WaitingError> {
        Ok(match waiting::of_environment()? {
            Some(waiting) => self.wished(waiting, true),
            None => self,
        })
    }

    /// Replaces these waits by those that `waiting` asks for.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast::{Waiting, Waits};
    ///
    /// let here = corecast::machine::discover();
    /// let waits = Waits::of_team(2, &here, None).with(Waiting::Park);
    /// assert_eq!((waits.spin_ns, waits.yield_ns, waits.park), (0, 0, true));
    /// ```
    #[must_use]
    pub fn with(self, waiting: Waiting) -> Self {
        self.wished(waiting, false)
    }

    /// [`Waits::with`], whose reason names `CORECAST_WAIT` if `by_environment` is true.
    pub(crate) fn wished(self, waiting: Waiting, by_environment: bool) -> Self {
        let Some((policy, name)) = waiting.applied(self.as_wait_config()) else {
            return self;
        };
        let who = match by_environment {
            true => format!("{WAIT}={waiting}"),
            false => "asked for".to_owned(),
        };
        Self::new(name, policy, who)
    }

    /// These waits as the `WaitConfig` that a team is made with.
    pub fn as_wait_config(&self) -> WaitConfig {
        WaitConfig {
            spin_ns: self.spin_ns,
            hardware_ns: self.hardware_ns,
            soon_ns: self.soon_ns,
            yield_ns: self.yield_ns,
            park: self.park,
        }
    }

    /// Replaces these waits by tuned ones, if there are any.
    pub(crate) fn tuned(self, tuned: Option<TunedWaits>) -> Self {
        let Some(tuned) = tuned else {
            return self;
        };
        let policy = WaitConfig {
            spin_ns: tuned.spin_ns,
            hardware_ns: tuned.hardware_ns,
            soon_ns: tuned.soon_ns,
            yield_ns: tuned.yield_ns,
            park: tuned.park,
        };
        Self::new("tuned", policy, "tuned for this team".to_owned())
    }

    /// What the CPU has to wait with, and how often it was used, in a sentence.
    ///
    /// # Examples
    ///
    /// ```
    /// let here = corecast::machine::discover();
    /// println!("{}", corecast::Waits::of_team(2, &here, None).in_cpu());
    /// ```
    pub fn in_cpu(&self) -> String {
        let Some(name) = self.hardware else {
            return hardware_wait::MISSING.to_owned();
        };
        match (self.hardware_ns, self.hardware_waits) {
            (0, _) => format!("no phase waits by {name}, which this CPU has"),
            (_, waits) => format!(
                "{} of this process came to {name} so far",
                count(waits as usize, "wait")
            ),
        }
    }

    /// These waits with the number of those that came to the CPU so far.
    pub(crate) fn counted(self) -> Self {
        Self {
            hardware_waits: hardware_wait::waits(),
            ..self
        }
    }

    fn new(
        policy: &'static str,
        WaitConfig {
            spin_ns,
            hardware_ns,
            soon_ns,
            yield_ns,
            park,
        }: WaitConfig,
        reason: String,
    ) -> Self {
        Self {
            policy,
            spin_ns,
            hardware_ns,
            hardware: HardwareWait::here().map(|found| found.instruction().name()),
            hardware_waits: hardware_wait::waits(),
            soon_ns,
            yield_ns,
            park,
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
            let in_cpu = self
                .hardware
                .map_or("poll".to_owned(), |name| format!("wait by {name}"));
            let timed = [
                (self.spin_ns, "spin"),
                (self.hardware_ns, &in_cpu),
                (
                    self.as_wait_config().short_spin_ns(),
                    "where that has ended waits spin",
                ),
                (self.yield_ns, "yield"),
            ];
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

/// A sentence that says whether waking a sleeping member costs the waker a memory fence.
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

/// A number with its noun in singular or plural: `1 rank`, `2 ranks`.
pub(crate) fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}
