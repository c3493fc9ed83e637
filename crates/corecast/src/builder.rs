//! [`Builder`] turns a program's preferences into a team.

mod planned;
mod processes;

pub use planned::Planned;

use std::path::PathBuf;
use std::sync::Once;
use std::time::Duration;

use corecast_collectives::{Algorithms, BarrierPlan, Plans};
use corecast_machine::{CpuList, Discovery};
use corecast_model::MachineFile;
use corecast_model::profile::{Mode, Start};
use corecast_plan::{Operation, Pattern, PlanError, RootChoice, Tree};
use corecast_team::Options;
use corecast_wire::WaitConfig;
use corecast_wire::queue::Backend;

use crate::choose::{Choice, Chooser, DecidedBy, Preferences, Races};
use crate::costs::TeamCosts;
use crate::cpu_placement;
use crate::debug::{self, Level};
use crate::error::Error;
use crate::explanation::{Chosen, Explanation, RankPlace};
use crate::numa_placement::NumaPlacement;
use crate::pins::{Pinning, Pins};
use crate::rules::{self, Fit, Rules};
use crate::store::Store;
use crate::team::Team;
use crate::waiting::Waiting;
use crate::waits::{Waits, count, fence};

/// The threads that a program asks for.
#[derive(Clone, Debug)]
enum AskedThreads {
    Count(usize),
    Cores(String),
}

/// Makes a [`Team`]. The builder finds out what a program does not set: the machine, its costs, the plans. Each
/// row of the table names sources in order; the first that is there decides.
///
/// | setting | sources |
/// | --- | --- |
/// | threads | [`threads`](Self::threads) or [`cores`](Self::cores), the later call; a rank for each usable PU |
/// | costs | [`machine`](Self::machine); what `corecast probe` has stored; the literature, by class of proximity |
/// | plans | [`pattern`](Self::pattern); the winner of a stored race with exactly these threads; the least predicted latency |
/// | waits | [`wait`](Self::wait) or [`wait_config`](Self::wait_config), the later call; `CORECAST_WAIT`; a tuning of this team; by ranks, usable PUs, CPU quota and what the probe found that waiting costs |
/// | algorithms, by length | [`algorithms`](Self::algorithms); `CORECAST_ALGO`; a tuning of this team; built-in choices |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// let team = corecast::Builder::new()
///     .threads(4)
///     .pattern("binomial".parse()?)
///     .patience(Duration::from_secs(10))
///     .build()?;
/// let heard = team.run(|member| member.broadcast_value(2, member.rank()));
/// assert!(heard.into_iter().all(|rank| rank == Ok(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until build or enter"]
pub struct Builder {
    ranks: Option<AskedThreads>,
    machine: Option<MachineFile>,
    preferences: Preferences,
    pin: Option<bool>,
    cache_folder: Option<PathBuf>,
    waiting: Option<Waiting>,
    start: Start,
    options: Options,
}

impl Builder {
    /// A team of one rank for each PU that this process may use; Corecast chooses everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// The team has `ranks` ranks on the usable PUs. They fill one NUMA node after the other, and
    /// in each node every core gets one rank before any SMT sibling does. Where there are more ranks
    /// than PUs, several share a PU and are not pinned unless [`pin`](Self::pin) says otherwise.
    pub fn threads(mut self, ranks: usize) -> Self {
        self.ranks = Some(AskedThreads::Count(ranks));
        self
    }

    /// The team has one rank for each PU of a list such as `"0-3,8"`: rank r runs on the r-th.
    pub fn cores(mut self, list: impl Into<String>) -> Self {
        self.ranks = Some(AskedThreads::Cores(list.into()));
        self
    }

    /// Plans for the costs of this file instead of this machine's own. Where the file lacks the PUs of the
    /// team, rank r has the costs of the file's r-th thread. Stored races of this machine are not used.
    pub fn machine(mut self, machine: MachineFile) -> Self {
        self.machine = Some(machine);
        self
    }

    /// Runs this pattern, whatever model and races say. Operations that the pattern cannot do are chosen as if
    /// it had not been named.
    ///
    /// `best` is what the model chooses among trees without this call. `optimal` searches for up to
    /// one second of CPU time for each tree, which is enough to prove trees optimal in teams of up to
    /// about 16 ranks. In larger teams the best tree found in that time runs.
    pub fn pattern(mut self, pattern: Pattern) -> Self {
        self.preferences.pattern = Some(pattern);
        self
    }

    /// Builds all trees from this rank. Any rank can still be the root of an operation, but the root of
    /// the tree is the fastest. By default broadcasts and reductions share the rank whose sends are
    /// cheapest, since programs do both from one root. Barriers may have another root, as programs
    /// do not name one.
    pub fn root(mut self, rank: usize) -> Self {
        self.preferences.root = RootChoice::Rank(rank);
        self
    }

    /// Whether the threads of [`Team::run`] and those that call [`Team::pin_here`] are pinned. By
    /// default they are unless there are more ranks than usable PUs.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = Some(pin);
        self
    }

    /// How members wait: [`Waiting`] names the strategies.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast::{Builder, Waiting};
    ///
    /// let team = Builder::new().threads(2).wait(Waiting::Budget(20_000)).build()?;
    /// team.run(|member| member.barrier().unwrap());
    /// assert_eq!(team.explain().waits.policy, "budget");
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn wait(mut self, waiting: Waiting) -> Self {
        self.waiting = Some(waiting);
        self
    }

    /// How members wait, with a duration for each phase in nanoseconds.
    pub fn wait_config(self, wait_config: WaitConfig) -> Self {
        self.wait(Waiting::Exactly(wait_config))
    }

    /// The protocol of the queues between ranks.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.options.backend = backend;
        self
    }

    /// Slots of each queue, a power of two, at least 2. Queues for operations in flight have 16 at most.
    pub fn slots(mut self, slots: usize) -> Self {
        self.options.slots = slots;
        self
    }

    /// How long a member may sleep while it waits for another one, before the team fails with
    /// [`Failure::Stalled`](crate::Failure::Stalled). There is no limit by default.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.options.patience = Some(patience);
        self
    }

    /// How long a member may sleep for a rank that is not joined before its operation fails with
    /// [`Failure::NeverJoined`](crate::Failure::NeverJoined); 10 s by default.
    pub fn join_limit(mut self, limit: Duration) -> Self {
        self.options.join_limit = limit;
        self
    }

    /// Whether reductions give the same bits on every rank, for every plan, root, length and
    /// repetition; `false` by default. Sums of floats need it, as rounding depends on the order of reduction.
    ///
    /// # Cost
    ///
    /// Algorithms that need a commutative operator are not used.
    pub fn deterministic(mut self, deterministic: bool) -> Self {
        self.options.deterministic = deterministic;
        self
    }

    /// Operations that a member can have in flight at a time, see [`Member::overlap`]; 8 by default.
    ///
    /// [`Member::overlap`]: crate::Member::overlap
    ///
    /// # Cost
    ///
    /// Each of them has its own queues, flags and descriptors, which are made when a member first needs them.
    /// In a team of processes their memory is reserved at once.
    pub fn depth(mut self, depth: usize) -> Self {
        self.options.depth = depth;
        self
    }

    /// Uses these algorithms, by the bytes of a block, instead of those that Corecast would choose.
    /// Where an algorithm cannot run an operation, the built-in choice runs instead.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut algorithms = corecast::Algorithms::default();
    /// algorithms.ask("allreduce", &[(4096, None), (usize::MAX, Some("ring"))])?;
    /// let team = corecast::Builder::new().threads(3).algorithms(algorithms).build()?;
    /// let sums = team.run(|member| member.allreduce_value(1, |a, b| a + b));
    /// assert_eq!(sums, [Ok(3), Ok(3), Ok(3)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn algorithms(mut self, algorithms: Algorithms) -> Self {
        self.options.algorithms = algorithms;
        self
    }

    /// Uses the tuning that was raced with this start of operations; by default all ranks begin at one
    /// instant. Where only the other kind of tuning is stored, that one is used.
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Looks for measured costs and races in this folder, not in the user's cache folder.
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache_folder = Some(folder.into());
        self
    }

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
    /// About thirty small files for each PU, outside of what is timed. Planning takes 5 to 7 ms of
    /// CPU time at 128 ranks and 0.5 ms where races were won (two-core KVM guest, AMD EPYC at
    /// 2.6 GHz, November 2026, `cargo run --release -p corecast --example startup`). The same costs
    /// give the same plans, unless the machine is so slow that a guard of 9 ms of CPU time ends the
    /// search for better trees.
    pub fn build(self) -> Result<Team, Error> {
        let draft = self.draft(None)?;
        let (choices, plans) = draft.choose()?;
        let team = corecast_team::Team::with_options(plans, &draft.options)?;
        Ok(draft.finish(team, choices))
    }

    /// Finds everything but the plans. `size` is the number of ranks of a team of processes; it is `None` for
    /// threads.
    fn draft(self, size: Option<usize>) -> Result<TeamDraft, Error> {
        let here = corecast_machine::discover();
        let machine = &here.machine;
        let rank_pus = match &self.ranks {
            None => cpu_placement::of_count(machine, size.unwrap_or(machine.pus.len())),
            Some(AskedThreads::Count(ranks)) => cpu_placement::of_count(machine, *ranks),
            Some(AskedThreads::Cores(list)) => cpu_placement::of_list(list, &here)?,
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
        let store = match &self.cache_folder {
            Some(folder) => Store::at(folder),
            None => Store::standard(),
        };
        let costs = TeamCosts::find(self.machine.as_ref(), &store, &here, &rank_pus)?;
        let races = match &self.machine {
            Some(_) => Races::none("costs were given, and races do not fit them"),
            None => Races::here(&store, &here),
        };
        let pin = self.pin.unwrap_or(rank_pus.len() <= here.usable.len());
        let fit = Fit {
            threads: &rank_pus,
            pinned: pin,
            mode: match size {
                Some(_) => Mode::Processes,
                None => Mode::Threads,
            },
            start: self.start,
        };
        let rules = Rules::new(self.options.algorithms, rules::environment()?)?;
        let rules = rules.with_tuning(&races, &fit, &rules::circumstances(&here));
        let tuned = rules.tuning().and_then(|tuning| tuning.waits);
        let waits = Waits::of_team(rank_pus.len(), &here, costs.waits).tuned(tuned);
        let waits = match self.waiting {
            Some(waiting) => waits.wished(waiting, false),
            None => waits.by_environment()?,
        };
        let mut options = self.options;
        options.wait_config = Some(waits.as_wait_config());
        options.parallelism = Some(here.unthrottled_parallelism());
        options.algorithms = *rules.algorithms();
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
        })
    }
}

/// A team before its plans are chosen and its memory is allocated.
struct TeamDraft {
    here: Discovery,
    rank_pus: Vec<u32>,
    costs: TeamCosts,
    races: Races,
    rules: Rules,
    preferences: Preferences,
    pin: bool,
    why_pinned: String,
    waits: Waits,
    options: Options,
    numa_placement: NumaPlacement,
}

impl TeamDraft {
    /// Chooses the plans; returns the decisions too, for barrier, broadcast and reduce in this order.
    fn choose(&self) -> Result<(Vec<Choice>, Plans), Error> {
        let costs = self.costs.both_ways();
        let chooser =
            Chooser::new(costs, &self.rank_pus, &self.preferences, &self.races)?.guarded();
        let broadcast = chooser.choose(Operation::Broadcast)?;
        let reduce = chooser.choose(Operation::Reduce)?;
        let barrier = chooser.choose(Operation::Barrier)?;
        let plans = self.plans(&barrier, &broadcast, &reduce)?;
        Ok((vec![barrier, broadcast, reduce], plans))
    }

    /// The chosen plans, with each rank's package where ranks are pinned.
    fn plans(&self, barrier: &Choice, broadcast: &Choice, reduce: &Choice) -> Result<Plans, Error> {
        let plan = match self.counts(barrier) {
            true => BarrierPlan::Counter(self.rank_pus.len()),
            false => barrier_plan(barrier)?,
        };
        let plans = Plans::new(plan, tree_plan(broadcast)?, tree_plan(reduce)?)?;
        Ok(match self.packages() {
            Some(packages) => plans.with_packages(packages)?,
            None => plans,
        })
    }

    /// Whether the barrier is a counter in one line, whatever the model says. Where ranks share hardware
    /// threads, most of the time is spent on waiting for a turn on a PU, which the model leaves out.
    fn counts(&self, barrier: &Choice) -> bool {
        let usable = self.here.unthrottled_parallelism();
        self.rank_pus.len() > usable && barrier.decided_by == DecidedBy::Model
    }

    /// The package of each rank; threads that are not pinned have none.
    fn packages(&self) -> Option<Vec<u32>> {
        let pus = &self.here.machine.pus;
        let package = |rank_pu: &u32| Some(pus.iter().find(|pu| pu.os_index == *rank_pu)?.package);
        let rank_pus = self.rank_pus.iter().filter(|_| self.pin);
        let packages: Vec<u32> = rank_pus.map(package).collect::<Option<_>>()?;
        (packages.len() == self.rank_pus.len()).then_some(packages)
    }

    /// Makes the [`Team`] over `team` and its explanation; `choices` are empty where another process planned.
    fn finish(self, team: corecast_team::Team, choices: Vec<Choice>) -> Team {
        let here = &self.here;
        let rank = |(rank, &pu): (usize, &u32)| RankPlace {
            pu,
            numa_node: here.node_of_pu(pu).unwrap_or(0),
            pinning: Pinning::Planned,
            memory: team.placement(rank).to_string(),
        };
        let chosen = |choice: &Choice| {
            let chosen = Chosen::of(choice, self.costs.unit());
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
                false => self.rules.sentences(),
            },
            memory: self.numa_placement.reason,
            pinning: self.why_pinned,
            assumptions,
        };
        warn_of_quota(here, self.rank_pus.len());
        let team = Team {
            pins: Pins::new(self.rank_pus, self.pin),
            team,
            built,
            costs: self.costs,
            choices,
        };
        if debug::level() >= Level::Trace {
            debug::say(Level::Trace, || team.explain().to_string());
        } else {
            debug::say(Level::Info, || team.built.line());
        }
        team
    }
}

fn barrier_plan(choice: &Choice) -> Result<BarrierPlan, PlanError> {
    BarrierPlan::of_shape(&choice.chosen().shape).ok_or_else(|| unsuited(choice))
}

fn tree_plan(choice: &Choice) -> Result<Tree, PlanError> {
    let tree = choice.chosen().tree().cloned();
    tree.ok_or_else(|| unsuited(choice))
}

fn unsuited(choice: &Choice) -> PlanError {
    PlanError::Unsuited {
        pattern: choice.chosen().pattern,
        operation: choice.operation,
    }
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
