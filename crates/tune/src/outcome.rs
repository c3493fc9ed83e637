//! What was tuned: who raced, who won, and what holds for which sizes.

use crate::candidates::{Asked, CandidateSet, LeftOut, Proposal, name};
use crate::guidelines::Finding;
use crate::racer::Synchrony;
use crate::sequential_test::{Ended, Left, SequentialTest};
use corecast_bench::sized::Operation;
use corecast_collectives::Plans;
use corecast_wire::WaitConfig;
use serde::{Serialize, Serializer};

/// How one contender fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Raced {
    /// Its name in the race.
    pub name: String,
    /// What the model says, in nanoseconds.
    pub predicted_ns: Option<f64>,
    /// Median of its samples, in nanoseconds; absent where it failed.
    pub measured_ns: Option<f64>,
    /// Interval of that median.
    pub interval_ns: Option<(f64, f64)>,
    /// Rounds in which it took part.
    pub rounds: usize,
    /// How many times as long as the winner, round by round.
    pub ratio: Option<f64>,
    /// When and why it left the race before its end.
    pub left: Option<String>,
}

/// All contenders of a race by their names, in the order given; `winner` is what the others are related to.
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
    /// What was chosen among: `barrier plan`, `waits`, …
    pub what: String,
    /// What was raced.
    pub subject: String,
    /// All that ran; what a team would have unasked first.
    pub candidates: Vec<Raced>,
    /// Place of the winner among them.
    pub winner: usize,
}

/// An operation at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Bytes of a block; 0 for a barrier.
    pub bytes: usize,
    /// All that ran; the built-in choice first.
    pub candidates: Vec<Raced>,
    /// Their algorithms.
    pub algorithms: Vec<Asked>,
    /// Algorithms that were not raced, with reasons.
    pub left_out: Vec<LeftOut>,
    /// Place of the chosen one among the candidates.
    pub chosen: usize,
    /// Whether the race was decided, or out of time or rounds.
    pub decided: bool,
    /// Where a guideline put the chosen one in the place of another.
    pub mended: Option<String>,
}

impl Point {
    /// What a race of `candidate_set` came to; `None` where nobody was timed.
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

    /// How the chosen one fared.
    pub fn winner(&self) -> &Raced {
        &self.candidates[self.chosen]
    }

    /// How many times as long as the chosen one `algorithm` takes, if it raced.
    pub(crate) fn times(&self, algorithm: Asked) -> Option<f64> {
        let at = self.algorithms.iter().position(|one| *one == algorithm)?;
        let one = self.candidates[at].measured_ns?;
        Some(one / self.winner().measured_ns?)
    }
}

/// An algorithm for all lengths up to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Up to and including so many bytes of a block; `None`: all longer ones.
    pub up_to_bytes: Option<usize>,
    /// The algorithm.
    pub algorithm: Asked,
    /// The size at which it was raced that stands for this range.
    pub size_raced: usize,
}

/// An operation at all its sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuned {
    /// The operation.
    #[serde(serialize_with = "by_name")]
    pub operation: Operation,
    /// By size.
    pub points: Vec<Point>,
    /// What holds for which lengths.
    pub ranges: Vec<Range>,
}

impl Tuned {
    /// The algorithm for blocks of `bytes`.
    pub fn algorithm(&self, bytes: usize) -> Asked {
        let fits = |range: &&Range| range.up_to_bytes.is_none_or(|most| bytes <= most);
        self.ranges.iter().find(fits).and_then(|r| r.algorithm)
    }
}

fn by_name<S: Serializer>(operation: &Operation, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(operation.name())
}

/// A whole tuning.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How operations were kept apart.
    pub synchrony: Synchrony,
    /// Plans and waits.
    pub team: Vec<TeamRace>,
    /// The plans that won.
    pub plans: Plans,
    /// The waits that won against those of teams of this size; `None`: these.
    pub wait_config: Option<WaitConfig>,
    /// Operations of which all sizes were raced.
    pub operations: Vec<Tuned>,
    /// What the guidelines found.
    pub findings: Vec<Finding>,
    /// Whether somebody ended it before its end.
    pub interrupted: bool,
    /// What the reader should know.
    pub notes: Vec<String>,
}
