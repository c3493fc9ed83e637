//! Broadcast trees of acceptors, and the members that should lead and accept (Smelt §5.6).
//!
//! In 1Paxos a command goes from the leader to the acceptor, and what the acceptor accepts is broadcast to all members. Any member
//! may become the acceptor, so each has a tree. Members that are gone are left out by [`Plan::without`], a local repair.
//!
//! ```text
//!  work of a command at     leader        acceptor             others
//!                           clients       receive(accept)      receive
//!                         + send(accept)  + send to children   + send to children
//!                         + receive + send to children
//! ```
//!
//! The member with the most work limits how many commands are agreed on in a given time, since all others work beside it. How soon
//! a command is answered is the time of the two messages and of the broadcast as far as the leader.

use corecast_model::CostModel;

use crate::cost;
use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::plan::{Plan, PlanError, RootChoice, plan};
use crate::tree::Tree;

/// A broadcast tree for each member that may be the acceptor.
#[derive(Clone, Debug)]
pub struct AcceptorTrees {
    costs: CostModel,
    plans: Vec<Plan>,
}

/// Which members lead and accept, and what a command then costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roles {
    /// The leader.
    pub leader: usize,
    /// The acceptor, another member unless there is one alone.
    pub acceptor: usize,
    /// The work of the member that has most of it, for one command: agreement takes no less for each.
    pub busiest: f64,
    /// From when the leader sends a command until it has learned that it is chosen, if nothing else is done.
    pub answer: f64,
}

impl AcceptorTrees {
    /// Plans a tree of the pattern for each member.
    ///
    /// # Errors
    ///
    /// The pattern has rounds and no trees, or a radix below 2.
    ///
    /// # Panics
    ///
    /// There are more than 64 members.
    ///
    /// # Cost
    ///
    /// That of [`plan()`], for each member.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_plan::Pattern;
    /// use corecast_plan::consensus::AcceptorTrees;
    ///
    /// let machine = corecast_model::synthetic("package:2 core:4").unwrap();
    /// let trees = AcceptorTrees::new(machine.costs(), Pattern::Smelt)?;
    /// let roles = trees.roles(|_| 0.0);
    /// assert_ne!(roles.leader, roles.acceptor);
    /// // Member 7 has gone: it is in no list any more.
    /// let children = trees.children(roles.acceptor, 1 << 7);
    /// assert_eq!(children.iter().flatten().count(), if roles.acceptor == 7 { 0 } else { 6 });
    /// # Ok::<(), corecast_plan::PlanError>(())
    /// ```
    pub fn new(costs: &CostModel, pattern: Pattern) -> Result<Self, PlanError> {
        let n = costs.n();
        assert!(n <= 64, "{n} members: at most 64");
        // Members that share a line cannot be repaired.
        let costs = costs.without_lines().into_owned();
        let one = |root| {
            plan(
                &costs,
                pattern,
                Operation::Broadcast,
                RootChoice::Rank(root),
            )
        };
        let plans = (0..n).map(one).collect::<Result<_, _>>()?;
        Ok(Self { costs, plans })
    }

    /// The tree of an acceptor with all members.
    ///
    /// # Panics
    ///
    /// There is no such member.
    #[must_use]
    pub fn tree(&self, acceptor: usize) -> &Tree {
        tree(&self.plans[acceptor])
    }

    /// The children of each member in the tree of an acceptor without the members that `absent` has a bit for; none at all where
    /// the acceptor is one of them.
    ///
    /// # Panics
    ///
    /// There is no such member.
    ///
    /// # Cost
    ///
    /// That of [`Plan::without`] for each absent member.
    #[must_use]
    pub fn children(&self, acceptor: usize, absent: u64) -> Vec<Vec<usize>> {
        let n = self.costs.n();
        let mut children = vec![Vec::new(); n];
        if absent >> acceptor & 1 == 1 {
            return children;
        }
        let mut plan = self.plans[acceptor].clone();
        let mut stay: Vec<usize> = (0..n).collect();
        for gone in (0..n).rev().filter(|member| absent >> member & 1 == 1) {
            // The members above have left already or moved down, those below are where they were.
            let rank = stay.iter().position(|member| *member == gone);
            let rank = rank.unwrap_or_else(|| unreachable!("{gone} has not left"));
            stay.remove(rank);
            let costs = self.costs.subset(&stay);
            let costs = costs.unwrap_or_else(|error| unreachable!("the acceptor stays: {error}"));
            let repair = plan.without(&costs, rank);
            plan = repair.unwrap_or_else(|error| unreachable!("{error}")).plan;
        }
        for (rank, list) in tree(&plan).child_lists().iter().enumerate() {
            children[stay[rank]] = list.iter().map(|&child| stay[child]).collect();
        }
        children
    }

    /// The roles with which the busiest member has the least work, and of those the ones with the soonest answer. `clients` is the
    /// further work that a member has with each command if it leads, such as a message from a client and one to it.
    #[must_use]
    pub fn roles(&self, clients: impl Fn(usize) -> f64) -> Roles {
        let n = self.costs.n();
        let pairs = (0..n).flat_map(|acceptor| (0..n).map(move |leader| (leader, acceptor)));
        let pairs = pairs.filter(|(leader, acceptor)| leader != acceptor || n == 1);
        let roles = pairs.map(|(leader, acceptor)| self.with_roles(leader, acceptor, &clients));
        let best = roles.min_by(|a, b| {
            let busiest = a.busiest.total_cmp(&b.busiest);
            busiest.then(a.answer.total_cmp(&b.answer))
        });
        best.unwrap_or_else(|| unreachable!("a model has members"))
    }

    /// What a command costs with a leader and an acceptor; `clients` is that of [`roles`](Self::roles).
    ///
    /// # Panics
    ///
    /// There is no such member.
    #[must_use]
    pub fn with_roles(
        &self,
        leader: usize,
        acceptor: usize,
        clients: impl Fn(usize) -> f64,
    ) -> Roles {
        let (costs, tree) = (&self.costs, self.tree(acceptor));
        let asks = costs.send(leader, acceptor);
        let work = |member: usize| {
            let children = tree.children(member).iter();
            let sends: f64 = children.map(|&child| costs.send(member, child)).sum();
            let learns = tree
                .parent(member)
                .map_or(0.0, |it| costs.receive(it, member));
            let leads = if member == leader {
                clients(leader) + asks
            } else {
                0.0
            };
            let accepts = if member == acceptor {
                costs.receive(leader, acceptor)
            } else {
                0.0
            };
            sends + learns + leads + accepts
        };
        let work = (0..costs.n()).map(work);
        let learned = cost::broadcast_avail(costs, tree)[leader];
        Roles {
            leader,
            acceptor,
            busiest: work.fold(0.0, f64::max),
            answer: asks + costs.receive(leader, acceptor) + learned,
        }
    }
}

/// Plans without lines and rounds have a tree.
fn tree(plan: &Plan) -> &Tree {
    plan.tree()
        .unwrap_or_else(|| unreachable!("a broadcast without shared lines is a tree"))
}
