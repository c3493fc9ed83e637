//! Random teams.

use crate::own_process::WATCHDOG;
use corecast_collectives::registry::SizeKind;
use corecast_collectives::{
    Algorithms, BarrierPlan, ByLength, Collective, Entry, Plans, Selection, allgather, allreduce,
    alltoall, broadcast, entry, gather, reduce, reduce_scatter, scan, scatter,
};
use corecast_plan::{Pattern, Tree};
use corecast_team::{Options, Team, TeamError};
use corecast_wire::WaitConfig;
use corecast_wire::queue::Backend;

/// The size, plans and options of a team.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) n: usize,
    pub(crate) plans: Plans,
    pub(crate) options: Options,
}

impl Spec {
    /// Draws a team of `n` ranks. A team that hangs fails after the watchdog's time, and says
    /// where.
    pub(crate) fn draw(rng: &mut fastrand::Rng, n: usize) -> Self {
        let wait_configs = [
            WaitConfig::BALANCED,
            WaitConfig::OVERSUBSCRIBED,
            WaitConfig::PARK,
        ];
        // Apart, so that what else is drawn is as it was before teams could learn.
        let learn = fastrand::Rng::with_seed(rng.get_seed() ^ 0x1ea4).u32(..4) == 0;
        let options = Options {
            learn,
            wait_config: (rng.u32(..4) == 0).then(|| wait_configs[rng.usize(..3)]),
            parallelism: (rng.u32(..4) == 0).then(|| rng.usize(1..=n)),
            backend: Backend::ALL[rng.usize(..2)],
            slots: [Some(2), Some(4), Some(16), Some(16), None, None][rng.usize(..6)],
            patience: Some(WATCHDOG),
            join_limit: WATCHDOG,
            deterministic: rng.u32(..4) == 0,
            depth: rng.usize(1..=8),
            algorithms: algorithms(rng),
            ..Options::default()
        };
        Self {
            n,
            plans: plans(rng, n),
            options,
        }
    }

    /// Makes the team with all ranks in this process.
    pub(crate) fn team(&self) -> Result<Team, TeamError> {
        Team::with_options(self.plans.clone(), &self.options)
    }

    /// Bytes of the longest message.
    pub(crate) fn message_bytes(&self) -> usize {
        corecast_wire::queue::message_bytes_max(self.options.slots_or_default())
    }
}

/// A limit between two ranges of lengths, as likely short as long.
fn limit(rng: &mut fastrand::Rng) -> usize {
    let bits = rng.u32(1..21);
    rng.usize(..1 << bits)
}

/// Draws algorithms: for a third of the operations none, for a third one for all lengths, for a
/// third by length, in up to as many ranges as possible.
fn algorithms(rng: &mut fastrand::Rng) -> Algorithms {
    let mut asked = Algorithms::default();
    macro_rules! draw {
        ($($collective:ident),*) => {$(
            let all = $collective::Algorithm::ALL.iter().copied();
            let all: Vec<_> = all.filter(|one| !is_drawn_apart(one.entry())).collect();
            let mut ranges: Vec<usize> = match rng.u32(..3) {
                0 => Vec::new(),
                1 => vec![usize::MAX],
                _ => (0..rng.usize(1..8)).map(|_| limit(rng)).collect(),
            };
            ranges.sort_unstable();
            ranges.dedup();
            let mut choice = || rng.u32(..4).gt(&0).then(|| all[rng.usize(..all.len())]);
            let mut choice = || choice().map(Selection::from);
            let ranges: Vec<_> = ranges.into_iter().map(|limit| (limit, choice())).collect();
            let rest = match ranges.is_empty() {
                true => None,
                false => choice(),
            };
            asked.$collective = ByLength::new(&ranges, rest).unwrap();
        )*};
    }
    draw!(
        broadcast,
        reduce,
        allreduce,
        scatter,
        gather,
        allgather,
        alltoall,
        reduce_scatter,
        scan
    );
    // What came later is drawn apart, so that all other cases stay what they were.
    let mut apart = fastrand::Rng::with_seed(rng.clone().u64(..));
    if apart.u32(..4) == 0 {
        asked.reduce = Some(reduce::Algorithm::Packages).into();
    }
    match apart.u32(..16) {
        0 => asked.scatter = Some(scatter::Algorithm::Fixed).into(),
        1 => asked.scatter = Some(scatter::Algorithm::Dynamic).into(),
        2 => asked.gather = Some(gather::Algorithm::Fixed).into(),
        _ => {}
    }
    // So are sizes.
    if apart.u32(..4) == 0 {
        asked = sized(&asked, &mut apart);
    }
    asked
}

/// Whether [`algorithms`] draws this one at the end.
fn is_drawn_apart(entry: &Entry) -> bool {
    let apart = [
        reduce::Algorithm::Packages.entry(),
        scatter::Algorithm::Fixed.entry(),
        scatter::Algorithm::Dynamic.entry(),
        gather::Algorithm::Fixed.entry(),
    ];
    apart.contains(&entry)
}

/// The same algorithms, with random sizes where they have some.
fn sized(asked: &Algorithms, rng: &mut fastrand::Rng) -> Algorithms {
    let mut all = *asked;
    // Segments of all parts came later.
    for later in [false, true] {
        for collective in Collective::WITH_ALGORITHMS {
            let operation = collective.name();
            let mut ranges = all.asked_ranges(operation).unwrap();
            for (_, name) in &mut ranges {
                let sizes = name.and_then(|name| entry(collective, name)?.sizes);
                let sizes =
                    sizes.filter(|sizes| matches!(sizes.kind, SizeKind::SegmentOfAll(_)) == later);
                *name = sizes.map_or(*name, |sizes| rng.choice(sizes.names).copied());
            }
            all.ask(operation, &ranges).unwrap();
        }
    }
    all
}

fn plans(rng: &mut fastrand::Rng, n: usize) -> Plans {
    let machine = match n % 2 {
        0 => format!("numa:2 core:{}", n / 2),
        _ => format!("core:{n}"),
    };
    let machine = corecast_model::synthetic(&machine).unwrap();
    let names = [
        "smelt",
        "binary",
        "fibonacci",
        "sequential",
        "mst",
        "cluster",
        "bad",
        "knomial:3",
        "chain",
        "binomial",
        "dissemination:2",
        "dissemination:3",
    ];
    if rng.u32(..3) > 0 {
        let pattern: Pattern = names[rng.usize(..names.len())].parse().unwrap();
        let root = rng.bool().then(|| rng.usize(..n));
        return Plans::of_pattern(machine.costs(), pattern, root).unwrap();
    }
    let mut tree = || tree(rng, n);
    let (fan_in, fan_out, broadcast, reduce) = (tree(), tree(), tree(), tree());
    let barrier = BarrierPlan::Trees { fan_in, fan_out };
    Plans::new(barrier, broadcast, reduce).unwrap()
}

/// A tree in which, in a random order, each rank becomes a child of a random one before it.
fn tree(rng: &mut fastrand::Rng, n: usize) -> Tree {
    let mut order: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut order);
    let mut children = vec![Vec::new(); n];
    for at in 1..n {
        children[order[rng.usize(..at)]].push(order[at]);
    }
    Tree::from_children(order[0], children).unwrap()
}
