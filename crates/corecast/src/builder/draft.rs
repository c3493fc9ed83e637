//! Makes the team: finds what the program did not set, chooses the plans, and allocates the memory.
//!
//! ```text
//! Builder ── draft ──► TeamDraft ── choose ──► plans ──► corecast_team::Team ── finish ──► Team
//! ```

use std::sync::Once;
use std::time::Instant;

use corecast_collectives::Plans;
use corecast_machine::{CpuList, Discovery};
use corecast_model::profile::Mode;
use corecast_plan::Operation;
use corecast_team::Options;
use corecast_wire::Segment;

use super::{AskedThreads, Builder};
use crate::choose::{Choice, Preferences, Races};
use crate::costs::TeamCosts;
use crate::cpu_placement;
use crate::debug::{self, Level};
use crate::error::Error;
use crate::explanation::{Chosen, Explanation, RankPlace};
use crate::learning;
use crate::numa_placement::NumaPlacement;
use crate::pins::{Pinning, Pins};
use crate::record;
use crate::recorded_teams;
use crate::rules::{self, Fit, Rules};
use crate::store::Store;
use crate::team::Team;
use crate::waits::{Waits, count, fence};

impl Builder {
    /// Discovers the machine, chooses the plans, and makes the team.
    ///
    /// With `CORECAST_DEBUG=INFO` one line on standard error names the plans and the reasons, with
    /// `TRACE` it is the whole [`Explanation`]. At `WARN`, the default, refused pinnings and a team larger than
    /// the CPU quota are reported once; `OFF` is silent.
    ///
    /// # Errors
    ///
    /// [`Error`]. Stored measurements that cannot be used are no error: [`Team::explain`] names them.
    ///
    /// # Cost
    ///
    /// The first team of a program reads about thirty small files for each PU, or one where `corecast` has kept them, outside
    /// of what is timed. Planning takes 5 to 7 ms of
    /// CPU time at 128 ranks and 0.5 ms where races were won (two-core KVM guest, AMD EPYC at
    /// 2.6 GHz, November 2026, `cargo run --release -p corecast --example startup`). The same costs
    /// give the same plans, unless the machine is so slow that a guard of 9 ms of CPU time ends the
    /// search for better trees.
    pub fn build(self) -> Result<Team, Error> {
        let draft = self.draft(None)?;
        let (choices, plans) = draft.choose(None)?;
        let team = corecast_team::Team::with_options(plans.clone(), &draft.options)?;
        Ok(draft.finish(team, choices, plans))
    }

    /// Finds everything but the plans. `size` is the number of ranks of a team of processes; it is `None` for
    /// threads.
    pub(super) fn draft(self, size: Option<usize>) -> Result<TeamDraft, Error> {
        let counted = match &self.ranks {
            None => size,
            Some(AskedThreads::Count(ranks)) => Some(*ranks),
            Some(AskedThreads::Exactly(rank_pus)) => Some(rank_pus.len()),
            Some(AskedThreads::Cores(_)) => None,
        };
        if let Some(ranks) = counted {
            // Whatever is made below is as long as there are ranks, or as the square of that.
            self.options.check(ranks)?;
            check_room(ranks)?;
        }
        let store = match &self.cache_folder {
            Some(folder) => Store::at(folder),
            None => Store::standard(),
        };
        store.recall_kernel_texts();
        let here = match &self.mask {
            None => corecast_machine::discover(),
            Some(mask) => corecast_machine::discover_within(mask.clone()),
        };
        let machine = &here.machine;
        let rank_pus = match &self.ranks {
            None => cpu_placement::of_count(machine, size.unwrap_or(machine.pus.len())),
            Some(AskedThreads::Count(ranks)) => cpu_placement::of_count(machine, *ranks),
            Some(AskedThreads::Cores(list)) => cpu_placement::of_list(list, &here)?,
            Some(AskedThreads::Exactly(rank_pus)) => rank_pus.clone(),
        };
        if let Some(size) = size
            && rank_pus.len() != size
        {
            let asked = rank_pus.len();
            return Err(Error::Size { asked, size });
        }
        if rank_pus.is_empty() {
            return Err(Error::NoRanks);
        }
        let costs = TeamCosts::find(self.machine.as_ref(), &store, &here, &rank_pus)?;
        let races = match &self.machine {
            Some(_) => Races::none("costs were given, and races do not fit them"),
            None => Races::decided(&store, &here),
        };
        let pin = self.pin.unwrap_or(rank_pus.len() <= here.usable.len());
        let learn = match self.learn {
            Some(learn) => learn,
            None => learning::of_environment()?,
        };
        let fit = Fit {
            threads: &rank_pus,
            pinned: pin,
            mode: match size {
                Some(_) => Mode::Processes,
                None => Mode::Threads,
            },
            start: self.start,
            // What a team learns by itself is better than what another one has found.
            similar: !learn,
        };
        let rules = Rules::new(self.options.algorithms, rules::environment()?)?;
        let rules = rules.with_half_bytes(costs.half_bytes);
        let rules = rules.with_tuning(&races, &fit, &rules::circumstances(&here));
        let tuned = rules.tuning().and_then(|tuning| tuning.waits);
        let waits = Waits::of_team(rank_pus.len(), &here, costs.waits).tuned(tuned);
        let waits = match self.waiting {
            Some(waiting) => waits.wished(waiting, false),
            None => waits.by_environment()?,
        };
        let mut options = self.options.clone();
        options.wait_config = Some(waits.as_wait_config());
        options.parallelism = Some(here.unthrottled_parallelism());
        options.algorithms = *rules.algorithms();
        options.kernel_copies = rules.kernel_copies();
        options.learn = learn;
        options.record = self.record.unwrap_or_else(|| record::folder().is_some());
        let numa_placement = NumaPlacement::of(&here, &rank_pus, pin);
        options.numa_nodes = numa_placement.nodes.clone();
        Ok(TeamDraft {
            why_pinned: why_pinned(self.pin, pin, rank_pus.len(), &here.usable),
            preferences: self.preferences,
            here,
            rank_pus,
            costs,
            races,
            rules,
            pin,
            waits,
            options,
            numa_placement,
            builder: self,
        })
    }
}

/// A team before its plans are chosen and its memory is allocated.
pub(super) struct TeamDraft {
    pub(super) here: Discovery,
    pub(super) rank_pus: Vec<u32>,
    pub(super) costs: TeamCosts,
    pub(super) races: Races,
    rules: Rules,
    pub(super) preferences: Preferences,
    pub(super) pin: bool,
    why_pinned: String,
    pub(super) waits: Waits,
    pub(super) options: Options,
    numa_placement: NumaPlacement,
    /// What was asked for.
    builder: Builder,
}

impl TeamDraft {
    /// Makes the [`Team`] over `team` and its explanation; `choices` are empty where another process planned.
    pub(super) fn finish(
        self,
        team: corecast_team::Team,
        choices: Vec<Choice>,
        plans: Plans,
    ) -> Team {
        let here = &self.here;
        let rank = |(rank, &pu): (usize, &u32)| RankPlace {
            pu,
            numa_node: here.node_of_pu(pu).unwrap_or(0),
            pinning: Pinning::Planned,
            memory: team.placement(rank).to_string(),
        };
        let chosen = |choice: &Choice| {
            let chosen = Chosen::of(choice, &plans, self.costs.unit());
            match choice.operation == Operation::Barrier && self.counts(choice) {
                true => chosen.counted(self.rank_pus.len(), here.unthrottled_parallelism()),
                false => chosen,
            }
        };
        let operations = choices.iter().map(chosen).collect();
        let mut assumptions = [&self.costs.assumptions[..], &here.machine.assumptions].concat();
        if choices.is_empty() {
            assumptions.push(
                "the process that came first, or a launcher, has chosen the plans and the algorithms: \
                 only it can explain them"
                    .to_owned(),
            );
        }
        let built = Explanation {
            schema: 1,
            machine: here.machine.name.clone(),
            ranks: self.rank_pus.iter().enumerate().map(rank).collect(),
            waits: self.waits,
            fence: fence(),
            operations,
            costs: self.costs.source.clone(),
            races: self.races.source().to_owned(),
            tuning: self.rules.source().to_owned(),
            algorithms: match choices.is_empty() {
                true => Vec::new(),
                false => {
                    let learns = learning::sentence(self.builder.learn, &self.options);
                    let (ranks, asked) = (self.rank_pus.len(), &self.options.algorithms);
                    let sharing = self.options.sharing(ranks);
                    let rounds = rules::rounds(asked, ranks, sharing);
                    let copies = team.ranks().len() < ranks;
                    let segments = rules::segments(asked, ranks, sharing, copies);
                    let said = self.rules.sentences().into_iter().chain(learns);
                    said.chain(rounds).chain(segments).collect()
                }
            },
            memory: self.numa_placement.reason,
            pinning: self.why_pinned,
            assumptions,
        };
        warn_of_quota(here, self.rank_pus.len());
        if let Some(recording) = team.recording() {
            recorded_teams::write_at_end(recording, team.ranks().len());
        }
        let team = Team {
            made: Instant::now(),
            pins: Pins::new(self.rank_pus, self.pin),
            team,
            built,
            costs: self.costs,
            choices,
            plans,
            builder: self.builder,
        };
        if debug::level() >= Level::Trace {
            debug::say(Level::Trace, || team.explain().to_string());
        } else {
            debug::say(Level::Info, || team.built.line());
        }
        team
    }
}

/// Bytes for each pair of ranks while the plans are chosen: four costs, and those of the candidates. Between 500 and
/// 3000 ranks it was 130 to 210 (2-core KVM guest, November 2026).
const PAIR_BYTES: usize = 192;

/// Checks that there is memory to plan for so many ranks.
fn check_room(ranks: usize) -> Result<(), Error> {
    let pairs = ranks.saturating_mul(ranks);
    Segment::check_room(pairs.saturating_mul(PAIR_BYTES))
        .map_err(|source| Error::Room { ranks, source })
}

fn why_pinned(asked: Option<bool>, pin: bool, ranks: usize, usable: &CpuList) -> String {
    match (asked, pin) {
        (Some(true), _) => "pinned: asked for".to_owned(),
        (Some(false), _) => "not pinned: asked for".to_owned(),
        (None, true) => "pinned: a PU for each rank".to_owned(),
        (None, false) => format!(
            "not pinned: {} share {}",
            count(ranks, "rank"),
            count(usable.len(), "PU")
        ),
    }
}

fn warn_of_quota(here: &Discovery, ranks: usize) {
    static SAID: Once = Once::new();
    if let Some(quota) = &here.quota
        && quota.cpus < ranks as f64
    {
        debug::warn(&SAID, || {
            format!(
                "a team of {ranks} is larger than the CPU quota of {}: the kernel stops all threads \
                 when it is used up; choose a smaller team, or raise {}",
                quota.cpus, quota.source
            )
        });
    }
}
