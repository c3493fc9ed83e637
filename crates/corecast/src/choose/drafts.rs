//! Finds the schedules of one team. Trees that several operations need are found once.

use std::cell::{OnceCell, RefCell};
use std::time::{Duration, Instant};

use corecast_model::{CostModel, RacedCandidate};
use corecast_plan::{Operation, Pattern, PatternError, PlanError, RootChoice, Shape, Tree, cost};

use super::best::{FoundTree, Searcher, other_roots};
use super::candidate::{Candidate, ONE_TREE};

/// Finds schedules for one team.
#[derive(Debug)]
pub(super) struct Drafts<'a> {
    fan_in: &'a CostModel,
    fan_out: &'a CostModel,
    root: usize,
    /// Whether a barrier may have a root of its own.
    free_root: bool,
    /// Costs of messages towards the root, mirrored so that reductions are planned as broadcasts.
    mirrored: OnceCell<CostModel>,
    pub(super) searcher: Searcher,
    best_in: OnceCell<FoundTree>,
    best_out: OnceCell<FoundTree>,
    /// Trees from the root by pattern, for broadcasts and for barriers.
    outward: RefCell<Vec<(Pattern, Tree, Duration)>>,
}

impl<'a> Drafts<'a> {
    /// `costs` are those of messages towards the root, and from it.
    pub(super) fn new(
        (fan_in, fan_out): (&'a CostModel, &'a CostModel),
        root: RootChoice,
    ) -> Result<Self, PlanError> {
        Ok(Self {
            fan_in,
            fan_out,
            root: root.resolve(fan_out)?,
            free_root: root == RootChoice::Auto,
            mirrored: OnceCell::new(),
            searcher: Searcher::default(),
            best_in: OnceCell::new(),
            best_out: OnceCell::new(),
            outward: RefCell::default(),
        })
    }

    fn mirrored(&self) -> &CostModel {
        self.mirrored.get_or_init(|| self.fan_in.mirrored())
    }

    /// The schedule of a pattern.
    pub(super) fn of_pattern(
        &self,
        pattern: Pattern,
        operation: Operation,
    ) -> Result<Candidate, PlanError> {
        if pattern.radix().is_some_and(|radix| radix < 2) {
            return Err(PlanError::Radix { pattern });
        }
        match pattern {
            Pattern::Best => return Ok(self.best(operation)),
            Pattern::Optimal => return self.optimal(operation),
            _ => {}
        }
        let start = Instant::now();
        let shape = match pattern.rounds(self.fan_out.n()) {
            Some(_) if operation != Operation::Barrier => {
                return Err(PlanError::Unsuited { pattern, operation });
            }
            Some(rounds) => Shape::Rounds(rounds),
            None => {
                let unsuited = PlanError::Unsuited { pattern, operation };
                let (tree, took) = self.tree(pattern, operation).ok_or(unsuited)?;
                return Ok(self.candidate(pattern, operation, Shape::Tree(tree), took));
            }
        };
        Ok(self.candidate(pattern, operation, shape, start.elapsed()))
    }

    fn tree(&self, pattern: Pattern, operation: Operation) -> Option<(Tree, Duration)> {
        let start = Instant::now();
        if operation == Operation::Reduce {
            let tree = pattern.tree(self.mirrored(), self.root)?.reversed();
            return Some((tree, start.elapsed()));
        }
        let mut known = self.outward.borrow_mut();
        if let Some((_, tree, took)) = known.iter().find(|(of, ..)| *of == pattern) {
            return Some((tree.clone(), *took));
        }
        let tree = pattern.tree(self.fan_out, self.root)?;
        known.push((pattern, tree.clone(), start.elapsed()));
        Some((tree, start.elapsed()))
    }

    /// The best trees that a start can afford, see [`super::best`].
    fn best(&self, operation: Operation) -> Candidate {
        let (shape, took) = match operation {
            Operation::Broadcast => {
                let found = self.best_out();
                (Shape::Tree(found.tree.clone()), found.took)
            }
            Operation::Reduce => {
                let found = self.best_in();
                (Shape::Tree(found.tree.reversed()), found.took)
            }
            Operation::Barrier => self.best_barrier(),
        };
        self.candidate(Pattern::Best, operation, shape, took)
    }

    /// The optimal trees of fan-in and fan-out from the team's root, or the best found in the time
    /// limit.
    fn optimal(&self, operation: Operation) -> Result<Candidate, PlanError> {
        let inward = || self.searcher.optimal(self.mirrored(), self.root);
        let outward = || self.searcher.optimal(self.fan_out, self.root);
        let (shape, took) = match operation {
            Operation::Broadcast => {
                let found = outward()?;
                (Shape::Tree(found.tree), found.took)
            }
            Operation::Reduce => {
                let found = inward()?;
                (Shape::Tree(found.tree.reversed()), found.took)
            }
            Operation::Barrier => {
                let (inward, outward) = (inward()?, outward()?);
                (both_ways(&inward, &outward), inward.took + outward.took)
            }
        };
        Ok(self.candidate(Pattern::Optimal, operation, shape, took))
    }

    fn best_out(&self) -> &FoundTree {
        self.best_out.get_or_init(|| self.way(self.fan_out))
    }

    fn best_in(&self) -> &FoundTree {
        self.best_in.get_or_init(|| self.way(self.mirrored()))
    }

    fn way(&self, costs: &CostModel) -> FoundTree {
        let constructed = self.searcher.construct(costs, self.root);
        self.searcher.improve(costs, constructed)
    }

    fn best_barrier(&self) -> (Shape, Duration) {
        let (inward, outward) = (self.best_in(), self.best_out());
        let mut took = inward.took + outward.took;
        let start = Instant::now();
        let other = self.free_root.then(|| self.better_root(inward, outward));
        took += start.elapsed();
        let shape = match other.flatten() {
            Some((inward, outward)) => both_ways(&inward, &outward),
            None => both_ways(inward, outward),
        };
        (shape, took)
    }

    /// Fan-in and fan-out trees with another root, if they are better. Only the root whose trees are best
    /// before any move is looked at in depth, and only if they are better than the team's own were.
    fn better_root(
        &self,
        inward: &FoundTree,
        outward: &FoundTree,
    ) -> Option<(FoundTree, FoundTree)> {
        let (mirrored, fan_out) = (self.mirrored(), self.fan_out);
        let mut least = inward.constructed + outward.constructed;
        let mut promising = None;
        for root in other_roots(fan_out, mirrored, self.root) {
            if self.searcher.is_late() {
                return None;
            }
            let pair = [mirrored, fan_out].map(|costs| self.searcher.construct(costs, root));
            let sum = pair[0].latency + pair[1].latency;
            if sum < least {
                least = sum;
                promising = Some(pair);
            }
        }
        let [way_in, way_out] = promising?;
        let way_in = self.searcher.improve(mirrored, way_in);
        let way_out = self.searcher.improve(fan_out, way_out);
        let better = way_in.latency + way_out.latency < inward.latency + outward.latency;
        better.then_some((way_in, way_out))
    }

    /// A schedule with its predicted latency.
    pub(super) fn candidate(
        &self,
        pattern: Pattern,
        operation: Operation,
        shape: Shape,
        search: Duration,
    ) -> Candidate {
        let (root, latency) = match &shape {
            Shape::Tree(tree) => (tree.root(), self.tree_latency(tree, operation)),
            Shape::Trees { fan_in, fan_out } => (fan_out.root(), self.trees(fan_in, fan_out)),
            Shape::Rounds(rounds) => (self.root, rounds.latency(self.fan_out)),
            other => unreachable!("no such schedule is made here: {other:?}"),
        };
        Candidate {
            pattern,
            root,
            shape,
            latency,
            search,
        }
    }

    fn tree_latency(&self, tree: &Tree, operation: Operation) -> f64 {
        match operation {
            Operation::Broadcast => cost::latency(self.fan_out, tree, operation),
            Operation::Reduce => cost::latency(self.fan_in, tree, operation),
            Operation::Barrier if std::ptr::eq(self.fan_in, self.fan_out) => {
                cost::latency(self.fan_out, tree, operation)
            }
            Operation::Barrier => self.trees(&tree.reversed(), tree),
        }
    }

    fn trees(&self, fan_in: &Tree, fan_out: &Tree) -> f64 {
        cost::latency(self.fan_in, fan_in, Operation::Reduce)
            + cost::latency(self.fan_out, fan_out, Operation::Broadcast)
    }

    /// The schedule that ran in a race. Its trees are those of the race, even where the pattern
    /// would build other ones from the current costs.
    pub(super) fn raced(
        &self,
        ran: &RacedCandidate,
        operation: Operation,
    ) -> Result<Candidate, String> {
        let start = Instant::now();
        let text = |error: &dyn ToString| error.to_string();
        let pattern = named(&ran.pattern).map_err(|error| text(&error))?;
        let Some(children) = &ran.children else {
            let planned = self.of_pattern(pattern, operation);
            return planned.map_err(|error| text(&error));
        };
        let tree = |lists: &Vec<Vec<usize>>| {
            Tree::from_children(ran.root, lists.clone()).map_err(|error| text(&error))
        };
        let fan_out = tree(children)?;
        let shape = match &ran.fan_in {
            Some(lists) if operation == Operation::Barrier => Shape::Trees {
                fan_in: tree(lists)?,
                fan_out,
            },
            _ => Shape::Tree(fan_out),
        };
        Ok(self.candidate(pattern, operation, shape, start.elapsed()))
    }
}

/// The shape of a barrier: one tree where fan-in is fan-out reversed, else two.
fn both_ways(inward: &FoundTree, outward: &FoundTree) -> Shape {
    let fan_out = outward.tree.clone();
    if inward.tree == fan_out {
        return Shape::Tree(fan_out);
    }
    Shape::Trees {
        fan_in: inward.tree.reversed(),
        fan_out,
    }
}

/// The pattern of a race's candidate of this name.
fn named(entrant: &str) -> Result<Pattern, PatternError> {
    match entrant {
        ONE_TREE => Ok(Pattern::Best),
        name => name.parse(),
    }
}
