//! Which algorithm a team runs, without a team: for whoever has to explain it.

use super::{Algorithms, UnknownOperation};
use crate::edges::MESH_RANKS_MAX;
use crate::lane::{ALIGN_MAX, Traits};
use crate::layout::{has_posts, may_have_lines};
use crate::plans::{BarrierPlan, Plans};
use crate::{allgather, allreduce, alltoall, barrier, broadcast, gather, reduce};
use crate::{reduce_scatter, scan, scatter};
use corecast_wire::notice::NOTICE_PAYLOAD_BYTES;
use corecast_wire::queue::message_bytes_max;

/// A team, as its choices of algorithms see it.
///
/// # Examples
///
/// ```
/// use corecast_coll::algorithms::{Algorithms, Runs, Setting};
/// # let machine = corecast_model::synthetic("core:4").unwrap();
/// # let plans = corecast_coll::Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
/// let setting = Setting::new(&plans);
/// let mut asked = Algorithms::default();
/// let usual = setting.runs(&asked, "allreduce", 1 << 20).unwrap();
/// assert_eq!(usual, Runs { algorithm: "owners", as_asked: false });
/// asked.ask("allreduce", &[(1 << 20, Some("ring"))])?;
/// let other = setting.runs(&asked, "allreduce", 1 << 20).unwrap();
/// assert_eq!(other, Runs { algorithm: "ring", as_asked: true });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// What it was planned to do; with them the number of ranks.
    pub plans: &'a Plans,
    /// Slots of a queue.
    pub slots: usize,
    /// Whether ranks share cores.
    pub crowded: bool,
    /// Whether ranks are in several processes.
    pub processes: bool,
    /// Whether results have the same bits every time.
    pub deterministic: bool,
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Whether it is what was asked for; if something was and it is not, the team cannot do that.
    pub as_asked: bool,
}

impl<'a> Setting<'a> {
    /// That of a team of threads with a core each and with the usual options.
    pub fn new(plans: &'a Plans) -> Self {
        let options = crate::Options::default();
        Self {
            plans,
            slots: options.slots,
            crowded: false,
            processes: false,
            deterministic: options.deterministic,
        }
    }

    /// What an operation runs where a block has `bytes`, with an operator that does not need the order of
    /// ranks and elements that fit a message; broadcasts from the root of their plan.
    ///
    /// # Errors
    ///
    /// [`UnknownOperation`].
    pub fn runs(
        &self,
        asked: &Algorithms,
        operation: &str,
        bytes: usize,
    ) -> Result<Runs, UnknownOperation> {
        let traits = self.traits();
        let wish = asked.asked(operation, bytes)?;
        let algorithm = match operation {
            "barrier" => self.barrier(asked.barrier).name(),
            "broadcast" => self.broadcast(asked.broadcast.at(bytes), bytes).name(),
            "reduce" => self.reduce(asked.reduce.at(bytes), bytes).name(),
            "allreduce" => allreduce::choose(asked.allreduce.at(bytes), traits, bytes, 1).name(),
            "scatter" => match asked.scatter.at(bytes) {
                Some(wish) if traits.mesh => wish,
                _ if !traits.mesh => scatter::Algorithm::Binomial,
                _ if self.in_messages(bytes) => scatter::Algorithm::Push,
                _ => scatter::Algorithm::Pull,
            }
            .name(),
            "gather" => match asked.gather.at(bytes) {
                Some(wish) if traits.mesh => wish,
                _ if !traits.mesh => gather::Algorithm::Binomial,
                _ if self.in_messages(bytes) => gather::Algorithm::Push,
                _ => gather::Algorithm::Pull,
            }
            .name(),
            "allgather" => allgather::choose(asked.allgather.at(bytes), traits, bytes).name(),
            "alltoall" => match asked.alltoall.at(bytes) {
                Some(alltoall::Algorithm::Bruck) => alltoall::Algorithm::Bruck,
                _ if traits.mesh => alltoall::Algorithm::Direct,
                _ => alltoall::Algorithm::Bruck,
            }
            .name(),
            "reduce_scatter" => {
                reduce_scatter::choose(asked.reduce_scatter.at(bytes), traits).name()
            }
            _ => scan::choose(asked.scan.at(bytes), traits, bytes).name(),
        };
        Ok(Runs {
            algorithm,
            as_asked: wish == Some(algorithm),
        })
    }

    fn traits(&self) -> Traits {
        let ranks = self.plans.len();
        Traits {
            ranks,
            mesh: ranks <= MESH_RANKS_MAX,
            message_bytes: message_bytes_max(self.slots) / ALIGN_MAX * ALIGN_MAX,
            keeps_order: self.deterministic,
        }
    }

    /// Whether a part goes in messages from rank to rank.
    fn in_messages(&self, bytes: usize) -> bool {
        bytes <= 2 * self.traits().message_bytes
    }

    fn barrier(&self, asked: Option<barrier::Algorithm>) -> barrier::Algorithm {
        asked.unwrap_or(match self.plans.barrier() {
            BarrierPlan::Trees { .. } => barrier::Algorithm::Tree,
            BarrierPlan::Rounds(_) => barrier::Algorithm::Dissemination,
            BarrierPlan::Groups { .. } => barrier::Algorithm::Groups,
            BarrierPlan::Counter(_) => barrier::Algorithm::Counter,
        })
    }

    fn broadcast(&self, asked: Option<broadcast::Algorithm>, bytes: usize) -> broadcast::Algorithm {
        use broadcast::Algorithm::{Fixed, Groups, Line, Messages, Whole};
        let Traits {
            ranks,
            message_bytes,
            ..
        } = self.traits();
        let lines = ranks > 1 && may_have_lines(ranks);
        let groups = self.plans.broadcast_groups().is_some();
        let posted = broadcast::posted(ranks, self.processes, message_bytes);
        match asked {
            Some(Line) if !lines => {}
            Some(Groups) if !groups => {}
            Some(other) => return other,
            None => {}
        }
        match bytes {
            // A wish that cannot be has no lines either.
            _ if asked.is_none()
                && lines
                && has_posts(ranks, self.crowded)
                && posted.contains(&bytes) =>
            {
                Line
            }
            0..=NOTICE_PAYLOAD_BYTES if groups => Groups,
            _ if bytes <= message_bytes => Messages,
            _ if ranks == 2 && bytes <= 2 * message_bytes => Messages,
            _ if ranks == 2 => Whole,
            _ => Fixed,
        }
    }

    fn reduce(&self, asked: Option<reduce::Algorithm>, bytes: usize) -> reduce::Algorithm {
        let Traits {
            ranks,
            message_bytes,
            keeps_order,
            ..
        } = self.traits();
        match asked {
            Some(asked) => asked,
            None if bytes <= message_bytes => reduce::Algorithm::Messages,
            None if ranks <= 2 && !keeps_order => reduce::Algorithm::Whole,
            None => reduce::Algorithm::Fixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_plan::Pattern;

    fn plans(n: usize, pattern: Pattern) -> Plans {
        let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
        Plans::of_pattern(machine.costs(), pattern, None).unwrap()
    }

    #[test]
    fn what_runs_without_a_wish() {
        let usual = |n, crowded, operation, bytes| {
            let plans = plans(n, Pattern::Smelt);
            let setting = Setting {
                crowded,
                ..Setting::new(&plans)
            };
            let runs = setting
                .runs(&Algorithms::default(), operation, bytes)
                .unwrap();
            assert!(!runs.as_asked);
            runs.algorithm
        };
        for (n, crowded, operation, bytes, expected) in [
            (4, false, "barrier", 0, "tree"),
            (4, false, "broadcast", 8, "messages"),
            (4, true, "broadcast", 8, "line"),
            (17, true, "broadcast", 8, "messages"),
            (4, true, "broadcast", 1 << 20, "fixed"),
            (2, false, "broadcast", 1 << 20, "line"),
            (2, false, "broadcast", 8 << 20, "whole"),
            (4, false, "reduce", 8, "messages"),
            (2, false, "reduce", 1 << 20, "whole"),
            (3, false, "reduce", 1 << 20, "fixed"),
            (8, false, "allreduce", 8, "messages"),
            (8, false, "allreduce", 16 << 10, "trees"),
            (8, false, "allreduce", 1 << 20, "owners"),
            (100, false, "allreduce", 1 << 20, "trees"),
            (8, false, "scatter", 8, "push"),
            (8, false, "gather", 1 << 20, "pull"),
            (100, false, "gather", 8, "binomial"),
            (8, false, "allgather", 8, "direct"),
            (100, false, "allgather", 8, "bruck"),
            (100, false, "allgather", 1 << 20, "ring"),
            (100, false, "alltoall", 8, "bruck"),
            (8, false, "reduce_scatter", 8, "owners"),
            (100, false, "reduce_scatter", 8, "ring"),
            (3, false, "scan", 8, "doubling"),
            (2, false, "scan", 8, "chain"),
        ] {
            let found = usual(n, crowded, operation, bytes);
            assert_eq!(found, expected, "{operation} of {bytes} on {n}, {crowded}");
        }
        let counter = plans(3, Pattern::Smelt).with_barrier(BarrierPlan::Counter(3));
        let found = Setting::new(&counter.unwrap()).runs(&Algorithms::default(), "barrier", 0);
        assert_eq!(found.unwrap().algorithm, "counter");
        let rounds = plans(3, "dissemination:2".parse().unwrap());
        let found = Setting::new(&rounds).runs(&Algorithms::default(), "barrier", 0);
        assert_eq!(found.unwrap().algorithm, "dissemination");
        let error = Setting::new(&rounds).runs(&Algorithms::default(), "gossip", 0);
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("'gossip': take one of barrier")
        );
    }

    #[test]
    fn wishes_that_cannot_be_are_not_what_runs() {
        let asks = |n, text: &str, deterministic| {
            let plans = plans(n, Pattern::Smelt);
            let setting = Setting {
                deterministic,
                ..Setting::new(&plans)
            };
            let operation = text.split('=').next().unwrap();
            let runs = setting
                .runs(&text.parse().unwrap(), operation, 100_000)
                .unwrap();
            (runs.algorithm, runs.as_asked)
        };
        assert_eq!(asks(3, "allreduce=ring", false), ("ring", true));
        assert_eq!(asks(3, "allreduce=ring", true), ("owners", false));
        assert_eq!(asks(3, "allreduce=rabenseifner", false), ("owners", false));
        assert_eq!(
            asks(4, "allreduce=rabenseifner", false),
            ("rabenseifner", true)
        );
        assert_eq!(asks(17, "broadcast=line", false), ("fixed", false));
        assert_eq!(asks(16, "broadcast=line", false), ("line", true));
        assert_eq!(asks(4, "broadcast=groups", false), ("fixed", false));
        assert_eq!(asks(100, "gather=push", false), ("binomial", false));
        assert_eq!(asks(5, "scan=doubling", true), ("chain", false));
        assert_eq!(asks(5, "scan=doubling@..99999", false), ("chain", false));
    }
}
