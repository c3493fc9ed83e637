//! Writes what the model chooses on the paper's machines, for docs/choices.md.

use super::candidates::bounds;
use super::packages::ChosenTree;
use super::rounds::{Rounded, dissemination, graph, several_m};
use super::trees::{
    InGroups, barrier_graph, broadcast, broadcasts_in_groups, notification, reduction,
};
use crate::tables;
use corecast_collectives::barrier::{package_root_rounds, pair_wise_rounds};
use corecast_model::{CostModel, builtin};
use corecast_plan::groups::{Grouped, two_ways};
use corecast_plan::search::Effort;
use corecast_plan::{Operation, Pattern, RootChoice, Shape, plan_with};
use corecast_sim::symbolic::{
    AccessCosts, AdditionOverlap, Bounds, CostRules, Crossings, Placement, Stealing,
};
use std::ops::ControlFlow;

/// Ranks on Sandy Bridge: one for each core.
const SANDY_BRIDGE_RANKS: usize = 16;
/// Ranks on Xeon Phi: one for each core.
const XEON_PHI_RANKS: usize = 60;

/// Moves of the planner's search for each row.
const EFFORT: Effort = Effort {
    seed: 1,
    moves: 20_000,
};

/// The text of docs/choices.md: tables of all thread counts from 2 to the number of cores.
///
/// # Panics
///
/// When the kernel has no memory for stacks.
///
/// # Cost
///
/// Some seconds.
#[must_use]
pub fn report() -> String {
    let mut out = INTRODUCTION.to_owned();
    sandy_bridge_barriers(&mut out);
    xeon_phi_barriers(&mut out);
    sandy_bridge_trees(&mut out);
    xeon_phi_trees(&mut out);
    xeon_phi_groups(&mut out);
    let heading = "## Notification trees on Sandy Bridge, one package";
    notifications(&mut out, heading, "sandybridge-2x8", (2, 8));
    let heading = "## Notification trees on Xeon Phi";
    notifications(&mut out, heading, "xeonphi-knc-60x4", (4, XEON_PHI_RANKS));
    out.push_str(NOTIFICATIONS);
    out
}

const INTRODUCTION: &str = "\
# What the model chooses

The best parameters and trees by the [symbolic model](symbolic.md), on the two machines of Ramos and Hoefler,
*Cache Line Aware Algorithm Design for Cache-Coherent Architectures* (TPDS 2016, Tables 1 to 4), one thread on
each core; Sandy Bridge's second package is filled after the first. All thread counts from 2 to the number of cores,
those with equal rows in one. Nanoseconds, by T_min, then T_max; the default rules unless it says otherwise.
Written by `cargo run --release -p corecast-validation --example choices`; a test holds it.
";

const SANDY_BRIDGE_BARRIERS: &str = "
## Barriers on Sandy Bridge

Dissemination with the best m, and how many lines a thread reads in each round; then the other two variants of
§3.3.2, with the m of `barrier::best_m` in each package. One interference per operation (Equation 28).

| threads | m | reads | T_min | T_max | pair-wise T_min | T_max | package-roots T_min | T_max |
| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |
";

const SANDY_BRIDGE_BARRIERS_SAID: &str = "
In one package R_I is 2·R_R, so a round costs as much as two lines: few rounds of many lines win. In two packages
T_max is mostly congestion, in the first variant in every round. The paper finds pair-wise and roots better than
the first variant where packages differ most in size, and roots better than pair-wise where both are full
(Fig. 11b). T_min cannot tell the two apart, as Equations 30 and 31 say; T_max has pair-wise before roots, the other
way round.
";

const XEON_PHI_BARRIERS: &str = "
## Barriers on Xeon Phi

Dissemination without contention (Equation 27) and with it (Equation 29), and with an m for each round and contention
(§3.3.1). One interference per operation.

| threads | m | reads | T_min | T_max | m, contended | reads | T_min | T_max | largest of several | reads | T_min | T_max |
| ---: | ---: | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- | ---: | ---: |
";

const XEON_PHI_BARRIERS_SAID: &str = "
As in the paper: \"the use of contention tends to provide m = 2 or m = 1\" (§3.3.3), and several m gain something, but
\"contention limits its benefits\".
";

const SANDY_BRIDGE_TREES: &str = "
## Trees on Sandy Bridge

The paper's one-line broadcast (Figure 12) and reduction (Figure 16), the root in the first package, lines of its own
for each package. By Equation 7, which is the default, and by the text of §2.4 (`Crossings::Fewest`).

| threads | broadcast | T_min | T_max | reduction | T_min | T_max | broadcast by the text | T_min | reduction by the text | T_min |
| ---: | --- | ---: | ---: | --- | ---: | ---: | --- | ---: | --- | ---: |
";

const XEON_PHI_TREES: &str = "
## Trees on Xeon Phi

The same on one package.

| threads | broadcast | T_min | T_max | reduction | T_min | T_max |
| ---: | --- | ---: | ---: | --- | ---: | ---: |
";

const XEON_PHI_GROUPS: &str = "
## Broadcasts in groups on Xeon Phi

Sizes of the root's groups: the paper's algorithm with several groups and notifications back (§4.1.2); the collective
`broadcast::groups` with a line's data, by the same heuristic, and over the plan that `Pattern::Best` finds in 20,000
moves.

| threads | paper's groups | T_min | T_max | collective's groups | T_min | T_max | planner's groups | T_min | T_max |
| ---: | --- | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: |
";

const XEON_PHI_GROUPS_SAID: &str = "
By the model several groups gain nothing for the paper's algorithm: from 10 threads on the trees of single groups above
take less, since all children of a parent, of whatever group, notify back over one line, R_R each. The paper finds
\"less variability in performance than the use of simple trees\" (§4.1.2), which T_min cannot show, and T_max is mostly
not less either. Without notifications back a broadcast on all cores takes a third of the time. There the planner's groups have the
least T_min, and with many groups in a row a T_max of up to three times the heuristic's: a parent that is
robbed of its first line holds up all others.
";

const NOTIFICATIONS_HEAD: &str = "
Barriers over groups that share a line (`barrier::groups`): sizes of the root's groups in and out by the paper's
heuristic, bounds, and T_min where who comes early saves time (`AdditionOverlap::Counted`). Then what the planner's
`Pattern::Best` finds in 20,000 moves on the same costs, its own prediction, and T_min of the collective over its
plan, who comes early saving time.

| threads | in | out | T_min | T_max | overlapped | planner in | out | its latency | T_min |
| ---: | --- | --- | ---: | ---: | ---: | --- | --- | ---: | ---: |
";

const NOTIFICATIONS: &str = "
The planner's prediction is T_min of the collective in every row: two programs that share no code, one with formulas
for groups, the other with a graph of what the barrier does. Its trees are better because they are of any shape,
and because it knows that a parent takes one group while others still arrive; the paper's heuristic compares levels
as if all of one came at the same time.
";

/// The rules with the paper's refinement for disseminations: one interference per operation (Equation 28).
fn refined() -> CostRules {
    CostRules {
        inside: Stealing::OnePerOperation,
        ..CostRules::default()
    }
}

/// Adds the rows for 2 to `ranks` threads; equal rows in a row become one.
fn rows(out: &mut String, ranks: usize, row: impl Fn(usize) -> String) {
    let (mut first, mut last) = (2, row(2));
    let mut end = |first: usize, beyond: usize, row: &str| {
        let threads = match beyond - first {
            1 => first.to_string(),
            _ => format!("{first}–{}", beyond - 1),
        };
        out.push_str(&format!("| {threads} | {row} |\n"));
    };
    for n in 3..=ranks {
        let next = row(n);
        if next != last {
            end(first, n, &last);
            (first, last) = (n, next);
        }
    }
    end(first, ranks + 1, &last);
}

fn list(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    words.join(", ")
}

fn rounds(rounds: &Rounded) -> String {
    let (m, reads) = (rounds.m, list(&rounds.reads));
    let (least, most) = (rounds.bounds.t_min, rounds.bounds.t_max);
    format!("{m} | {reads} | {least:.1} | {most:.1}")
}

fn sandy_bridge_barriers(out: &mut String) {
    out.push_str(SANDY_BRIDGE_BARRIERS);
    rows(out, SANDY_BRIDGE_RANKS, |n| {
        let placement = tables::sandy_bridge(n);
        let best = rounds(&dissemination(&placement, &refined()));
        let packages = placement.packages();
        if packages.iter().all(|&package| package == 0) {
            return format!("{best} | – | – | – | –");
        }
        let variants = [pair_wise_rounds(&packages), package_root_rounds(&packages)];
        let [pairs, roots] = variants.map(|rounds| bounds(&graph(&rounds), &placement, &refined()));
        format!(
            "{best} | {:.1} | {:.1} | {:.1} | {:.1}",
            pairs.t_min, pairs.t_max, roots.t_min, roots.t_max
        )
    });
    out.push_str(SANDY_BRIDGE_BARRIERS_SAID);
}

fn xeon_phi_barriers(out: &mut String) {
    out.push_str(XEON_PHI_BARRIERS);
    let without = CostRules {
        contention: false,
        ..refined()
    };
    rows(out, XEON_PHI_RANKS, |n| {
        let placement = tables::xeon_phi(n);
        let all = [
            dissemination(&placement, &without),
            dissemination(&placement, &refined()),
            several_m(&placement, &refined()),
        ];
        all.map(|one| rounds(&one)).join(" | ")
    });
    out.push_str(XEON_PHI_BARRIERS_SAID);
}

fn shape(chosen: &ChosenTree) -> String {
    let children = chosen.tree.children(0).len();
    match chosen.depth() {
        1 => "flat".to_owned(),
        depth => format!("{children} children, {depth} levels"),
    }
}

fn with_bounds(chosen: &ChosenTree) -> String {
    let (least, most) = (chosen.bounds.t_min, chosen.bounds.t_max);
    format!("{} | {least:.1} | {most:.1}", shape(chosen))
}

fn sandy_bridge_trees(out: &mut String) {
    out.push_str(SANDY_BRIDGE_TREES);
    let fewest = CostRules {
        crossings: Crossings::Fewest,
        ..CostRules::default()
    };
    let mut flat = [0; 2];
    for n in 9..=SANDY_BRIDGE_RANKS {
        let placement = tables::sandy_bridge(n);
        for (count, rules) in flat.iter_mut().zip([CostRules::default(), fewest]) {
            *count += usize::from(broadcast(&placement, &rules).depth() == 1);
        }
    }
    rows(out, SANDY_BRIDGE_RANKS, |n| {
        let placement = tables::sandy_bridge(n);
        let default = CostRules::default();
        let both = [
            broadcast(&placement, &default),
            reduction(&placement, &default),
        ];
        let text = [
            broadcast(&placement, &fewest),
            reduction(&placement, &fewest),
        ];
        let text = text.map(|best| format!("{} | {:.1}", shape(&best), best.bounds.t_min));
        let both = both.map(|best| with_bounds(&best));
        format!("{} | {}", both.join(" | "), text.join(" | "))
    });
    let of = SANDY_BRIDGE_RANKS - 8;
    out.push_str(&format!(
        "\n\"The best dual-socket trees for Sandy Bridge are almost always flat\" (§4.1.1): of broadcasts in two packages\n\
         {} of {of} are by Equation 7, {} of {of} by the text of §2.4. So it is the text that the authors' choice follows.\n",
        flat[0], flat[1]
    ));
}

fn xeon_phi_trees(out: &mut String) {
    out.push_str(XEON_PHI_TREES);
    rows(out, XEON_PHI_RANKS, |n| {
        let (placement, rules) = (tables::xeon_phi(n), CostRules::default());
        let both = [broadcast(&placement, &rules), reduction(&placement, &rules)];
        both.map(|best| with_bounds(&best)).join(" | ")
    });
}

fn xeon_phi_groups(out: &mut String) {
    out.push_str(XEON_PHI_GROUPS);
    let (placement, rules) = (tables::xeon_phi(XEON_PHI_RANKS), CostRules::default());
    let all = [InGroups::Published, InGroups::Collective]
        .map(|algorithm| broadcasts_in_groups(algorithm, &placement, &rules));
    let cells = |plan: &Grouped, bounds: Bounds| {
        let (least, most) = (bounds.t_min, bounds.t_max);
        format!("{} | {least:.1} | {most:.1}", groups(plan))
    };
    rows(out, XEON_PHI_RANKS, |n| {
        let ours = all
            .each_ref()
            .map(|all| cells(&all[n - 1].plan, all[n - 1].bounds));
        let (costs, placement) = team("xeonphi-knc-60x4", 4, n);
        let found = best(&costs, Operation::Broadcast);
        let found = match &found {
            Shape::Groups(plan) => plan.clone(),
            Shape::Tree(tree) => Grouped::from(tree),
            _ => panic!("a search finds trees"),
        };
        let theirs = bounds(&InGroups::Collective.graph(&found), &placement, &rules);
        format!("{} | {}", ours.join(" | "), cells(&found, theirs))
    });
    out.push_str(XEON_PHI_GROUPS_SAID);
}

/// The costs for the planner and for the model of `n` threads, each on a core of its own of a machine of the
/// literature.
fn team(name: &str, threads_of_a_core: usize, n: usize) -> (CostModel, Placement) {
    let file = builtin(name).expect("a machine of the literature");
    let team: Vec<usize> = (0..n).map(|core| core * threads_of_a_core).collect();
    let costs = file.costs().subset(&team).expect("threads of the machine");
    let lines = costs.lines().expect("a machine with lines");
    let placement = Placement::new(
        AccessCosts::of_lines(lines.costs()),
        lines.places().to_vec(),
    );
    (costs, placement)
}

/// The best shape that the planner finds from rank 0.
fn best(costs: &CostModel, operation: Operation) -> Shape {
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let root = RootChoice::Rank(0);
    let found = plan_with(costs, Pattern::Best, operation, root, EFFORT, go_on);
    found.expect("a root of the team").shape
}

/// The sizes of the root's groups.
fn groups(plan: &Grouped) -> String {
    let sizes: Vec<usize> = plan.groups(0).iter().map(Vec::len).collect();
    list(&sizes)
}

fn notifications(
    out: &mut String,
    heading: &str,
    name: &str,
    (threads_of_a_core, ranks): (usize, usize),
) {
    out.push_str(&format!("\n{heading}\n{NOTIFICATIONS_HEAD}"));
    let early = CostRules {
        overlap: AdditionOverlap::Counted,
        ..CostRules::default()
    };
    rows(out, ranks, |n| {
        let (costs, placement) = team(name, threads_of_a_core, n);
        let t_min = |fan_in: &Grouped, fan_out: &Grouped| {
            bounds(&barrier_graph(fan_in, fan_out), &placement, &early).t_min
        };
        let ours = notification(&placement, &CostRules::default());
        let (fan_in, fan_out) = ways(&best(&costs, Operation::Barrier));
        let predicted = two_ways(&costs, &fan_in, &fan_out);
        format!(
            "{} | {} | {:.1} | {:.1} | {:.1} | {} | {} | {:.1} | {:.1}",
            groups(&ours.fan_in),
            groups(&ours.fan_out),
            ours.bounds.t_min,
            ours.bounds.t_max,
            t_min(&ours.fan_in, &ours.fan_out),
            groups(&fan_in),
            groups(&fan_out),
            predicted,
            t_min(&fan_in, &fan_out)
        )
    });
}

/// The fan-in and the fan-out of a barrier. Planners list groups in the order of the fan-out; over one tree the
/// fan-in takes them in reverse.
fn ways(shape: &Shape) -> (Grouped, Grouped) {
    use corecast_collectives::BarrierPlan::{Groups, Trees};
    match corecast_collectives::BarrierPlan::of_shape(shape) {
        Some(Groups { fan_in, fan_out }) => (fan_in, fan_out),
        Some(Trees { fan_in, fan_out }) => (Grouped::from(&fan_in), Grouped::from(&fan_out)),
        _ => panic!("a search finds trees"),
    }
}
