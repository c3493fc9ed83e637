//! A tuned team against every algorithm that it might have used instead, in races of their own.

use crate::field::{self, Asked, name};
use crate::judge::{Judge, Rules};
use crate::outcome::{Outcome, Tuned};
use crate::racer::{Contender, Form, RaceFailed, Racer, Subject, heats};
use corecast_bench::sized::{Operation, Task};
use corecast_bench::stats::{self, Interval};
use corecast_coll::Algorithms;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// How much slower than the best a tuned choice may be, beyond the interval.
pub const ALLOWED: f64 = 0.03;

/// Rounds of each race.
const ROUNDS: u32 = 30;

/// An operation at a size: the tuned choice against all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// The operation.
    pub operation: &'static str,
    /// Bytes of a block.
    pub bytes: usize,
    /// The tuned choice.
    pub tuned: &'static str,
    /// What it takes, in nanoseconds.
    pub tuned_ns: f64,
    /// Of the others, built-in choice included, how many times as long as the tuned one they take.
    pub others: Vec<Rival>,
}

/// Another algorithm against the tuned choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// Its name.
    pub name: &'static str,
    /// How many times as long the tuned choice takes, round by round.
    pub ratio: f64,
    /// Interval of that.
    pub interval: (f64, f64),
    /// The same in each heat, with teams and buffers of its own.
    pub by_heat: Vec<f64>,
}

impl Rival {
    /// Whether the tuned choice takes longer by more than [`ALLOWED`]: beyond the interval, and in each heat, as a place
    /// in memory alone makes the same code differ by more; two heats at least.
    pub fn is_faster(&self) -> bool {
        let slower = |&ratio: &f64| ratio > 1.0 + ALLOWED;
        let several = self.by_heat.len() > 1;
        several && slower(&self.interval.0) && self.by_heat.iter().all(slower)
    }
}

impl Checked {
    /// The one against which the tuned choice does worst.
    pub fn worst(&self) -> Option<&Rival> {
        let all = self.others.iter();
        all.max_by(|a, b| {
            let key = |rival: &Rival| (rival.is_faster(), rival.ratio);
            key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1))
        })
    }

    /// Whether some other is [faster](Rival::is_faster).
    pub fn is_slower(&self) -> bool {
        self.others.iter().any(Rival::is_faster)
    }

    /// Whether it is faster than the built-in choice beyond the interval.
    pub fn beats_built_in(&self) -> bool {
        let built_in = self.others.iter().find(|r| r.name == field::BUILT_IN);
        built_in.is_some_and(|rival| rival.interval.1 < 1.0)
    }
}

/// An algorithm for all sizes of an operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Static {
    /// The operation.
    pub operation: &'static str,
    /// The algorithm that does best over all sizes: with the least geometric mean of its times.
    pub best: &'static str,
    /// How many times as long the tuned choices take as that, at each size: bytes, median, interval.
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

/// Races each tuned choice of `outcome` against all that the team can run, `budget` in all.
///
/// # Errors
///
/// [`RaceFailed`].
pub fn check(
    racer: &mut dyn Racer,
    outcome: &Outcome,
    algorithms: Algorithms,
    sizes: &[usize],
    budget: Duration,
    progress: &mut dyn FnMut(f64, String),
) -> Result<Vec<Checked>, RaceFailed> {
    let begin = racer.now();
    let mut tasks = Vec::new();
    for tuned in &outcome.operations {
        for point in &tuned.points {
            let fits = point.bytes <= racer.bytes_max(tuned.operation);
            if fits && (point.bytes == 0 || sizes.contains(&point.bytes)) {
                tasks.push((tuned, point.bytes));
            }
        }
    }
    let mut base = algorithms;
    for tuned in &outcome.operations {
        if tuned.operation == Operation::Barrier {
            field::ask(&mut base, Operation::Barrier, tuned.algorithm(0));
        }
    }
    let mut all = Vec::new();
    for (done, &(tuned, bytes)) in tasks.iter().enumerate() {
        if racer.interrupted() {
            break;
        }
        progress(
            done as f64 / tasks.len() as f64,
            format!("{} of {bytes} bytes", tuned.operation),
        );
        let left = budget.saturating_sub(racer.now() - begin);
        let share = left.div_f64((tasks.len() - done) as f64).mul_f64(0.7);
        let limit = share.max(Duration::from_millis(20));
        all.extend(one(racer, outcome, base, (tuned, bytes), limit)?);
    }
    Ok(all)
}

fn one(
    racer: &mut dyn Racer,
    outcome: &Outcome,
    base: Algorithms,
    (tuned, bytes): (&Tuned, usize),
    limit: Duration,
) -> Result<Option<Checked>, RaceFailed> {
    let operation = tuned.operation;
    let chosen = tuned.algorithm(bytes);
    let able = |name: &&str| field::unable(operation, name, &outcome.plans).is_none();
    let known = field::algorithms(operation).into_iter().filter(able);
    let others = known.map(Some).chain([None]).filter(|one| *one != chosen);
    let all: Vec<Asked> = [chosen].into_iter().chain(others).collect();
    let contender = |asked: &Asked| {
        let mut algorithms = base;
        field::ask(&mut algorithms, operation, *asked);
        Contender {
            name: name(*asked).to_owned(),
            form: Form {
                plans: Arc::new(outcome.plans.clone()),
                policy: outcome.policy,
                algorithms,
            },
        }
    };
    let contenders: Vec<Contender> = all.iter().map(contender).collect();
    let subject = Subject::Task(Task {
        operation,
        ranks: outcome.plans.len(),
        bytes,
    });
    // Nobody leaves but clear losers: a little slower is what is asked about.
    let rules = Rules {
        worse: 0.2,
        alike: -1.0,
        rounds_max: ROUNDS,
        ..Rules::default()
    };
    let mut judge = Judge::new(contenders.len(), rules);
    heats(racer, subject, &contenders, &mut judge, limit)?;
    let Some((tuned_ns, _)) = judge.summary(0) else {
        return Ok(None);
    };
    let rival = |at: usize| {
        let (ratio, interval) = judge.ratio_interval(0, at)?;
        Some(Rival {
            name: name(all[at]),
            ratio,
            interval: (interval.low, interval.high),
            by_heat: judge.ratio_by_heat(0, at),
        })
    };
    Ok(Some(Checked {
        operation: operation.name(),
        bytes,
        tuned: name(chosen),
        tuned_ns,
        others: (1..all.len()).filter_map(rival).collect(),
    }))
}

/// For each operation the algorithm that is best over all sizes, and the tuned choices against it.
pub fn statics(checked: &[Checked]) -> Vec<Static> {
    let mut operations: Vec<&'static str> = checked.iter().map(|c| c.operation).collect();
    operations.dedup();
    let best = |operation: &'static str| {
        let of: Vec<&Checked> = checked
            .iter()
            .filter(|c| c.operation == operation)
            .collect();
        let against = |c: &Checked, name: &str| match c.tuned == name {
            true => Some((1.0, (1.0, 1.0))),
            false => {
                let rival = c.others.iter().find(|r| r.name == name)?;
                Some((rival.ratio, rival.interval))
            }
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

impl Judge {
    /// Median over the rounds of how many times as long `a` takes as `b`, and its interval.
    pub fn ratio_interval(&self, a: usize, b: usize) -> Option<(f64, Interval)> {
        let found = stats::paired_ratio(self.all(a), self.all(b))?;
        Some((found.median, found.interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(bytes: usize, tuned: &'static str, others: &[(&'static str, f64)]) -> Checked {
        let rival = |&(name, ratio): &(&'static str, f64)| Rival {
            name,
            ratio,
            interval: (ratio - 0.02, ratio + 0.02),
            by_heat: vec![ratio; 3],
        };
        Checked {
            operation: "allreduce",
            bytes,
            tuned,
            tuned_ns: 100.0,
            others: others.iter().map(rival).collect(),
        }
    }

    #[test]
    fn slower_is_what_the_interval_does_not_explain() {
        assert!(!checked(8, "ring", &[("owners", 1.04)]).is_slower());
        let mut slower = checked(8, "ring", &[("owners", 1.06), ("trees", 0.5)]);
        assert!(slower.is_slower());
        // One heat in which it was not.
        slower.others[0].by_heat[1] = 1.02;
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
        // An algorithm that could not run at some size is none for all.
        let all = [
            checked(8, "trees", &[("ring", 1.5)]),
            checked(64, "trees", &[]),
        ];
        assert_eq!(statics(&all)[0].best, "trees");
    }
}
