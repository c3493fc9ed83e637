//! A tuned team against every algorithm that it might have used instead, in races of their own.

use crate::field::{self, Asked, LeftOut, SHORT_BYTES_MAX, name, runs, with};
use crate::judge::{Judge, Rules};
use crate::menu::Menu;
use crate::outcome::{Outcome, Tuned};
use crate::racer::{Contender, Form, RaceFailed, Racer, Subject};
use corecast_bench::sized::{Operation, Task};
use corecast_bench::stats;
use corecast_coll::Algorithms;
use corecast_coll::algorithms::Setting;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// How much slower than the best a tuned choice may be, beyond the interval.
pub const ALLOWED: f64 = 0.03;

/// Heats of each race, and of long data, and rounds of each: the fewest heats of which the interval of the median has its
/// full coverage, and the fewest that leaves one out at each end.
const HEATS: u32 = 6;
const HEATS_LONG: u32 = 9;
const ROUNDS: u32 = 8;

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
    /// The algorithm that the built-in choice runs there.
    pub built_in: &'static str,
    /// Of the others, built-in choice included, how many times as long as the tuned one they take.
    pub others: Vec<Rival>,
    /// Whether there was time for all heats.
    pub whole: bool,
    /// Who is no rival, and why: the same program under another name, or what the team cannot run.
    pub left_out: Vec<LeftOut>,
}

/// Another algorithm against the tuned choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// Its name.
    pub name: &'static str,
    /// How many times as long the tuned choice takes: the median over heats, of each the median over its rounds.
    pub ratio: f64,
    /// Interval of that. Rounds of one heat have the same teams and buffers, and a place in memory alone makes the same
    /// code differ by a fifth, so only heats count.
    pub interval: (f64, f64),
    /// The same in each heat, with teams and buffers of its own.
    pub by_heat: Vec<f64>,
}

impl Rival {
    /// Whether the tuned choice takes longer by more than [`ALLOWED`] beyond the interval, of which six heats at least must
    /// tell.
    pub fn is_faster(&self) -> bool {
        self.by_heat.len() >= HEATS as usize && self.interval.0 > 1.0 + ALLOWED
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

/// Races each tuned choice of `outcome`, of a team of this `menu`, against all that the team can run, `budget` in all.
///
/// # Errors
///
/// [`RaceFailed`].
pub fn check(
    racer: &mut dyn Racer,
    outcome: &Outcome,
    menu: &Menu,
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
    let mut base = menu.algorithms;
    for tuned in &outcome.operations {
        if tuned.operation == Operation::Barrier {
            field::ask(&mut base, Operation::Barrier, tuned.algorithm(0));
        }
    }
    let mut all = Vec::new();
    let mut to_come: f64 = tasks.iter().map(|&(_, bytes)| share(bytes)).sum();
    for (done, &(tuned, bytes)) in tasks.iter().enumerate() {
        if racer.interrupted() {
            break;
        }
        progress(
            done as f64 / tasks.len() as f64,
            format!("{} of {bytes} bytes", tuned.operation),
        );
        let left = budget.saturating_sub(racer.now() - begin);
        let part = left.mul_f64(share(bytes) / to_come * 0.7);
        to_come -= share(bytes);
        let limit = part.max(Duration::from_millis(20));
        let setting = menu.setting(&outcome.plans);
        let time = (limit, begin + budget);
        all.extend(one(racer, outcome, &setting, base, (tuned, bytes), time)?);
    }
    Ok(all)
}

/// Of the time: long data have more heats, and rounds that take longer.
fn share(bytes: usize) -> f64 {
    match bytes > SHORT_BYTES_MAX {
        true => 5.0,
        false => 1.0,
    }
}

fn one(
    racer: &mut dyn Racer,
    outcome: &Outcome,
    setting: &Setting<'_>,
    base: Algorithms,
    (tuned, bytes): (&Tuned, usize),
    (limit, deadline): (Duration, Duration),
) -> Result<Option<Checked>, RaceFailed> {
    let operation = tuned.operation;
    let chosen = tuned.algorithm(bytes);
    let (all, left_out) = rivals(operation, bytes, chosen, setting, &base);
    let contender = |asked: &Asked| Contender {
        name: name(*asked).to_owned(),
        form: Form {
            plans: Arc::new(outcome.plans.clone()),
            policy: outcome.policy,
            algorithms: with(&base, operation, *asked),
        },
    };
    let contenders: Vec<Contender> = all.iter().map(contender).collect();
    let subject = Subject::Task(Task {
        operation,
        ranks: outcome.plans.len(),
        bytes,
    });
    let heats_planned = match bytes > SHORT_BYTES_MAX {
        true => HEATS_LONG,
        false => HEATS,
    };
    // Nobody leaves but clear losers: a little slower is what is asked about.
    let rules = Rules {
        worse: 0.2,
        alike: -1.0,
        near: -1.0,
        heat_rounds: ROUNDS,
        heats: heats_planned,
        heats_most: heats_planned,
        ..Rules::default()
    };
    let mut judge = Judge::new(contenders.len(), rules);
    let part = limit / heats_planned;
    loop {
        racer.race(subject, &contenders, &mut judge, part)?;
        let late = racer.now() > deadline || racer.interrupted();
        if late || judge.heats() >= heats_planned || !judge.next_heat() {
            break;
        }
    }
    let Some((tuned_ns, _)) = judge.summary(0) else {
        return Ok(None);
    };
    let rival = |at: usize| {
        let by_heat = judge.ratio_by_heat(0, at);
        let interval = stats::median_interval(&by_heat)?;
        Some(Rival {
            name: name(all[at]),
            ratio: stats::median(&by_heat)?,
            interval: (interval.low, interval.high),
            by_heat,
        })
    };
    Ok(Some(Checked {
        operation: operation.name(),
        bytes,
        tuned: name(chosen),
        tuned_ns,
        built_in: runs(setting, &base, operation, bytes, None),
        whole: judge.heats() >= heats_planned || judge.racing().len() <= 1,
        others: (1..all.len()).filter_map(rival).collect(),
        left_out,
    }))
}

/// The tuned choice, first, and all that run something else; and those that do not, with the reason.
fn rivals(
    operation: Operation,
    bytes: usize,
    chosen: Asked,
    setting: &Setting<'_>,
    base: &Algorithms,
) -> (Vec<Asked>, Vec<LeftOut>) {
    let runs = |asked| runs(setting, base, operation, bytes, asked);
    let mut all = vec![chosen];
    let mut left_out = Vec::new();
    let known = field::algorithms(operation).into_iter().map(Some);
    for asked in [None].into_iter().chain(known).filter(|&one| one != chosen) {
        let cannot = asked.and_then(|name| field::unable(operation, name, setting.plans));
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

/// For each operation the algorithm that is best over all sizes, and the tuned choices against it.
pub fn statics(checked: &[Checked]) -> Vec<Static> {
    let mut operations: Vec<&'static str> = checked.iter().map(|c| c.operation).collect();
    operations.dedup();
    let best = |operation: &'static str| {
        let of: Vec<&Checked> = checked
            .iter()
            .filter(|c| c.operation == operation)
            .collect();
        // By what it runs: the built-in choice is an algorithm too.
        let against = |c: &Checked, name: &str| {
            let real = |name| match name {
                field::BUILT_IN => c.built_in,
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
            by_heat: vec![ratio; 6],
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
        // Few heats say nothing.
        slower.others[0].by_heat.truncate(5);
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
