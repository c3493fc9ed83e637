//! The algorithms of Ramos and Hoefler (CLa) over thread counts: bounds of the symbolic model, and the same acts on
//! their machines in parts.

use crate::choose::{self, InGroups};
use crate::published::{self, Sharing};
use crate::replay::replay;
use crate::tables;
use corecast_collectives::Plans;
use corecast_collectives::barrier::{LineSteps, m_way, package_root_rounds, pair_wise_rounds};
use corecast_collectives::groups::Groups;
use corecast_plan::{Rounds, Tree};
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::engine::RunOptions;
use corecast_sim::machine::{SimMachine, cla};
use corecast_sim::symbolic::{
    AccessCosts, Analysis, Bounds, Contention, CostRules, Graph, Placement, Stealing, record,
    record_job,
};

/// One of the two machines of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaperMachine {
    /// Intel Xeon E5-2660: two packages of eight cores.
    SandyBridge,
    /// Intel Xeon Phi 5110P: one package of sixty cores.
    XeonPhi,
}

impl PaperMachine {
    /// Both machines.
    pub const ALL: [Self; 2] = [Self::SandyBridge, Self::XeonPhi];

    /// Its name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::SandyBridge => "Sandy Bridge",
            Self::XeonPhi => "Xeon Phi",
        }
    }

    /// The thread counts of the paper's figures.
    pub fn threads(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Self::SandyBridge => 2..=16,
            Self::XeonPhi => 2..=60,
        }
    }

    /// The simulated machine.
    pub fn machine(self) -> SimMachine {
        match self {
            Self::SandyBridge => cla::sandy_bridge(),
            Self::XeonPhi => cla::xeon_phi(),
        }
    }

    /// The costs of the symbolic model for `n` threads.
    pub fn placement(self, n: usize) -> Placement {
        match self {
            Self::SandyBridge => tables::sandy_bridge(n),
            Self::XeonPhi => tables::xeon_phi(n),
        }
    }

    /// Costs as [`placement`](Self::placement), but contention has the intercept of Equation 2, R_L + R_R − c, and not
    /// that of Table 2.
    pub fn least_placement(self, n: usize) -> Placement {
        let mut costs: AccessCosts = *self.placement(n).costs();
        if let Some(fit) = &mut costs.contention {
            let base = costs.own + costs.transfer[1] - fit.slope;
            *fit = Contention { base, ..*fit };
        }
        Placement::of_packages(costs, &self.placement(n).packages())
    }
}

/// Bounds and time of an algorithm for a number of threads, ns.
#[derive(Clone, Copy, Debug)]
pub struct CurvePoint {
    /// Number of threads.
    pub threads: usize,
    /// The bounds as the paper counts them.
    pub published: Bounds,
    /// The time that no run can beat.
    pub least: f64,
    /// The time of the simulated run.
    pub simulated: f64,
    /// T_max by the rules of §2.4, without the refinements of later sections.
    pub most: f64,
}

/// An algorithm over all thread counts for which it is defined.
#[derive(Clone, Debug)]
pub struct AlgorithmCurve {
    /// Its name in the document.
    pub algorithm: &'static str,
    /// The program that is recorded and run: a figure of the paper in its primitives (`one_line`), or an algorithm
    /// of Corecast's collectives.
    pub program: &'static str,
    /// A point for each thread count.
    pub points: Vec<CurvePoint>,
}

/// Virtual time has a resolution of 0.001 ns, so a sum of many times can be wrong by this many ns.
pub const ROUNDING: f64 = 0.05;

/// How the bounds of an algorithm are counted.
#[derive(Clone, Copy, Debug, Default)]
struct CountingRule {
    /// Whether it is a dissemination, of which the paper refines T_max (Equation 28).
    refined: bool,
    /// Whether it ends with the last of several readers of one line, so that every run has contention.
    contended: bool,
}

fn barrier(rounds: &Rounds) -> Graph {
    let mut groups = Groups::new(rounds.len());
    let steps = LineSteps::all(rounds, &mut groups);
    let recorded = record(rounds.len(), &groups, |fabric, rank| {
        m_way(fabric, &steps[rank])
    });
    recorded.expect("a barrier ends")
}

fn refined() -> CostRules {
    CostRules {
        inside: Stealing::OnePerOperation,
        ..CostRules::default()
    }
}

fn in_one_package(placement: &Placement) -> bool {
    placement.packages().iter().all(|&package| package == 0)
}

/// The package of each rank, if there are several packages.
fn packages(placement: &Placement) -> Option<Vec<u32>> {
    (!in_one_package(placement)).then(|| placement.packages())
}

/// The graph of the algorithm `whole` of a collective over this tree.
fn whole(collective: Collective, bytes: usize, tree: &Tree) -> Graph {
    let call = Call::new(collective, "whole", 0, bytes).expect("an algorithm");
    let job = Job::new(&call, &Plans::of_tree(tree)).expect("a call");
    record_job(&job).expect("it ends")
}

/// The graph of a long broadcast over the best tree for one line; children copy from their parent's buffer (§4.2).
fn long_broadcast(placement: &Placement) -> Graph {
    let tree = choose::broadcast(placement, &CostRules::default()).tree;
    whole(Collective::Broadcast, 8192, &tree)
}

/// The graph of a long reduction over a binomial tree in each package; the root takes the other package's root last
/// (§5.2).
fn long_reduction(placement: &Placement) -> Graph {
    let mut children = vec![Vec::new(); placement.ranks()];
    let far = placement
        .packages()
        .partition_point(|&package| package == 0);
    for (first, beyond) in [(0, far), (far, placement.ranks())] {
        let mut step = 1;
        while step < beyond - first {
            for place in (first..beyond - step).step_by(2 * step) {
                children[place].push(place + step);
            }
            step *= 2;
        }
    }
    if far < placement.ranks() {
        children[0].push(far);
    }
    let tree = Tree::from_children(0, children).expect("a tree");
    whole(Collective::Reduce, 4096, &tree)
}

/// Name, program, way of counting, and graphs for all thread counts.
type Recorded = (&'static str, &'static str, CountingRule, Vec<Graph>);

/// Each algorithm with its graph for each thread count; the model chooses parameters and trees.
fn algorithms(which: PaperMachine) -> Vec<Recorded> {
    let all: Vec<Placement> = which.threads().map(|n| which.placement(n)).collect();
    let near = || all.iter().filter(|placement| in_one_package(placement));
    let far = || all.iter().filter_map(packages);
    let others = |graph: fn(usize, Sharing) -> Graph, sharing| -> Vec<Graph> {
        let counts = all.iter().map(|placement| placement.ranks() - 1);
        counts.map(|others| graph(others, sharing)).collect()
    };
    let default = CostRules::default();
    let biggest = near().next_back().expect("two threads are in one package");
    let groups = |algorithm: InGroups| -> Vec<Graph> {
        let chosen = choose::broadcasts_in_groups(algorithm, biggest, &default);
        chosen[1..]
            .iter()
            .map(|one| algorithm.graph(&one.plan))
            .collect()
    };
    let broadcast = |placement: &Placement| {
        let tree = choose::broadcast(placement, &default).tree;
        published::broadcast(&tree, packages(placement).as_deref())
    };
    let reduction = |placement: &Placement| {
        let tree = choose::reduction(placement, &default).tree;
        published::reduction(&tree, packages(placement).as_deref())
    };
    let plain = CountingRule::default();
    let rounds = CountingRule {
        refined: true,
        ..plain
    };
    let contended = CountingRule {
        contended: true,
        ..plain
    };
    let best = |placement: &Placement| choose::dissemination(placement, &refined()).graph();
    let several = |placement| choose::several_m(placement, &refined()).graph();
    let notified = |placement| choose::notification(placement, &default).graph();
    vec![
        (
            "many to one, same line",
            "Figure 4",
            plain,
            others(published::many_to_one, Sharing::SameLine),
        ),
        (
            "many to one, lines of their own",
            "Figure 4",
            plain,
            others(published::many_to_one, Sharing::DifferentLines),
        ),
        (
            "one to many, same line",
            "Figure 8",
            contended,
            others(published::one_to_many, Sharing::SameLine),
        ),
        (
            "one to many, lines of their own",
            "Figure 8",
            plain,
            others(published::one_to_many, Sharing::DifferentLines),
        ),
        (
            "dissemination, best m",
            "barrier `m-way`",
            rounds,
            all.iter().map(best).collect(),
        ),
        (
            "dissemination, several m",
            "barrier `multi-m`",
            rounds,
            near().map(several).collect(),
        ),
        (
            "dissemination, pair-wise",
            "barrier `pair-wise`",
            rounds,
            far().map(|of| barrier(&pair_wise_rounds(&of))).collect(),
        ),
        (
            "dissemination, package roots",
            "barrier `package-roots`",
            rounds,
            far().map(|of| barrier(&package_root_rounds(&of))).collect(),
        ),
        (
            "notification trees",
            "barrier `groups`",
            plain,
            near().map(notified).collect(),
        ),
        (
            "broadcast of a line",
            "Figure 12",
            plain,
            all.iter().map(broadcast).collect(),
        ),
        (
            "broadcast in groups",
            "§4.1.2",
            plain,
            groups(InGroups::Published),
        ),
        (
            "broadcast in groups, the collective",
            "broadcast `groups`",
            plain,
            groups(InGroups::Collective),
        ),
        (
            "reduction of a line",
            "Figure 16",
            plain,
            all.iter().map(reduction).collect(),
        ),
        (
            "broadcast of 8 KiB",
            "broadcast `whole`",
            plain,
            all.iter().map(long_broadcast).collect(),
        ),
        (
            "reduction of 4 KiB, binomial",
            "reduce `whole`",
            plain,
            all.iter().map(long_reduction).collect(),
        ),
    ]
}

fn point(
    machine: &SimMachine,
    which: PaperMachine,
    counted: CountingRule,
    graph: &Graph,
) -> CurvePoint {
    let n = graph.ranks();
    let placement = which.placement(n);
    let bounds =
        |placement: &Placement, rules: &CostRules| Analysis::new(graph, placement, rules).bounds();
    let paper = match counted.refined {
        true => refined(),
        false => CostRules::default(),
    };
    let least = CostRules {
        contention: counted.contended,
        ..CostRules::least()
    };
    let cores: Vec<usize> = (0..n).collect();
    let outcome = replay(graph, machine, &cores, &RunOptions::default()).expect("it ends");
    CurvePoint {
        threads: n,
        published: bounds(&placement, &paper),
        least: bounds(&which.least_placement(n), &least).t_min,
        simulated: outcome.end(),
        most: bounds(&placement, &CostRules::default()).t_max,
    }
}

/// The curves of all algorithms on a machine.
pub fn curves(which: PaperMachine) -> Vec<AlgorithmCurve> {
    let machine = which.machine();
    let all = algorithms(which)
        .into_iter()
        .map(|(algorithm, program, counted, graphs)| AlgorithmCurve {
            algorithm,
            program,
            points: graphs
                .iter()
                .map(|graph| point(&machine, which, counted, graph))
                .collect(),
        });
    all.filter(|curve| !curve.points.is_empty()).collect()
}
