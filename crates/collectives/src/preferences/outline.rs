//! The algorithms that a team would choose, without the team: for tools that explain or predict the choice.

use super::algorithms::{Algorithms, each_by_length};
use super::by_name::UnknownOperation;
use crate::context::ALIGN_MAX;
use crate::layout::{has_lines, has_rings};
use crate::plans::MESH_RANKS_MAX;
use crate::plans::Plans;
use crate::registry::{Entry, Request, TeamTraits};
use crate::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};
use corecast_wire::queue::{DEFAULT_SLOTS, message_bytes_max};

/// The properties of a team on which its choices of algorithms depend.
///
/// # Examples
///
/// ```
/// use corecast_collectives::preferences::{Algorithms, TeamOutline};
/// # let machine = corecast_model::synthetic("core:4").unwrap();
/// # let plans = corecast_collectives::Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
/// let team = TeamOutline::new(&plans);
/// let mut asked = Algorithms::default();
/// let usual = team.chooses(&asked, "allreduce", 1 << 20).unwrap();
/// assert_eq!((usual.algorithm(), usual.as_asked), ("owners", false));
/// asked.ask("allreduce", &[(1 << 20, Some("ring"))])?;
/// let other = team.chooses(&asked, "allreduce", 1 << 20).unwrap();
/// assert_eq!((other.algorithm(), other.as_asked), ("ring", true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TeamOutline<'a> {
    /// The plans of the team, which also have its number of ranks.
    pub plans: &'a Plans,
    /// Number of slots of a queue.
    pub slots: usize,
    /// Most ranks on one hardware thread: 1 where each has one of its own.
    pub sharing: usize,
    /// Whether ranks are in several processes.
    pub processes: bool,
    /// Whether results have the same bits every time.
    pub deterministic: bool,
    /// Whether messages that are published for all ranks can be longer than a line, as they can be on hardware.
    pub long_posts: bool,
}

/// The algorithm that a team chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The algorithm's entry in the registry.
    pub entry: &'static Entry,
    /// The algorithm's name, with the size if it was asked for with one.
    name: &'static str,
    /// Whether this algorithm was asked for. If another one was, the team cannot run that.
    pub as_asked: bool,
}

impl Chosen {
    /// The algorithm's name, with the size if it was asked for with one.
    pub fn algorithm(&self) -> &'static str {
        self.name
    }
}

impl<'a> TeamOutline<'a> {
    /// The outline of a team of threads that have a core each, with default options.
    pub fn new(plans: &'a Plans) -> Self {
        Self {
            plans,
            slots: DEFAULT_SLOTS,
            sharing: 1,
            processes: false,
            deterministic: false,
            long_posts: true,
        }
    }

    /// The traits of such a team if these algorithms are asked for.
    pub fn traits(&self, asked: &Algorithms) -> TeamTraits {
        let ranks = self.plans.len();
        let lines = has_lines(ranks, asked, self.sharing);
        TeamTraits {
            ranks,
            sharing: self.sharing,
            mesh: ranks <= MESH_RANKS_MAX,
            message_bytes: message_bytes_max(self.slots) / ALIGN_MAX * ALIGN_MAX,
            copies: self.processes,
            limits: asked.limits(ranks, self.sharing),
            segments: asked.segments(self.sharing, self.processes),
            lines,
            publishes: lines && self.long_posts && has_rings(ranks, self.sharing),
            groups_root: self
                .plans
                .broadcast_groups()
                .map(|_| self.plans.broadcast().root()),
            deterministic: self.deterministic,
        }
    }

    /// The algorithm that an operation runs for a block of `bytes`, with an operator that does not need the order
    /// of ranks and elements that fit a message. Broadcasts start at the root of their plan.
    ///
    /// # Errors
    ///
    /// [`UnknownOperation`].
    pub fn chooses(
        &self,
        asked: &Algorithms,
        operation: &str,
        bytes: usize,
    ) -> Result<Chosen, UnknownOperation> {
        let request = Request {
            root: self.plans.broadcast().root(),
            keeps_order: self.deterministic,
            ..Request::of_bytes(bytes)
        };
        self.chooses_for(asked, operation, &request)
    }

    /// The algorithm that an operation runs for any request; see [`chooses`](Self::chooses).
    ///
    /// # Errors
    ///
    /// [`UnknownOperation`].
    pub fn chooses_for(
        &self,
        asked: &Algorithms,
        operation: &str,
        request: &Request,
    ) -> Result<Chosen, UnknownOperation> {
        let requested = asked.asked(operation, request.bytes)?;
        let traits = self.traits(asked);
        macro_rules! each {
            ($($collective:ident),*) => {
                match operation {
                    $(stringify!($collective) => {
                        let asked = asked.$collective.at(request.bytes);
                        let chosen = $collective::choose(asked, request, &traits);
                        (chosen.entry(), chosen.name())
                    })*
                    _ => {
                        let chosen = barrier::choose(asked.barrier, self.plans);
                        (chosen.entry(), chosen.name())
                    }
                }
            };
        }
        let (entry, name) = each_by_length!(each);
        Ok(Chosen {
            entry,
            name,
            as_asked: requested == Some(name),
        })
    }
}

#[cfg(test)]
mod tests;
