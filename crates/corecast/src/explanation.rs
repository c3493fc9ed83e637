//! What a team runs, where, and why: as text for people, as JSON, and as the line at a team's start.

use std::fmt;

use corecast_collectives::{Plans, barrier};
use corecast_machine::CpuList;
use corecast_model::Unit;
use corecast_plan::{Operation, Scope, Space, plan};
use serde::Serialize;

use crate::choose::{Candidate, Choice, DecidedBy, latency};
use crate::costs::CostSource;
use crate::pins::Pinning;
use crate::waits::Waits;

/// What a team runs, where, and why. [`Display`](fmt::Display) is for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// Version of the JSON form.
    pub schema: u32,
    /// The machine's name.
    pub machine: String,
    /// Each rank's place.
    pub ranks: Vec<RankPlace>,
    /// How members wait, and the reason.
    pub waits: Waits,
    /// Whether waking a sleeping member costs the waker a memory fence.
    pub fence: &'static str,
    /// The chosen plans; none where another process has chosen.
    pub operations: Vec<Chosen>,
    /// The source of the costs that predictions are made with.
    pub costs: CostSource,
    /// Where the races come from, or why there are none.
    pub races: String,
    /// Where algorithms by length come from, or why nothing was tuned.
    pub tuning: String,
    /// Which algorithms are asked for by length and by whom, one sentence each. Empty where another process has
    /// chosen, or where all choices are built in.
    pub algorithms: Vec<String>,
    /// Why lines are placed as they are.
    pub memory: String,
    /// Why the team pins, or does not.
    pub pinning: String,
    /// What had to be assumed, one sentence each.
    pub assumptions: Vec<String>,
}

/// The place of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankPlace {
    /// Its PU, by the operating system's number.
    pub pu: u32,
    /// The NUMA node of that PU.
    pub numa_node: u32,
    /// Whether its thread is pinned there.
    pub pinning: Pinning,
    /// The NUMA placement of its lines, in words.
    pub memory: String,
}

/// The plan of one operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chosen {
    /// The operation.
    pub operation: Operation,
    /// The plan's pattern.
    pub pattern: String,
    /// The root of its tree or trees; absent for rounds.
    pub root: Option<usize>,
    /// Whether fan-in and fan-out have different trees.
    pub two_trees: bool,
    /// The latency that the model predicts, in `unit`; absent where it predicts none.
    pub predicted: Option<f64>,
    /// The share of `predicted`, from 0 to 1, that a better schedule of `bound_space` and `bound_root` could save at
    /// most. Absent where it is unknown.
    pub gap: Option<f64>,
    /// The schedules that the gap holds for: trees of messages, and for rounds barriers of messages. Plans that share
    /// lines are none of them, also where the costs know what lines cost. Absent where the gap is.
    pub bound_space: Option<Space>,
    /// Their root; absent where it may be any.
    pub bound_root: Option<usize>,
    /// `ns` or `cycles`.
    pub unit: Unit,
    /// The source of the decision.
    pub decided_by: DecidedBy,
    /// Why, in a sentence.
    pub reason: String,
    /// The other plans, by predicted latency.
    pub runners_up: Vec<RunnerUp>,
    /// Other roots of the operation for which a copy between them and `root` is predicted to be faster than the tree
    /// re-hung there.
    pub copied_roots: Vec<usize>,
}

/// A plan that does not run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunnerUp {
    /// Its pattern.
    pub pattern: String,
    /// The latency that the model predicts.
    pub predicted: f64,
}

impl Chosen {
    pub(crate) fn of(choice: &Choice, plans: &Plans, unit: Unit) -> Self {
        let chosen = choice.chosen();
        let runner_up = |other: &Candidate| RunnerUp {
            pattern: other.pattern.to_string(),
            predicted: other.latency,
        };
        Self {
            operation: choice.operation,
            pattern: chosen.pattern.to_string(),
            root: chosen.has_root().then_some(chosen.root),
            two_trees: chosen.has_root() && chosen.tree().is_none(),
            predicted: Some(chosen.latency),
            gap: None,
            bound_space: None,
            bound_root: None,
            unit,
            decided_by: choice.decided_by,
            reason: choice.reason.clone(),
            runners_up: choice.runners_up().iter().map(runner_up).collect(),
            copied_roots: (0..plans.len())
                .filter(|&root| plans.copies(choice.operation, root))
                .collect(),
        }
    }
}

impl Chosen {
    /// Describes a counter barrier instead, which runs as `ranks` ranks share `usable` hardware threads. The
    /// plan that the model chose becomes the first runner-up.
    pub(crate) fn counted(self, ranks: usize, usable: usize) -> Self {
        let pattern = self.pattern;
        let other = self
            .predicted
            .map(|predicted| RunnerUp { pattern, predicted });
        let s = if usable == 1 { "" } else { "s" };
        Self {
            pattern: barrier::Algorithm::Counter.name().to_owned(),
            root: None,
            two_trees: false,
            predicted: None,
            gap: None,
            bound_space: None,
            bound_root: None,
            decided_by: DecidedBy::Sharing,
            reason: format!(
                "{ranks} ranks share {usable} hardware thread{s}, and take turns: whoever comes last lets all go; \
                 among plans: {}",
                self.reason
            ),
            runners_up: other.into_iter().chain(self.runners_up).collect(),
            ..self
        }
    }

    /// The predicted latency as text after `before`; an empty string if there is none.
    fn predicted(&self, before: &str) -> String {
        let latency = self
            .predicted
            .map(|predicted| latency(predicted, self.unit));
        latency.map_or(String::new(), |latency| format!("{before}{latency}"))
    }

    fn shape(&self) -> &'static str {
        if self.two_trees {
            " over two trees"
        } else {
            ""
        }
    }
}

/// The meaning of a gap as text that follows a prediction; an empty string if the gap is not known.
fn room(chosen: &Chosen) -> String {
    let (Some(gap), Some(space)) = (chosen.gap, chosen.bound_space) else {
        return String::new();
    };
    let root = chosen.bound_root;
    let others = Scope { space, root };
    format!("; {}", plan::room(gap, &others.to_string()))
}

/// Runners-up that the text for people shows.
const RUNNERS_UP_SHOWN: usize = 3;

impl Explanation {
    /// One line with the plans and their reasons.
    pub fn line(&self) -> String {
        let operation = |chosen: &Chosen| {
            let by = match chosen.decided_by {
                DecidedBy::User => "asked for",
                DecidedBy::Race => "won the race",
                DecidedBy::Model => "least by the model",
                DecidedBy::Repair => "repaired",
                DecidedBy::Sharing => "ranks share hardware threads",
            };
            let root = chosen
                .root
                .map_or(String::new(), |root| format!(" from rank {root}"));
            format!(
                "{} {}{}{root} ({by}{})",
                chosen.operation,
                chosen.pattern,
                chosen.shape(),
                chosen.predicted(", ")
            )
        };
        let operations: Vec<String> = self.operations.iter().map(operation).collect();
        let operations = match &operations[..] {
            [] => "plans chosen by another process".to_owned(),
            operations => operations.join(", "),
        };
        let costs = match &self.costs {
            CostSource::Given { .. } => "given",
            CostSource::Measured { .. } => "measured",
            CostSource::BuiltIn { .. } => "built in",
        };
        let algorithms: String = self
            .algorithms
            .iter()
            .map(|one| format!("{one}; "))
            .collect();
        format!(
            "{}; {operations}; {algorithms}costs {costs}; waits {}; {}",
            self.team(),
            self.waits.policy,
            self.pinning
        )
    }

    fn team(&self) -> String {
        let ranks = self.ranks.len();
        let pus: CpuList = self.ranks.iter().map(|rank| rank.pu).collect();
        let s = if ranks == 1 { "" } else { "s" };
        format!("team of {ranks} rank{s} on PU {pus} of {}", self.machine)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        f.write_str(text.trim_end())
    }
}

impl Explanation {
    fn write(&self, f: &mut impl fmt::Write) -> fmt::Result {
        writeln!(f, "{}", self.team())?;
        for chosen in &self.operations {
            let root = chosen.root.map_or(String::new(), |root| {
                format!(" from rank {root} (PU {})", self.ranks[root].pu)
            });
            writeln!(
                f,
                "{:9} {}{}{root}{}{}",
                chosen.operation,
                chosen.pattern,
                chosen.shape(),
                chosen.predicted(", predicted "),
                room(chosen)
            )?;
            writeln!(f, "          why: {}", chosen.reason)?;
            if let (Some(root), false) = (chosen.root, chosen.copied_roots.is_empty()) {
                let copied = chosen.copied_roots.iter().map(|&root| root as u32);
                let copied: CpuList = copied.collect();
                let way = match chosen.operation {
                    Operation::Reduce => "from",
                    _ => "to",
                };
                writeln!(
                    f,
                    "          other roots: {copied} by a copy {way} rank {root}"
                )?;
            }
            let next: Vec<String> = chosen
                .runners_up
                .iter()
                .take(RUNNERS_UP_SHOWN)
                .map(|other| {
                    let predicted = latency(other.predicted, chosen.unit);
                    format!("{} {predicted}", other.pattern)
                })
                .collect();
            if !next.is_empty() {
                writeln!(f, "          others: {}", next.join(", "))?;
            }
        }
        writeln!(f, "costs:    {}", self.costs)?;
        writeln!(f, "races:    {}", self.races)?;
        writeln!(f, "tuning:   {}", self.tuning)?;
        for sentence in &self.algorithms {
            writeln!(f, "          {sentence}")?;
        }
        writeln!(f, "waits:    {}", self.waits)?;
        writeln!(f, "          {}", self.waits.in_cpu())?;
        writeln!(f, "fence:    {}", self.fence)?;
        writeln!(f, "pinning:  {}", self.pinning)?;
        grouped(f, self.ranks.iter().map(|rank| rank.pinning.to_string()))?;
        writeln!(f, "lines:    {}", self.memory)?;
        grouped(f, self.ranks.iter().map(|rank| rank.memory.clone()))?;
        for assumption in &self.assumptions {
            writeln!(f, "assumed:  {assumption}")?;
        }
        Ok(())
    }
}

/// Writes one line for all ranks with the same sentence.
fn grouped(f: &mut impl fmt::Write, sentences: impl Iterator<Item = String>) -> fmt::Result {
    let mut groups: Vec<(String, CpuList)> = Vec::new();
    for (rank, sentence) in (0..).zip(sentences) {
        match groups.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, ranks)) => _ = ranks.insert(rank),
            None => groups.push((sentence, CpuList::from([rank]))),
        }
    }
    for (sentence, ranks) in groups {
        let s = if ranks.len() == 1 { "" } else { "s" };
        writeln!(f, "          rank{s} {ranks}: {sentence}")?;
    }
    Ok(())
}
