//! Makes the team that races, and the settings of its races, from the arguments.

use anyhow::{Result, bail};
use corecast_bench::cpu_placement::allowed_pus;
use corecast_bench::peers::Selection;
use corecast_bench::sized::Task;
use corecast_model::{CostBasis, MachineFile};
use corecast_plan::{Members, Pattern};
use corecast_tune::contest::{Contest, lay};

use super::args::{BenchArgs, Pinning};
use crate::team;

/// The most ranks, each of which is a thread.
const RANKS_MAX: usize = 1024;

/// The team that the arguments describe, and how many hardware threads it uses.
///
/// # Errors
///
/// There are too many ranks or too few, or the machine has no such threads.
pub(super) fn laid(args: &BenchArgs, file: &MachineFile) -> Result<(Members, usize)> {
    let threads = team::members(&args.team, file)?;
    let ranks = args.ranks.unwrap_or(threads.len());
    if ranks > RANKS_MAX {
        bail!("--ranks {ranks}: at most {RANKS_MAX} can be raced");
    }
    if ranks < 2 {
        bail!(
            "a race needs a team of two at least, this one has {ranks} on PU {}: --ranks 2 lets two share it",
            threads[0]
        );
    }
    Ok(lay(file, &threads, ranks)?)
}

/// Races of `team`, without peers that run as processes.
///
/// # Errors
///
/// A pattern is unknown.
pub(super) fn contest<'a>(
    args: &BenchArgs,
    team: &'a Members,
    costs: CostBasis,
    pus: usize,
) -> Result<Contest<'a>> {
    let named = args.patterns.iter().map(|name| name.parse());
    let named: Vec<Pattern> = named.collect::<Result<_, _>>()?;
    let mut contest = Contest::new(team, costs);
    contest.named = named;
    contest.root = Some(Task::ROOT);
    contest.usable = pus;
    let pinning = match args.unpinned {
        true => Pinning::Unpinned,
        false => args.pinning,
    };
    contest.pinned = pinning != Pinning::Unpinned;
    contest.also_free = pinning == Pinning::Both;
    if pinning == Pinning::Unpinned {
        contest.usable = allowed_pus().len().max(1);
    }
    contest.peers = (!args.no_peers).then_some(Selection::All);
    Ok(contest)
}
