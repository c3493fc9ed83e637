//! Races of a tuned team against every algorithm that it could use instead, apart from the tuning's own races.

use crate::candidates::{self, Asked, LeftOut, SHORT_BYTES_MAX, name, runs, with};
use crate::outcome::{Outcome, Tuned};
use crate::racer::{Contender, Form, RaceFailed, Racer, Subject};
use crate::search_space::SearchSpace;
use crate::sequential_test::{Rules, SequentialTest};
use corecast_bench::sized::Task;
use corecast_bench::stats;
use corecast_collectives::Algorithms;
use corecast_collectives::preferences::TeamOutline;
use corecast_model::Collective;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// How much slower than another algorithm a tuned choice may be, beyond the interval: 0.03 is three percent.
pub const ALLOWED: f64 = 0.03;

/// Replicates of a race, of a race of long data, and rounds of a replicate. Six replicates are the fewest of which
/// the interval of the median has its full coverage; nine are the fewest that leave one out at each end.
const HEATS: u32 = 6;
const REPLICATES_LONG: u32 = 9;
const ROUNDS: u32 = 8;

/// The tuned choice for an operation at a size, compared with all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// The operation.
    pub operation: &'static str,
    /// Bytes of a block.
    pub bytes: usize,
    /// The tuned choice.
    pub tuned: &'static str,
    /// Median time of the tuned choice in nanoseconds.
    pub tuned_ns: f64,
    /// The algorithm that the built-in choice runs there.
    pub built_in: &'static str,
    /// The other algorithms that were timed, the built-in choice included.
    pub others: Vec<Rival>,
    /// Whether there was time for all replicates.
    pub whole: bool,
    /// Algorithms that did not race, and why: they run the same program, or the team cannot run them.
    pub left_out: Vec<LeftOut>,
}

/// Another algorithm against the tuned choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// Its name.
    pub name: &'static str,
    /// How many times as long the tuned choice takes: the median over replicates of the median over rounds.
    pub ratio: f64,
    /// Interval of the median over replicates. Rounds of one replicate share teams and buffers, and the place in memory
    /// alone makes the same code differ by a fifth, so rounds do not count as samples.
    pub interval: (f64, f64),
    /// The ratio in each replicate, each of which has teams and buffers of its own.
    #[serde(rename = "by_heat")]
    pub by_replicate: Vec<f64>,
}

impl Rival {
    /// Whether the tuned choice takes longer by more than [`ALLOWED`] beyond the interval, which takes six replicates
    /// at least.
    pub fn is_faster(&self) -> bool {
        self.by_replicate.len() >= HEATS as usize && self.interval.0 > 1.0 + ALLOWED
    }
}

impl Checked {
    /// The other algorithm against which the tuned choice does worst.
    pub fn worst(&self) -> Option<&Rival> {
        let all = self.others.iter();
        all.max_by(|a, b| {
            let key = |rival: &Rival| (rival.is_faster(), rival.ratio);
            key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1))
        })
    }

    /// Whether another algorithm is [faster](Rival::is_faster).
    pub fn is_slower(&self) -> bool {
        self.others.iter().any(Rival::is_faster)
    }

    /// Whether the tuned choice is faster than the built-in one beyond the interval.
    pub fn beats_built_in(&self) -> bool {
        let built_in = self.others.iter().find(|r| r.name == candidates::BUILT_IN);
        built_in.is_some_and(|rival| rival.interval.1 < 1.0)
    }
}

/// The tuned choices of an operation, compared with the one algorithm that is best over all its sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Static {
    /// The operation.
    pub operation: &'static str,
    /// The algorithm with the least geometric mean of its times relative to the tuned choices.
    pub best: &'static str,
    /// How many times as long the tuned choice takes as the best algorithm, at each size: bytes, median, interval.
    pub by_size: Vec<(usize, f64, (f64, f64))>,
}

impl Static {
    /// The sizes at which the tuned choice is faster beyond the interval.
    pub fn faster_at(&self) -> Vec<usize> {
        let faster = self
            .by_size
            .iter()
            .filter(|(.., interval)| interval.1 < 1.0);
        faster.map(|(bytes, ..)| *bytes).collect()
    }
}

/// Races each tuned choice of `outcome`, of a team of this `search_space`, against all algorithms that the team can
/// run, within a total time of `budget`. Races take turns replicate by replicate, so a disturbance of the machine
/// does not decide a race.
///
/// # Errors
///
/// [`RaceFailed`] if a race cannot be run at all.
pub fn check(
    racer: &mut dyn Racer,
    outcome: &Outcome,
    search_space: &SearchSpace,
    sizes: &[usize],
    budget: Duration,
    progress: &mut dyn FnMut(f64, String),
) -> Result<Vec<Checked>, RaceFailed> {
    let mut base = search_space.algorithms;
    for tuned in &outcome.operations {
        if tuned.operation == Collective::Barrier {
            candidates::ask(&mut base, Collective::Barrier, tuned.algorithm(0));
        }
    }
    let setting = search_space.setting(&outcome.plans);
    let mut trials = Vec::new();
    for tuned in &outcome.operations {
        for point in &tuned.points {
            let fits = point.bytes <= racer.bytes_max(tuned.operation);
            if fits && (point.bytes == 0 || sizes.contains(&point.bytes)) {
                trials.push(Trial::new(outcome, &setting, &base, (tuned, point.bytes)));
            }
        }
    }
    let begin = racer.now();
    let all: f64 = trials.iter().map(Trial::share).sum();
    let mut done = 0.0;
    loop {
        let mut over = true;
        for trial in &mut trials {
            let spent = racer.now() - begin;
            if spent >= budget || racer.interrupted() {
                break;
            }
            let replicates = trial.test.replicates();
            // A new sequential test is in its first replicate already.
            if trial.begun && (replicates >= trial.replicates() || !trial.test.next_replicate()) {
                continue;
            }
            (over, trial.begun) = (false, true);
            let replicate = trial.share() / f64::from(trial.replicates());
            progress(
                (done / all).min(1.0),
                format!("{}: replicate {}", trial.subject, trial.test.replicates()),
            );
            let part = budget
                .saturating_sub(spent)
                .mul_f64(replicate / (all - done).max(replicate) * ROUNDS_PART);
            let limit = part.max(REPLICATE_TIME_LEAST);
            let (subject, test) = (trial.subject, &mut trial.test);
            racer.race(subject, &trial.contenders, test, limit)?;
            done += replicate;
        }
        if over {
            break;
        }
    }
    Ok(trials.iter().filter_map(Trial::checked).collect())
}

/// Part of a replicate's time that its rounds get; the rest goes to making teams and verifying them.
const ROUNDS_PART: f64 = 0.7;

/// The least time that a replicate's rounds get: less is not worth the preparation.
const REPLICATE_TIME_LEAST: Duration = Duration::from_millis(5);

/// The race of a tuned choice against the other algorithms.
struct Trial {
    operation: Collective,
    bytes: usize,
    subject: Subject,
    /// The algorithms of `contenders`, the tuned choice first.
    algorithms: Vec<Asked>,
    built_in: &'static str,
    left_out: Vec<LeftOut>,
    contenders: Vec<Contender>,
    test: SequentialTest,
    begun: bool,
}

impl Trial {
    fn new(
        outcome: &Outcome,
        setting: &TeamOutline<'_>,
        base: &Algorithms,
        (tuned, bytes): (&Tuned, usize),
    ) -> Self {
        let operation = tuned.operation;
        let chosen = tuned.algorithm(bytes);
        let (algorithms, left_out) = rivals(operation, bytes, chosen, setting, base);
        let contender = |asked: &Asked| Contender {
            name: name(*asked).to_owned(),
            form: Form {
                plans: Arc::new(outcome.plans.clone()),
                wait_config: outcome.wait_config,
                algorithms: with(base, operation, *asked),
                kernel_copies: outcome.kernel_copies,
            },
        };
        let contenders: Vec<Contender> = algorithms.iter().map(contender).collect();
        let replicates = match bytes > SHORT_BYTES_MAX {
            true => REPLICATES_LONG,
            false => HEATS,
        };
        // Only clear losers leave, since the check asks about small differences.
        let rules = Rules {
            worse: 0.2,
            alike: -1.0,
            near: -1.0,
            replicate_rounds: ROUNDS,
            replicates,
            replicates_most: replicates,
            ..Rules::default()
        };
        Self {
            operation,
            bytes,
            subject: Subject::Task(Task {
                operation,
                ranks: outcome.plans.len(),
                bytes,
            }),
            built_in: runs(setting, base, operation, bytes, None),
            algorithms,
            left_out,
            test: SequentialTest::new(contenders.len(), rules).keeping(0),
            contenders,
            begun: false,
        }
    }

    fn replicates(&self) -> u32 {
        self.test.rules().replicates
    }

    /// The race's share of the time: long data have more replicates, and rounds that take longer.
    fn share(&self) -> f64 {
        match self.bytes > SHORT_BYTES_MAX {
            true => 5.0,
            false => 1.0,
        }
    }

    /// The result; `None` where the tuned choice was not timed.
    fn checked(&self) -> Option<Checked> {
        let (tuned_ns, _) = self.test.summary(0)?;
        let rival = |at: usize| {
            let by_replicate = self.test.ratio_by_replicate(0, at);
            let interval = stats::median_interval(&by_replicate)?;
            Some(Rival {
                name: name(self.algorithms[at]),
                ratio: stats::median(&by_replicate)?,
                interval: (interval.low, interval.high),
                by_replicate,
            })
        };
        let alone = self.test.racing().len() <= 1;
        Some(Checked {
            operation: self.operation.name(),
            bytes: self.bytes,
            tuned: name(self.algorithms[0]),
            tuned_ns,
            built_in: self.built_in,
            whole: self.test.replicates() >= self.replicates() || alone,
            others: (1..self.algorithms.len()).filter_map(rival).collect(),
            left_out: self.left_out.clone(),
        })
    }
}

/// The algorithms that race, the tuned choice first, also with the next smaller and greater size, and those left out, each with the reason: the team cannot run
/// it, or one that races runs the same.
fn rivals(
    operation: Collective,
    bytes: usize,
    chosen: Asked,
    setting: &TeamOutline<'_>,
    base: &Algorithms,
) -> (Vec<Asked>, Vec<LeftOut>) {
    let runs = |asked| runs(setting, base, operation, bytes, asked);
    let mut all = vec![chosen];
    let mut left_out = Vec::new();
    let known = candidates::algorithms(operation);
    let (tuned, ranks) = (runs(chosen), setting.plans.len());
    let sizes = candidates::neighbours(operation, tuned, bytes, ranks).into_iter();
    let sizes = sizes.filter(|name| !known.contains(name));
    let known: Vec<_> = known.iter().copied().chain(sizes).map(Some).collect();
    for asked in [None].into_iter().chain(known).filter(|&one| one != chosen) {
        let cannot = asked.and_then(|name| candidates::unable(operation, name, setting.plans));
        let same = || {
            let same = |&&other: &&Asked| runs(other) == runs(asked);
            let other = all.iter().find(same)?;
            Some(match asked {
                None => format!("{} runs it", name(*other)),
                Some(algorithm) if runs(asked) == algorithm => {
                    format!("the {} choice runs it", name(*other))
                }
                Some(_) => format!("the team runs {} in its place", runs(asked)),
            })
        };
        match cannot.or_else(same) {
            Some(why) => left_out.push(LeftOut {
                algorithm: name(asked),
                predicted_ns: None,
                why,
            }),
            None => all.push(asked),
        }
    }
    (all, left_out)
}

/// For each operation the algorithm that is best over all sizes, and the tuned choices compared with it.
pub fn statics(checked: &[Checked]) -> Vec<Static> {
    let mut operations: Vec<&'static str> = checked.iter().map(|c| c.operation).collect();
    operations.dedup();
    let best = |operation: &'static str| {
        let of: Vec<&Checked> = checked
            .iter()
            .filter(|c| c.operation == operation)
            .collect();
        // Compares algorithms by what runs: the built-in choice stands for an algorithm.
        let against = |c: &Checked, name: &str| {
            let real = |name| match name {
                candidates::BUILT_IN => c.built_in,
                other => other,
            };
            if real(c.tuned) == real(name) {
                return Some((1.0, (1.0, 1.0)));
            }
            let rival = c.others.iter().find(|r| real(r.name) == real(name))?;
            Some((rival.ratio, rival.interval))
        };
        let mut names: Vec<&'static str> = of.iter().map(|c| c.tuned).collect();
        names.extend(of.iter().flat_map(|c| c.others.iter().map(|r| r.name)));
        names.sort_unstable();
        names.dedup();
        let mean = |name: &str| -> Option<f64> {
            let logs = of.iter().map(|c| Some(against(c, name)?.0.ln()));
            let logs: Vec<f64> = logs.collect::<Option<_>>()?;
            Some(logs.iter().sum::<f64>() / logs.len() as f64)
        };
        // The larger the ratio of the tuned choice, the better the other.
        let means = names
            .into_iter()
            .filter_map(|name| Some((name, mean(name)?)));
        let (best, _) = means.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let by_size = of.iter().filter_map(|c| {
            let (ratio, interval) = against(c, best)?;
            Some((c.bytes, ratio, interval))
        });
        Some(Static {
            operation,
            best,
            by_size: by_size.collect(),
        })
    };
    operations.into_iter().filter_map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(bytes: usize, tuned: &'static str, others: &[(&'static str, f64)]) -> Checked {
        let rival = |&(name, ratio): &(&'static str, f64)| Rival {
            name,
            ratio,
            interval: (ratio - 0.02, ratio + 0.02),
            by_replicate: vec![ratio; 6],
        };
        Checked {
            operation: "allreduce",
            bytes,
            tuned,
            tuned_ns: 100.0,
            built_in: "messages",
            whole: true,
            others: others.iter().map(rival).collect(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn slower_is_what_the_interval_does_not_explain() {
        assert!(!checked(8, "ring", &[("owners", 1.04)]).is_slower());
        let mut slower = checked(8, "ring", &[("owners", 1.06), ("trees", 0.5)]);
        assert!(slower.is_slower());
        // Few replicates say nothing.
        slower.others[0].by_replicate.truncate(5);
        assert!(!slower.is_slower());
        assert_eq!(
            checked(8, "ring", &[("owners", 0.9), ("trees", 1.01)])
                .worst()
                .unwrap()
                .name,
            "trees"
        );
        assert!(checked(8, "ring", &[("built-in", 0.9)]).beats_built_in());
        assert!(!checked(8, "ring", &[("built-in", 0.99)]).beats_built_in());
    }

    #[test]
    fn the_best_of_one_algorithm_for_all_sizes() {
        let all = [
            checked(8, "trees", &[("ring", 0.5), ("owners", 0.8)]),
            checked(64, "owners", &[("ring", 0.9), ("trees", 0.9)]),
            checked(512, "ring", &[("owners", 0.95), ("trees", 0.5)]),
        ];
        let found = statics(&all);
        assert_eq!((found.len(), found[0].best), (1, "owners"));
        assert_eq!(found[0].faster_at(), [8, 512]);
        // An algorithm that could not run at some size is not best over all sizes.
        let all = [
            checked(8, "trees", &[("ring", 1.5)]),
            checked(64, "trees", &[]),
        ];
        assert_eq!(statics(&all)[0].best, "trees");
    }
}
