//! The result of a tuning: contenders with their times, winners, and the algorithm for each range of sizes.

use crate::candidates::{Asked, CandidateSet, LeftOut, Proposal, name};
use crate::guidelines::{Finding, Time};
use crate::sequential_test::{Ended, Left, SequentialTest};
use corecast_collectives::Plans;
use corecast_model::Collective;
use corecast_model::profile::Start;
use corecast_team::KernelCopies;
use corecast_wire::WaitConfig;
use serde::{Serialize, Serializer};

/// The result of one contender.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Raced {
    /// Its name in the race.
    pub name: String,
    /// The predicted time in nanoseconds, where the model has one.
    pub predicted_ns: Option<f64>,
    /// Median of its samples, in nanoseconds; absent where it failed.
    pub measured_ns: Option<f64>,
    /// Interval of that median.
    pub interval_ns: Option<(f64, f64)>,
    /// Rounds in which it took part.
    pub rounds: usize,
    /// How many times as long as the winner it takes: the median over rounds.
    pub ratio: Option<f64>,
    /// When and why it left the race before the end; `None` if it stayed.
    pub left: Option<String>,
}

impl Raced {
    /// Its time with the interval, where it was timed.
    pub(crate) fn time(&self) -> Option<Time> {
        let (low, high) = self.interval_ns?;
        Some(Time {
            ns: self.measured_ns?,
            low,
            high,
        })
    }
}

/// The results of all contenders of a race, in the order of `names`, which are names and predicted times. Ratios are
/// relative to `winner`.
pub(crate) fn raced(
    test: &SequentialTest,
    names: &[(String, Option<f64>)],
    winner: Option<usize>,
) -> Vec<Raced> {
    let one = |(at, (name, predicted_ns)): (usize, &(String, Option<f64>))| {
        let summary = test.summary(at);
        let left = test.left(at).map(|left| match left {
            Left::Slower { round, than } => {
                let times = test.ratio(at, *than).unwrap_or(f64::NAN);
                format!(
                    "out after round {round}: {times:.2} times as long as {}",
                    names[*than].0
                )
            }
            Left::Failed(reason) => format!("failed: {reason}"),
        });
        Raced {
            name: name.clone(),
            predicted_ns: *predicted_ns,
            measured_ns: summary.map(|(median, _)| median),
            interval_ns: summary.map(|(_, interval)| (interval.low, interval.high)),
            rounds: test.samples(at).len(),
            ratio: winner.and_then(|winner| test.ratio(at, winner)),
            left,
        }
    };
    names.iter().enumerate().map(one).collect()
}

/// A race of plans, or of ways to wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TeamRace {
    /// The kind of race: `barrier`, `broadcast tree`, `reduce tree`, `waits` or `long data between processes`.
    pub what: String,
    /// The operation that was timed.
    pub subject: String,
    /// The contenders; the first is what an untuned team has.
    pub candidates: Vec<Raced>,
    /// Index of the winner in `candidates`.
    pub winner: usize,
}

/// The race of an operation at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Bytes of a block; 0 for a barrier.
    pub bytes: usize,
    /// The contenders, the built-in choice first.
    pub candidates: Vec<Raced>,
    /// The algorithms of `candidates`, in the same order.
    pub algorithms: Vec<Asked>,
    /// Algorithms that were not raced, with reasons.
    pub left_out: Vec<LeftOut>,
    /// Index of the chosen algorithm in `candidates`.
    pub chosen: usize,
    /// Whether the race was decided; if not, it ran out of time or rounds.
    pub decided: bool,
    /// Why a guideline replaced the race's winner by the chosen algorithm; `None` if it did not.
    pub mended: Option<String>,
}

impl Point {
    /// The result of a race of `candidate_set`; `None` where no contender was timed.
    pub(crate) fn of(
        bytes: usize,
        candidate_set: &CandidateSet,
        test: &SequentialTest,
    ) -> Option<Self> {
        let chosen = test.winner()?;
        let named = |p: &Proposal| (name(p.algorithm).to_owned(), p.predicted_ns);
        let names: Vec<(String, Option<f64>)> = candidate_set.racing.iter().map(named).collect();
        Some(Self {
            bytes,
            candidates: raced(test, &names, Some(chosen)),
            algorithms: candidate_set.racing.iter().map(|p| p.algorithm).collect(),
            left_out: candidate_set.left_out.clone(),
            chosen,
            decided: test.ended() == Ended::Decided,
            mended: None,
        })
    }

    /// The chosen algorithm.
    pub fn algorithm(&self) -> Asked {
        self.algorithms[self.chosen]
    }

    /// The result of the chosen algorithm.
    pub fn winner(&self) -> &Raced {
        &self.candidates[self.chosen]
    }

    /// The result with that of a race of sizes, which began from this one's winner: its contenders are added, and its
    /// winner is chosen.
    pub(crate) fn with_sizes(&self, sizes: &Self) -> Self {
        let mut all = self.clone();
        let start = self.algorithm();
        let at = sizes.algorithms.iter().position(|&one| one == start);
        // Ratios are relative to the new winner.
        if let Some(ratio) = at.and_then(|at| sizes.candidates[at].ratio) {
            let ratios = all
                .candidates
                .iter_mut()
                .filter_map(|one| one.ratio.as_mut());
            ratios.for_each(|one| *one *= ratio);
        }
        for (&algorithm, raced) in sizes.algorithms.iter().zip(&sizes.candidates) {
            match all.algorithms.iter().position(|&one| one == algorithm) {
                Some(at) if algorithm != start => all.candidates[at] = raced.clone(),
                Some(_) => {}
                None => {
                    all.algorithms.push(algorithm);
                    all.candidates.push(raced.clone());
                }
            }
        }
        all.left_out.extend(sizes.left_out.iter().cloned());
        all.decided &= sizes.decided;
        let chosen = all
            .algorithms
            .iter()
            .position(|&one| one == sizes.algorithm());
        all.chosen = chosen.expect("all contenders are there");
        all
    }

    /// Adds the contenders of an earlier race that were not in this one.
    pub(crate) fn add_earlier(&mut self, earlier: Self) {
        for (algorithm, raced) in earlier.algorithms.into_iter().zip(earlier.candidates) {
            if !self.algorithms.contains(&algorithm) {
                self.algorithms.push(algorithm);
                self.candidates.push(raced);
            }
        }
        self.left_out.extend(earlier.left_out);
    }

    /// How many times as long as the chosen algorithm `algorithm` takes; `None` if it did not race.
    pub(crate) fn times(&self, algorithm: Asked) -> Option<f64> {
        let at = self.algorithms.iter().position(|one| *one == algorithm)?;
        let one = self.candidates[at].measured_ns?;
        Some(one / self.winner().measured_ns?)
    }
}

/// A range of lengths and its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// The longest blocks of the range, in bytes; `None` if the range has no upper end.
    pub up_to_bytes: Option<usize>,
    /// The algorithm.
    pub algorithm: Asked,
    /// The largest raced size of this range, in bytes.
    pub size_raced: usize,
}

/// The tuning of an operation at all its sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuned {
    /// The operation.
    #[serde(serialize_with = "by_name")]
    pub operation: Collective,
    /// The races, in order of size.
    pub points: Vec<Point>,
    /// The ranges of lengths with their algorithms, in order.
    pub ranges: Vec<Range>,
}

impl Tuned {
    /// The algorithm for blocks of `bytes`.
    pub fn algorithm(&self, bytes: usize) -> Asked {
        let fits = |range: &&Range| range.up_to_bytes.is_none_or(|most| bytes <= most);
        self.ranges.iter().find(fits).and_then(|r| r.algorithm)
    }
}

fn by_name<S: Serializer>(operation: &Collective, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(operation.name())
}

/// The result of a whole tuning.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether all ranks began each operation together, or operations ran back to back.
    pub start: Start,
    /// The races of plans and of ways to wait.
    pub team: Vec<TeamRace>,
    /// The plans that won.
    pub plans: Plans,
    /// The way to wait that won; `None` if it is that of untuned teams of this size.
    pub wait_config: Option<WaitConfig>,
    /// From which length on the kernel copies data between processes; `None` where that was not raced.
    pub kernel_copies: Option<KernelCopies>,
    /// The tuned operations; one whose races were interrupted is not among them.
    pub operations: Vec<Tuned>,
    /// Suspected violations of guidelines, and what became of each.
    pub findings: Vec<Finding>,
    /// Whether the tuning was interrupted.
    pub interrupted: bool,
    /// Notes for the reader of a report.
    pub notes: Vec<String>,
}

impl Outcome {
    /// What a team runs that is not tuned now: the given choices at each size, of which none was raced.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_collectives::{Algorithms, Plans};
    /// use corecast_model::Collective;
    /// use corecast_model::profile::Start;
    /// use corecast_tune::outcome::Outcome;
    ///
    /// let plans = Plans::of_tree(&corecast_plan::patterns::knomial(4, 0, 2));
    /// let asked: Algorithms = "allreduce=ring@4K..".parse()?;
    /// let runs = |operation: Collective, bytes| asked.asked(operation.name(), bytes).unwrap_or(None);
    /// let outcome = Outcome::unraced(Start::Together, plans, &[Collective::Allreduce], &[8, 8192], &runs);
    /// let allreduce = &outcome.operations[0];
    /// assert_eq!((allreduce.algorithm(8), allreduce.algorithm(8192)), (None, Some("ring")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unraced(
        start: Start,
        plans: Plans,
        operations: &[Collective],
        sizes: &[usize],
        runs: &dyn Fn(Collective, usize) -> Asked,
    ) -> Self {
        let tuned = |&operation: &Collective| {
            let sizes = match operation {
                Collective::Barrier => &[0],
                _ => sizes,
            };
            let points = sizes.iter().map(|&bytes| Point {
                bytes,
                candidates: Vec::new(),
                algorithms: vec![runs(operation, bytes)],
                left_out: Vec::new(),
                chosen: 0,
                decided: false,
                mended: None,
            });
            let points: Vec<Point> = points.collect();
            let mut ranges: Vec<Range> = Vec::new();
            for point in &points {
                let range = Range {
                    up_to_bytes: None,
                    algorithm: point.algorithm(),
                    size_raced: point.bytes,
                };
                match ranges.last_mut() {
                    Some(last) if last.algorithm == range.algorithm => *last = range,
                    Some(last) => {
                        last.up_to_bytes = Some(last.size_raced);
                        ranges.push(range);
                    }
                    None => ranges.push(range),
                }
            }
            Tuned {
                operation,
                ranges,
                points,
            }
        };
        Self {
            start,
            team: Vec::new(),
            plans,
            wait_config: None,
            kernel_copies: None,
            operations: operations.iter().map(tuned).collect(),
            findings: Vec::new(),
            interrupted: false,
            notes: Vec::new(),
        }
    }
}
