//! Makes the teams that race, and the settings of their races, from the arguments.

use anyhow::{Result, bail};
use corecast_bench::cpu_placement::allowed_pus;
use corecast_bench::peers::Selection;
use corecast_bench::sized::Task;
use corecast_model::CostBasis;
use corecast_plan::{Members, Pattern};
use corecast_tune::contest::{Contest, lay};

use super::args::{BenchArgs, Pinning};
use super::own::{Own, Places};
use crate::source::Source;
use crate::team;

/// The most ranks, each of which is a thread.
const RANKS_MAX: usize = 1024;

/// The teams that race, and where.
pub(super) struct Laid {
    /// Corecast's own teams.
    pub(super) own: Own,
    /// The ranks by their hardware threads.
    pub(super) team: Members,
    /// How many hardware threads they use.
    pus: usize,
}

/// The teams that the arguments describe.
///
/// # Errors
///
/// There are too many ranks or too few, the machine has no such threads, a pattern is unknown, or what the environment
/// asks for cannot be read.
pub(super) fn laid(args: &BenchArgs, source: &Source) -> Result<Laid> {
    let file = &source.file;
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
    let named = args.team.threads.is_some() || args.team.subset.is_some();
    // Where only a part of the machine has costs, the teams are on that part.
    let part = file.threads().len() < file.machine().pus.len();
    let pin = match args.pinning() {
        Some(Pinning::Pinned | Pinning::Both) => Some(true),
        Some(Pinning::Unpinned) => Some(false),
        // Nothing else keeps ranks that share them on the threads that were named.
        None => (named && ranks > threads.len()).then_some(true),
    };
    let places = Places {
        list: (named || part).then_some(threads),
        ranks,
    };
    let both = args.pinning() == Some(Pinning::Both);
    let own = Own::new(
        args.algorithms(),
        &places,
        (pin, both),
        &patterns(args)?,
        source,
    )?;
    let mut pus: Vec<u32> = Vec::new();
    for &pu in &own.first().planned.rank_pus {
        if !pus.contains(&pu) {
            pus.push(pu);
        }
    }
    let (team, pus) = lay(file, &pus, ranks)?;
    Ok(Laid { own, team, pus })
}

fn patterns(args: &BenchArgs) -> Result<Vec<Pattern>> {
    let named = args.patterns.iter().map(|name| name.parse());
    Ok(named.collect::<Result<_, _>>()?)
}

impl Laid {
    /// Races of these teams.
    ///
    /// # Errors
    ///
    /// A pattern is unknown.
    pub(super) fn contest(&self, args: &BenchArgs, costs: CostBasis) -> Result<Contest<'_>> {
        let mut contest = Contest::new(&self.team, costs);
        contest.named = patterns(args)?;
        contest.root = Some(Task::ROOT);
        contest.pinned = self.own.first().planned.pinned;
        contest.usable = match contest.pinned {
            true => self.pus,
            false => allowed_pus().len().max(1),
        };
        contest.peers = (!args.no_peers).then_some(Selection::All);
        Ok(contest)
    }
}
