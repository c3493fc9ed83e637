//! What a plan does on each level of a machine of several hosts: between hosts, between the NUMA nodes of a host, and
//! inside of them.

use std::fmt::Write;

use corecast_model::MachineFile;
use corecast_model::words::decimals;
use corecast_plan::chain::critical_chain;
use corecast_plan::{BusyKind, Members, Plan, Tree};

/// The name of each rank's host; `None` on a machine of one host.
pub(super) fn names(file: &MachineFile, team: &Members) -> Option<Vec<String>> {
    let hosts = &file.cluster()?.hosts;
    let of = team.costs.hosts()?;
    Some(
        of.iter()
            .map(|&host| hosts[host as usize].name.clone())
            .collect(),
    )
}

/// The levels, from the outside in.
const LEVELS: [&str; 3] = ["between hosts", "between NUMA nodes", "inside NUMA nodes"];

/// The level of a message, by its place in [`LEVELS`].
fn level(team: &Members, a: usize, b: usize) -> usize {
    let other_host = team.costs.hosts().is_some_and(|hosts| hosts[a] != hosts[b]);
    match (other_host, team.costs.same_numa_node(a, b)) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    }
}

/// The most hosts whose leaders are listed.
const HOSTS_LISTED: usize = 16;

/// Says how many messages cross each level, how much of the latency that is, and who leads each host; nothing for a
/// machine of one host, or a plan that is no tree.
pub(super) fn explain(file: &MachineFile, team: &Members, plan: &Plan) -> String {
    let (Some(cluster), Some(of)) = (file.cluster(), team.costs.hosts()) else {
        return String::new();
    };
    let (Some(timeline), Some(tree)) = (plan.timeline(&team.costs), plan.tree().or(plan.outward()))
    else {
        return String::new();
    };
    let (mut messages, mut steps, mut times) = ([0; 3], [0; 3], [0.0; 3]);
    for rank in 0..tree.len() {
        if let Some(parent) = tree.parent(rank) {
            messages[level(team, rank, parent)] += 1;
        }
    }
    for moment in critical_chain(&timeline) {
        let busy = &timeline.busy[moment.rank][moment.at];
        let level = level(team, moment.rank, busy.peer);
        steps[level] += usize::from(busy.kind == BusyKind::Receive);
        times[level] += busy.end - busy.start;
    }
    let unit = team.unit();
    let mut text = String::new();
    for (at, name) in LEVELS.into_iter().enumerate() {
        let digits = decimals(plan.latency);
        let _ = writeln!(
            text,
            "{name}: {} messages, {} on the critical chain, {:.digits$} {unit} of its {:.digits$}",
            messages[at], steps[at], times[at], plan.latency
        );
    }
    for (at, host) in cluster.hosts.iter().enumerate().take(HOSTS_LISTED) {
        let members: Vec<usize> = (0..of.len())
            .filter(|&rank| of[rank] as usize == at)
            .collect();
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}", led(team, tree, (&host.name, &members), of));
    }
    if cluster.hosts.len() > HOSTS_LISTED {
        let more = cluster.hosts.len() - HOSTS_LISTED;
        let _ = writeln!(text, "and {more} hosts more");
    }
    text
}

/// Who brings data into a host, who passes them on to other hosts, and who leads its NUMA nodes.
fn led(team: &Members, tree: &Tree, (name, members): (&str, &[usize]), of: &[u32]) -> String {
    let list = |ranks: Vec<usize>| {
        let ranks: Vec<String> = ranks.iter().map(usize::to_string).collect();
        ranks.join(", ")
    };
    let enters = |&&rank: &&usize| {
        tree.parent(rank)
            .is_none_or(|parent| of[parent] != of[rank])
    };
    let leaders: Vec<usize> = members.iter().filter(enters).copied().collect();
    let crosses = |&&rank: &&usize| {
        tree.parent(rank)
            .is_none_or(|parent| !team.costs.same_numa_node(parent, rank))
    };
    let nodes: Vec<usize> = members.iter().filter(crosses).copied().collect();
    let below = members
        .iter()
        .flat_map(|&rank| tree.children(rank).iter().copied());
    let below: Vec<usize> = below.filter(|&child| of[child] != of[members[0]]).collect();
    let serves = match below.is_empty() {
        true => String::new(),
        false => format!(", serves the hosts of ranks {}", list(below)),
    };
    format!(
        "host {name}: led by rank {}{serves}; its NUMA nodes by {}",
        list(leaders),
        list(nodes)
    )
}
