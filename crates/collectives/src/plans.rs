//! The plans of a team: the trees, rounds or groups over which its operations run.

mod barrier;
mod error;

pub use barrier::BarrierPlan;
pub use error::PlansError;

use corecast_model::CostModel;
use corecast_plan::groups::Grouped;
use corecast_plan::reroot::OtherRoot;
use corecast_plan::{Operation, Pattern, RootChoice, Tree, plan};

/// Number of ranks of the largest team whose ranks are all joined with each other.
pub const MESH_RANKS_MAX: usize = 64;

/// Whether an operation whose root is not that of its tree goes by a copy between the two in a team of `ranks`: where that
/// is predicted to be faster, and all ranks are linked.
pub fn goes_by_copy(ranks: usize, predicted: impl FnOnce() -> OtherRoot) -> bool {
    ranks <= MESH_RANKS_MAX && predicted().copies()
}

/// The plans of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plans {
    barrier: BarrierPlan,
    broadcast: Tree,
    reduce: Tree,
    /// The broadcast's tree with its groups, where members share lines.
    broadcast_groups: Option<Grouped>,
    /// The package of each rank, where it is known.
    packages: Option<Vec<u32>>,
    /// The roots of broadcasts and of reductions that copy to their tree's root, a bit for each rank.
    copies: [u64; 2],
}

const _: () = assert!(MESH_RANKS_MAX <= u64::BITS as usize);

impl Plans {
    /// Makes plans from one for each operation. Reductions take the children of `reduce` in list
    /// order.
    ///
    /// # Errors
    ///
    /// [`PlansError::Sizes`].
    pub fn new(barrier: BarrierPlan, broadcast: Tree, reduce: Tree) -> Result<Self, PlansError> {
        let sizes = (barrier.len(), broadcast.len(), reduce.len());
        if sizes.0 != sizes.1 || sizes.1 != sizes.2 {
            let (barrier, broadcast, reduce) = sizes;
            return Err(PlansError::Sizes {
                barrier,
                broadcast,
                reduce,
            });
        }
        Ok(Self {
            barrier,
            broadcast,
            reduce,
            broadcast_groups: None,
            packages: None,
            copies: [0; 2],
        })
    }

    /// Makes plans in which all operations run over one tree.
    pub fn of_tree(tree: &Tree) -> Self {
        Self {
            barrier: BarrierPlan::of_tree(tree),
            broadcast: tree.clone(),
            reduce: tree.reversed(),
            broadcast_groups: None,
            packages: None,
            copies: [0; 2],
        }
    }

    /// Plans all operations by one pattern. A pattern of rounds serves the barrier alone;
    /// broadcasts and reductions then use Smelt's tree. Without a `root`, broadcasts and reductions
    /// use Smelt's root, and a barrier for which the pattern searches has a root of its own.
    ///
    /// Where the cost model has the costs of shared lines, a search may find groups that share
    /// them.
    ///
    /// # Errors
    ///
    /// [`PlansError::Plan`] for a root outside of the team, or a radix below 2.
    pub fn of_pattern(
        costs: &CostModel,
        pattern: Pattern,
        root: Option<usize>,
    ) -> Result<Self, PlansError> {
        let root_or = |choice| root.map_or(choice, RootChoice::Rank);
        let tree_pattern = match pattern.rounds(2) {
            Some(_) => Pattern::Smelt,
            None => pattern,
        };
        let plan_of = |operation| plan(costs, tree_pattern, operation, root_or(RootChoice::Smelt));
        let barrier = plan(
            costs,
            pattern,
            Operation::Barrier,
            root_or(RootChoice::Auto),
        )?;
        let barrier = BarrierPlan::of_plan(&barrier)?;
        // Each member of a reduction has a line of its own, so its plans have no groups.
        let reduce = plan_of(Operation::Reduce)?;
        let reduce = reduce.tree().ok_or(PlansError::Shape)?.clone();
        let broadcast = plan_of(Operation::Broadcast)?;
        let plans = match (broadcast.tree(), broadcast.groups()) {
            (Some(tree), _) => Self::new(barrier, tree.clone(), reduce)?,
            (None, Some(groups)) => {
                let plans = Self::new(barrier, groups.tree().clone(), reduce)?;
                plans.with_broadcast_groups(groups.clone())?
            }
            (None, None) => return Err(PlansError::Shape),
        };
        Ok(plans.with_copies((costs, costs)))
    }

    /// Decides for each root of broadcasts and reductions between the tree re-hung there and a copy to the tree's root,
    /// by the costs of messages towards the root, and from it: see [`reroot`](corecast_plan::reroot). Without costs all
    /// trees are re-hung, and in teams of more than [`MESH_RANKS_MAX`] ranks, whose ranks are not all linked.
    ///
    /// # Panics
    ///
    /// If the costs are of a team of another size.
    ///
    /// # Cost
    ///
    /// Time in the square of the number of ranks.
    ///
    /// # Source
    ///
    /// NUMA clusters §3.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_collectives::Plans;
    /// use corecast_plan::{Operation, patterns};
    ///
    /// let machine = corecast_model::synthetic("core:15 send=10 receive=30").unwrap();
    /// let plans = Plans::of_tree(&patterns::knomial(15, 0, 2));
    /// let costs = (machine.costs(), machine.costs());
    /// assert!(plans.with_copies(costs).copies(Operation::Broadcast, 14));
    /// ```
    pub fn with_copies(self, (inward, outward): (&CostModel, &CostModel)) -> Self {
        let n = self.len();
        let of = |costs: &CostModel, tree: &Tree, operation| {
            assert_eq!(costs.n(), n, "costs of the team");
            let predicted = |root| OtherRoot::new(costs, tree, operation, root);
            (0..n)
                .filter(|&root| goes_by_copy(n, || predicted(root)))
                .fold(0, |copies, root| copies | 1 << root)
        };
        Self {
            copies: [
                of(outward, &self.broadcast, Operation::Broadcast),
                of(inward, &self.reduce, Operation::Reduce),
            ],
            ..self
        }
    }

    /// Sets what [`with_copies`](Self::with_copies) decides: the roots of broadcasts and of reductions that copy, a bit
    /// for each rank. Returns `None` for a bit of another rank.
    pub fn with_copies_of(self, copies: [u64; 2]) -> Option<Self> {
        let n = self.len().min(MESH_RANKS_MAX) as u32;
        let bits = copies.map(|copies| u64::BITS - copies.leading_zeros());
        bits.iter()
            .all(|&bits| bits <= n)
            .then_some(Self { copies, ..self })
    }

    /// The roots of broadcasts and of reductions that copy to their tree's root, a bit for each rank.
    pub fn copies_of(&self) -> [u64; 2] {
        self.copies
    }

    /// Whether a broadcast or reduction with this root goes by a copy to the root of its tree.
    pub fn copies(&self, operation: Operation, root: usize) -> bool {
        let copies = match operation {
            Operation::Broadcast => self.copies[0],
            Operation::Reduce => self.copies[1],
            Operation::Barrier => 0,
        };
        root < MESH_RANKS_MAX && copies >> root & 1 == 1
    }

    /// Replaces the broadcast's plan by one over groups that share lines. Broadcasts of more bytes
    /// than a line has, and from other roots, run over the groups' tree.
    ///
    /// # Errors
    ///
    /// [`PlansError::Sizes`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_collectives::{BarrierPlan, Plans};
    /// use corecast_plan::groups::Grouped;
    ///
    /// // Ranks 1, 2 and 3 poll one line of rank 0.
    /// let flat = Grouped::flat(4, 0);
    /// let barrier = BarrierPlan::Groups { fan_in: flat.clone(), fan_out: flat.clone() };
    /// let plans = Plans::of_tree(flat.tree()).with_barrier(barrier)?.with_broadcast_groups(flat)?;
    /// assert!(plans.broadcast_groups().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_broadcast_groups(self, groups: Grouped) -> Result<Self, PlansError> {
        let plans = Self::new(self.barrier, groups.tree().clone(), self.reduce)?;
        Ok(Self {
            broadcast_groups: groups.shares_lines().then_some(groups),
            packages: self.packages,
            copies: [0, self.copies[1]],
            ..plans
        })
    }

    /// Sets the package of each rank, in any numbering, for the barriers
    /// [`PairWise`](crate::barrier::Algorithm::PairWise) and
    /// [`PackageRoots`](crate::barrier::Algorithm::PackageRoots). Without packages, the NUMA nodes
    /// of `Options` stand for them in a team of one process.
    ///
    /// # Errors
    ///
    /// [`PlansError::Packages`].
    pub fn with_packages(self, packages: Vec<u32>) -> Result<Self, PlansError> {
        let (given, ranks) = (packages.len(), self.len());
        match given == ranks {
            true => Ok(Self {
                packages: Some(packages),
                ..self
            }),
            false => Err(PlansError::Packages { given, ranks }),
        }
    }

    /// Replaces the barrier's plan.
    ///
    /// # Errors
    ///
    /// [`PlansError::Sizes`].
    pub fn with_barrier(self, barrier: BarrierPlan) -> Result<Self, PlansError> {
        let plans = Self::new(barrier, self.broadcast, self.reduce)?;
        Ok(Self {
            broadcast_groups: self.broadcast_groups,
            packages: self.packages,
            copies: self.copies,
            ..plans
        })
    }

    /// Number of ranks.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a team has at least one member"
    )]
    pub fn len(&self) -> usize {
        self.broadcast.len()
    }

    /// The barrier's plan.
    pub fn barrier(&self) -> &BarrierPlan {
        &self.barrier
    }

    /// The broadcast's tree.
    pub fn broadcast(&self) -> &Tree {
        &self.broadcast
    }

    /// The broadcast's tree with its groups, if members share lines.
    pub fn broadcast_groups(&self) -> Option<&Grouped> {
        self.broadcast_groups.as_ref()
    }

    /// The package of each rank, where it was set.
    pub fn packages(&self) -> Option<&[u32]> {
        self.packages.as_deref()
    }

    /// The reduction's tree.
    pub fn reduce(&self) -> &Tree {
        &self.reduce
    }
}

#[cfg(test)]
mod tests;
