//! Random cases: a team, a program of collectives, and faults, all drawn from one seed.

use super::random::{Random, mixed};
use super::spec::Spec;
use super::state::{Blow, Tempo};
use corecast_collectives::{BarrierPlan, Plans};
use corecast_model::Collective;
use corecast_wire::WaitConfig;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The collectives that programs draw: the first ones, whose parts have one length.
pub(crate) const DRAWN: &[Collective] = Collective::ALL.split_at(11).0;

fn has_operator(what: Collective) -> bool {
    matches!(
        what.algorithms_of(),
        Collective::Reduce | Collective::Allreduce | Collective::ReduceScatter | Collective::Scan
    )
}

fn is_of_blocks(what: Collective) -> bool {
    matches!(
        what,
        Collective::Scatter
            | Collective::Gather
            | Collective::Allgather
            | Collective::Alltoall
            | Collective::ReduceScatter
    )
}

/// One operation of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) number: usize,
    pub(crate) what: Collective,
    pub(crate) root: usize,
    /// Elements of a buffer, or of a block.
    pub(crate) len: usize,
}

/// Operations that all ranks call together.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Blocking(Step),
    InFlight(Vec<Step>),
    /// So many operations have gone by since.
    LongAfter(u64),
}

/// How a rank calls another operation than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    OtherWhat(Collective),
    OtherRoot(usize),
    OtherLen(usize),
    /// It does not call it at all.
    Skip,
    /// A root outside of the team, whose panic it catches.
    BadRoot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Blow {
        process: usize,
        step: u64,
        blow: Blow,
    },
    Misuse {
        rank: usize,
        number: usize,
        how: Misuse,
    },
    /// The rank cancels instead of calling operation `number`.
    Cancel { rank: usize, number: usize },
    /// The operator panics at its `call`-th call in operation `number`.
    OperatorPanic {
        rank: usize,
        number: usize,
        call: u64,
        caught: bool,
    },
    /// The body panics before operation `number`.
    BodyPanic { rank: usize, number: usize },
    /// The rank leaves before operation `number`.
    Leaves { rank: usize, number: usize },
    /// The rank never joins.
    Absent { rank: usize },
    /// The process is refused memory from its `grant`-th mapping on.
    Refused { process: usize, grants: u64 },
}

/// A team, a program, and what goes wrong.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) replay: Replay,
    pub(crate) n: usize,
    /// The ranks of each process.
    pub(crate) shares: Vec<Vec<usize>>,
    /// Whether the ranks are threads of one process.
    pub(crate) threads: bool,
    pub(crate) spec: Spec,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) tempo: Tempo,
    /// Whether a rank that has failed stays until all have ended.
    pub(crate) stays: Vec<bool>,
    /// Whether a rank is late now and then.
    pub(crate) late: Vec<bool>,
}

/// What says which case it is: the seed, and what was left out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replay {
    pub(crate) seed: u64,
    /// The number of pieces that are left.
    pub(crate) pieces: Option<usize>,
    /// The faults that are left, by number.
    pub(crate) faults: Option<Vec<usize>>,
}

impl Replay {
    pub(crate) fn whole(seed: u64) -> Self {
        Self {
            seed,
            pieces: None,
            faults: None,
        }
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seed)?;
        if let Some(pieces) = self.pieces {
            write!(f, "/pieces={pieces}")?;
        }
        if let Some(faults) = &self.faults {
            let faults: Vec<String> = faults.iter().map(usize::to_string).collect();
            write!(f, "/faults={}", faults.join("+"))?;
        }
        Ok(())
    }
}

impl FromStr for Replay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            format!(
                "CORECAST_REPLAY={text}: {why}; give SEED, SEED/pieces=N, SEED/faults=A+B or both"
            )
        };
        let mut words = text.split('/');
        let seed = words.next().unwrap_or_default();
        let seed = seed.parse().map_err(|_| wrong("no seed"))?;
        let mut replay = Self::whole(seed);
        for word in words {
            match word.split_once('=') {
                Some(("pieces", count)) => {
                    let count = count.parse().map_err(|_| wrong("no number of pieces"))?;
                    replay.pieces = Some(count);
                }
                Some(("faults", list)) => {
                    let list = list.split('+').filter(|it| !it.is_empty());
                    let list: Result<_, _> = list.map(str::parse).collect();
                    replay.faults = Some(list.map_err(|_| wrong("no numbers of faults"))?);
                }
                _ => return Err(wrong("an unknown word")),
            }
        }
        Ok(replay)
    }
}

/// Elements of buffers: empty, within a slot, of several slots, of a queue's body, lent.
const LENGTHS: [usize; 14] = [0, 1, 1, 2, 3, 6, 7, 8, 30, 100, 500, 1100, 2500, 6000];

impl Case {
    /// Draws the case of a seed, and leaves out what `replay` leaves out.
    pub(crate) fn draw(replay: &Replay) -> Self {
        let seed = replay.seed;
        let random = Random::new(&[seed, 1]);
        let n = random.pick(&[1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6]);
        let threads = random.once_in(2);
        let processes = match threads {
            true => 1,
            false => random.between(1..n.min(4) as u64 + 1) as usize,
        };
        let shares = shares(&random, n, processes);
        let spec = spec(&random, seed, n);
        let mut number = 0;
        let mut pieces = Vec::new();
        for _ in 0..random.between(1..9) {
            let in_flight = random.once_in(2);
            let count = if in_flight { random.between(1..7) } else { 1 };
            let steps: Vec<Step> = (0..count)
                .map(|_| {
                    number += 1;
                    step(&random, n, number)
                })
                .collect();
            pieces.push(match in_flight {
                true => Piece::InFlight(steps),
                false => Piece::Blocking(steps[0]),
            });
        }
        let mut faults = Vec::new();
        if !random.once_in(4) {
            for _ in 0..random.pick(&[1, 1, 1, 1, 2, 2, 3]) {
                faults.push(fault(&random, n, processes, threads, &pieces));
            }
            // Two members that cancel, and one that fails meanwhile: their order must not matter.
            if let Some(Fault::Cancel { number, .. }) = faults.first().copied()
                && random.once_in(3)
            {
                let rank = random.index(n);
                let number = random.between(1..number as u64 + 1) as usize;
                faults.push(match random.once_in(2) {
                    true => Fault::Cancel { rank, number },
                    false => Fault::Leaves { rank, number },
                });
            }
        } else if random.once_in(3) {
            let gone = (1u64 << 31) + random.below(8) - 4;
            let gone = random.pick(&[gone, gone, 2 * gone, gone / 2]);
            let at = random.index(pieces.len() + 1);
            pieces.insert(at, Piece::LongAfter(gone));
        }
        if n > 2 && random.once_in(40) {
            (pieces, faults) = two_cancellations(&random, n);
        }
        let mut tempo_of: Option<usize> = None;
        let pairs = Random::new(&[seed, 4]);
        if n > 1 && !threads {
            match pairs.below(40) {
                0 => (pieces, faults) = one_is_longer(&pairs, n),
                1 if n > 2 && processes > 1 => {
                    let canceller = pairs.index(n);
                    (pieces, faults) = fails_while_another_cancels(&pairs, n, canceller);
                    tempo_of = shares.iter().position(|ranks| ranks.contains(&canceller));
                }
                _ => {}
            }
        }
        faults.retain(|fault| match fault {
            Fault::OperatorPanic { number, .. } => {
                find(&pieces, *number).is_some_and(|step| has_operator(step.what))
            }
            _ => true,
        });
        let tempo = Tempo {
            accesses: random.pick(&[1, 2, 4, 16, 64]),
            spurious: random.pick(&[0, 0, 100, 1000]),
            long: random.pick(&[0, 0, 0, 200, 2000]),
            slow: random
                .once_in(4)
                .then(|| (random.index(processes), random.pick(&[10, 100]))),
        };
        // A member that is slow between two accesses leaves others time to do anything there.
        let tempo = match tempo_of {
            Some(slow) => Tempo {
                accesses: 1,
                slow: Some((slow, 100)),
                ..tempo
            },
            None => tempo,
        };
        if let Some(count) = replay.pieces {
            pieces.truncate(count);
        }
        if let Some(left) = &replay.faults {
            let kept = faults.iter().enumerate();
            faults = kept
                .filter(|(index, _)| left.contains(index))
                .map(|(_, fault)| *fault)
                .collect();
        }
        Self {
            replay: replay.clone(),
            n,
            shares,
            threads,
            spec,
            pieces,
            faults,
            tempo,
            stays: (0..n).map(|_| random.once_in(2)).collect(),
            late: (0..n).map(|_| random.once_in(3)).collect(),
        }
    }

    /// The process of a rank.
    pub(crate) fn process_of(&self, rank: usize) -> usize {
        let of = self.shares.iter().position(|ranks| ranks.contains(&rank));
        of.expect("every rank has a process")
    }

    /// The number of operations in all.
    pub(crate) fn operations(&self) -> usize {
        self.pieces.iter().map(|piece| steps_of(piece).len()).sum()
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = &self.spec.options;
        writeln!(
            f,
            "{} ranks in {:?}, threads: {}",
            self.n, self.shares, self.threads
        )?;
        writeln!(
            f,
            "{:?}, {:?}, slots {:?}, depth {}, patience {:?}, {:?} threads, deterministic: {}",
            options.wait_config,
            options.backend,
            options.slots,
            options.depth,
            options.patience,
            options.parallelism,
            options.deterministic
        )?;
        writeln!(
            f,
            "{:?}, stays {:?}, late {:?}",
            self.tempo, self.stays, self.late
        )?;
        for piece in &self.pieces {
            writeln!(f, "  {piece:?}")?;
        }
        write!(f, "faults: {:?}", self.faults)
    }
}

pub(crate) fn steps_of(piece: &Piece) -> &[Step] {
    match piece {
        Piece::Blocking(step) => std::slice::from_ref(step),
        Piece::InFlight(steps) => steps,
        Piece::LongAfter(_) => &[],
    }
}

fn find(pieces: &[Piece], number: usize) -> Option<Step> {
    let mut steps = pieces.iter().flat_map(steps_of);
    steps.find(|step| step.number == number).copied()
}

fn shares(random: &Random, n: usize, processes: usize) -> Vec<Vec<usize>> {
    let mut shares = vec![Vec::new(); processes];
    let first = random.index(processes);
    for rank in 0..n {
        let by = match rank {
            rank if rank < processes => (first + rank) % processes,
            _ => random.index(processes),
        };
        shares[by].push(rank);
    }
    shares
}

fn spec(random: &Random, seed: u64, n: usize) -> Spec {
    let mut rng = fastrand::Rng::with_seed(mixed(&[seed, 2]));
    let mut spec = Spec::draw(&mut rng, n);
    let paces = [
        WaitConfig::PARK,
        WaitConfig::PARK,
        WaitConfig {
            soon_ns: 1_300,
            yield_ns: 5_000,
            ..WaitConfig::PARK
        },
        WaitConfig {
            spin_ns: 1_000,
            yield_ns: 3_000,
            ..WaitConfig::PARK
        },
        WaitConfig {
            spin_ns: 2_000,
            yield_ns: 4_000,
            ..WaitConfig::SPIN
        },
    ];
    if random.once_in(6) {
        // All meet at one line.
        let (broadcast, reduce) = (spec.plans.broadcast().clone(), spec.plans.reduce().clone());
        let plans = Plans::new(BarrierPlan::Counter(n), broadcast, reduce);
        spec.plans = plans.expect("the same number of ranks");
    }
    let options = &mut spec.options;
    options.wait_config = Some(random.pick(&paces));
    // What this machine has must not change the case.
    options.parallelism = Some(if random.once_in(2) { n } else { 1 });
    options.depth = random.pick(&[1, 2, 3, 4]);
    options.patience = random.once_in(8).then_some(Duration::from_secs(5));
    options.join_limit = Duration::from_secs(2);
    if random.once_in(3) {
        options.algorithms = Default::default();
    }
    spec
}

fn step(random: &Random, n: usize, number: usize) -> Step {
    let what = random.pick(DRAWN);
    let mut len = random.pick(&LENGTHS);
    if is_of_blocks(what) {
        len /= if random.once_in(2) { n } else { 1 };
    }
    Step {
        number,
        what,
        root: if what.has_root() { random.index(n) } else { 0 },
        len,
    }
}

/// A member goes ahead and cancels, and then one that is behind cancels too: the earlier operation counts.
fn two_cancellations(random: &Random, n: usize) -> (Vec<Piece>, Vec<Fault>) {
    let ahead = random.index(n);
    let behind = (ahead + 1 + random.index(n - 1)) % n;
    let count = random.between(2..5) as usize;
    let broadcast = |number| {
        Piece::Blocking(Step {
            number,
            what: Collective::Broadcast,
            root: ahead,
            len: random.below(6) as usize,
        })
    };
    let cancel = |rank, number| Fault::Cancel { rank, number };
    (
        (1..=count).map(broadcast).collect(),
        vec![cancel(ahead, count), cancel(behind, 1)],
    )
}

/// One member gives much more than the others do: it waits for long data, and gets short ones by another path.
fn one_is_longer(random: &Random, n: usize) -> (Vec<Piece>, Vec<Fault>) {
    let rank = random.index(n);
    let (root, len) = (rank, random.pick(&[1, 3, 30, 100]));
    let steps = |numbers: std::ops::Range<usize>| {
        let whats = [
            Collective::Reduce,
            Collective::Allreduce,
            Collective::Gather,
            Collective::Barrier,
        ];
        let step = |number| Step {
            number,
            what: random.pick(&whats[..if number == 1 { 3 } else { 4 }]),
            root,
            len,
        };
        numbers.map(step).collect::<Vec<Step>>()
    };
    let mut steps = steps(1..4);
    for step in &mut steps {
        step.root = if step.what.has_root() { root } else { 0 };
    }
    let how = Misuse::OtherLen(random.pick(&[500, 1100, 2500]));
    let fault = Fault::Misuse {
        rank,
        number: 1,
        how,
    };
    let pieces = match random.once_in(2) {
        true => vec![Piece::InFlight(steps)],
        false => steps.into_iter().map(Piece::Blocking).collect(),
    };
    (pieces, vec![fault])
}

/// A member leaves, another one finds that it cannot go on without it, and a third one cancels at the same time: the failure
/// must stay.
fn fails_while_another_cancels(
    random: &Random,
    n: usize,
    canceller: usize,
) -> (Vec<Piece>, Vec<Fault>) {
    let leaver = (canceller + 1 + random.index(n - 1)) % n;
    let others: Vec<usize> = (0..n)
        .filter(|it| ![canceller, leaver].contains(it))
        .collect();
    let root = random.pick(&others);
    let reduce = |number| {
        Piece::Blocking(Step {
            number,
            what: Collective::Reduce,
            root,
            len: 1,
        })
    };
    let leaves = Fault::Leaves {
        rank: leaver,
        number: 1,
    };
    let cancels = Fault::Cancel {
        rank: canceller,
        number: 2,
    };
    ((1..4).map(reduce).collect(), vec![leaves, cancels])
}

fn fault(random: &Random, n: usize, processes: usize, threads: bool, pieces: &[Piece]) -> Fault {
    let (rank, process) = (random.index(n), random.index(processes));
    let numbers: Vec<usize> = pieces
        .iter()
        .flat_map(steps_of)
        .map(|it| it.number)
        .collect();
    let number = random.pick(&numbers);
    let of = find(pieces, number).expect("it was just counted");
    let stop = || {
        Blow::Stop(Duration::from_nanos(
            random.below(1 << random.between(10..36)),
        ))
    };
    match random.below(12) {
        0..4 => Fault::Blow {
            process,
            step: random.spread(14),
            blow: match random.below(5) {
                0 => stop(),
                _ if threads => stop(),
                1 => Blow::Exec,
                _ => Blow::Kill,
            },
        },
        4 | 5 => {
            let other = DRAWN[random.index(DRAWN.len())];
            let how = match random.below(6) {
                0 | 1 if other != of.what => Misuse::OtherWhat(other),
                2 if n > 1 && of.what.has_root() => Misuse::OtherRoot((of.root + 1) % n),
                3 if of.what != Collective::Barrier => Misuse::OtherLen(random.pick(&LENGTHS)),
                4 if of.what.has_root() => Misuse::BadRoot,
                _ => Misuse::Skip,
            };
            Fault::Misuse { rank, number, how }
        }
        6 | 7 => Fault::Cancel { rank, number },
        8 => Fault::OperatorPanic {
            rank,
            number,
            call: random.below(of.len.max(1) as u64),
            caught: random.once_in(2),
        },
        9 => match random.below(3) {
            0 => Fault::BodyPanic { rank, number },
            1 => Fault::Leaves { rank, number },
            _ => Fault::Absent { rank },
        },
        10 if !threads => Fault::Refused {
            process,
            grants: random.between(1..24),
        },
        _ => Fault::Blow {
            process,
            step: random.spread(14),
            blow: stop(),
        },
    }
}
