//! What must hold after a case: right results, failures with a cause, and an end for everybody.

use super::case::{Case, Fault, Misuse};
use super::play::{Log, Outcome};
use super::state::{Blow, Stuck};
use corecast_team::{Failure, Loss};
use std::collections::BTreeMap;

/// All that was seen of a case.
pub(crate) struct Seen {
    pub(crate) logs: Vec<Log>,
    /// Why a process could not enter.
    pub(crate) entered: Vec<Result<(), String>>,
    pub(crate) struck: Vec<Vec<Blow>>,
    pub(crate) refused: Vec<bool>,
    pub(crate) ran: Result<(), Stuck>,
    pub(crate) rescued: u64,
    pub(crate) steps: u64,
    /// Scheduling points since the last fault was over, if it was.
    pub(crate) calm: Option<u64>,
}

/// The causes that were at work.
struct Causes<'a> {
    case: &'a Case,
    seen: &'a Seen,
    own: Vec<Fault>,
}

impl Causes<'_> {
    fn any(&self, is: impl Fn(&Fault) -> bool) -> bool {
        self.own.iter().any(is)
    }

    fn blows(&self, rank: usize) -> &[Blow] {
        &self.seen.struck[self.case.process_of(rank)]
    }

    fn is_dead(&self, rank: usize) -> bool {
        let blows = self.blows(rank);
        blows.contains(&Blow::Kill) || blows.contains(&Blow::Exec)
    }

    fn any_dead(&self) -> bool {
        (0..self.case.n).any(|rank| self.is_dead(rank))
    }

    fn any_stopped(&self) -> bool {
        let stops = |blow: &Blow| matches!(blow, Blow::Stop(_));
        self.seen.struck.iter().flatten().any(stops)
    }

    fn any_refused(&self) -> bool {
        self.seen.refused.contains(&true)
    }

    /// A member that calls other operations than the rest, by mistake or because it has caught a panic amid one.
    fn any_misuse(&self) -> bool {
        self.any(|fault| match fault {
            Fault::Misuse { how, .. } => *how != Misuse::BadRoot,
            Fault::OperatorPanic { .. } => true,
            _ => false,
        })
    }

    /// Whether a rank had reason to leave before the end.
    fn may_leave(&self, who: usize) -> bool {
        self.any(|fault| match fault {
            Fault::Leaves { rank, .. } | Fault::Absent { rank } => *rank == who,
            Fault::Misuse { rank, how, .. } => *rank == who && *how != Misuse::BadRoot,
            Fault::OperatorPanic { rank, .. } => *rank == who,
            _ => false,
        }) || self.seen.refused[self.case.process_of(who)]
            || self.seen.logs[who].refused.is_some()
    }

    fn may_panic(&self, who: usize) -> bool {
        self.any(|fault| match fault {
            Fault::BodyPanic { rank, .. } | Fault::OperatorPanic { rank, .. } => *rank == who,
            _ => false,
        })
    }

    /// Whether a rank was told that its operation was cancelled, after which it may leave.
    fn was_cancelled(&self, who: usize) -> bool {
        let told = |(_, outcome): &(usize, Outcome)| {
            matches!(outcome, Outcome::Failed(Failure::Cancelled { .. }))
        };
        let log = self.seen.logs.get(who);
        log.is_some_and(|log| log.outcomes.iter().any(told))
    }

    fn has_panicked(&self, who: usize) -> bool {
        self.seen.logs[who].panicked.is_some()
    }

    /// Why nothing explains a failure, if so.
    fn unexplained(&self, number: usize, failure: &Failure) -> Option<&'static str> {
        let explained = match failure {
            Failure::Mismatch { .. } | Failure::Length { .. } => self.any_misuse(),
            // A record whose writer has died while it wrote, or takes too long.
            Failure::Corrupt { .. } => {
                self.any_dead() || self.any_stopped() || self.case.tempo.slow.is_some()
            }
            Failure::PeerLost { remote, how, .. } => match how {
                Loss::Died => self.is_dead(remote.rank),
                Loss::Panicked => self.may_panic(remote.rank),
                Loss::Left => {
                    let ended = self.seen.logs.get(remote.rank).is_some_and(|log| log.ended);
                    self.may_leave(remote.rank)
                        // Only a member that has caught its panic leaves like others.
                        || (self.may_panic(remote.rank) && !self.has_panicked(remote.rank))
                        // Whoever waits after the end of the program, or of what was cancelled, has called another operation.
                        || ((ended || self.was_cancelled(remote.rank)) && self.any_misuse())
                }
            },
            Failure::Cancelled { .. } => self.any(|fault| match fault {
                // A member that has called more or fewer operations than the rest counts them otherwise.
                Fault::Cancel { number: from, .. } => number >= *from || self.any_misuse(),
                _ => false,
            }),
            Failure::NeverJoined { missing, .. } => {
                self.any(|fault| *fault == Fault::Absent { rank: *missing })
                    || self.any_stopped()
                    || self.is_dead(*missing)
                    || self.any_refused()
            }
            Failure::Stalled { .. } => {
                self.case.spec.options.patience.is_some()
                    && (self.any_stopped()
                        || self.any_dead()
                        || !self.own.is_empty()
                        || self.case.tempo.long > 0
                        || self.case.tempo.slow.is_some())
            }
            _ => false,
        };
        (!explained).then_some("nothing that was done to the team explains it")
    }
}

/// What is wrong with what was seen; `None` if nothing is.
pub(crate) fn wrong(case: &Case, seen: &Seen) -> Option<String> {
    let own: Vec<Fault> = seen
        .logs
        .iter()
        .flat_map(|log| log.struck.clone())
        .collect();
    let causes = Causes { case, seen, own };
    if let Err(stuck) = &seen.ran {
        let open: Vec<usize> = (0..case.n)
            .filter(|&rank| !causes.is_dead(rank) && !seen.logs[rank].ended)
            .collect();
        return Some(format!("{stuck:?}: no end for some of ranks {open:?}"));
    }
    for (rank, log) in seen.logs.iter().enumerate() {
        for (number, outcome) in &log.outcomes {
            match outcome {
                Outcome::Right => {}
                Outcome::Wrong if may_pair_otherwise(&causes, *number) => {}
                Outcome::Wrong => {
                    return Some(format!(
                        "rank {rank}: operation {number} succeeded with a wrong result"
                    ));
                }
                Outcome::Failed(failure) => {
                    if let Some(why) = causes.unexplained(*number, failure) {
                        return Some(format!(
                            "rank {rank}: operation {number} failed, and {why}: {failure}"
                        ));
                    }
                }
            }
        }
        if let Some(words) = &log.panicked
            && !(words == super::buffers::INJECTED && causes.may_panic(rank))
        {
            return Some(format!("rank {rank} panicked: {words}"));
        }
        if let Some(words) = &log.refused
            && !causes.any_refused()
        {
            return Some(format!("rank {rank} was refused: {words}"));
        }
    }
    for (process, entered) in seen.entered.iter().enumerate() {
        if let Err(words) = entered
            && !(causes.any_refused() || causes.any_dead() || causes.any_stopped())
        {
            return Some(format!("process {process} could not enter: {words}"));
        }
    }
    if let Some(words) = unfair(&causes) {
        return Some(words);
    }
    let calm = case.faults.is_empty() && case.tempo.long == 0;
    if calm && seen.rescued > 0 {
        return Some(format!(
            "{} times nobody went on before the limit of a sleep: a wake-up was lost",
            seen.rescued
        ));
    }
    None
}

/// Whether a member has left out an operation up to this one: its next one may be of the same kind and root, and nobody
/// can see then that it is another one.
fn may_pair_otherwise(causes: &Causes<'_>, number: usize) -> bool {
    causes.any(|fault| match fault {
        Fault::Misuse {
            number: left_out,
            how,
            ..
        } => *how == Misuse::Skip && *left_out <= number,
        _ => false,
    })
}

/// What some members know of the team's first failure, and others do not.
fn unfair(causes: &Causes<'_>) -> Option<String> {
    let logs = &causes.seen.logs;
    let mut first: Option<(usize, &Failure)> = None;
    for (rank, log) in logs.iter().enumerate() {
        if causes.is_dead(rank) {
            continue;
        }
        let told = log
            .outcomes
            .iter()
            .filter_map(|(_, outcome)| match outcome {
                Outcome::Failed(failure) => Some(failure),
                _ => None,
            });
        for failure in told.chain(&log.team) {
            if matches!(failure, Failure::Cancelled { .. }) {
                continue;
            }
            match first {
                None => first = Some((rank, failure)),
                Some((other, known)) if known.to_string() != failure.to_string() => {
                    // A record whose writer died cannot be read by others.
                    let torn = |it: &Failure| matches!(it, Failure::Corrupt { .. });
                    if torn(known) || torn(failure) {
                        continue;
                    }
                    return Some(format!(
                        "ranks {other} and {rank} were told different first failures: {known}; {failure}"
                    ));
                }
                Some(_) => {}
            }
        }
    }
    let forgets = |rank: &usize| {
        let log = &logs[*rank];
        log.stayed && log.team.is_none() && !causes.is_dead(*rank)
    };
    let (who, failure) = first?;
    let rank = (0..logs.len()).find(forgets)?;
    Some(format!(
        "rank {who} was told a failure of which rank {rank} knows nothing in the end: {failure}"
    ))
}

/// What many cases together must have seen.
pub(crate) const SEEN_IN_ALL: [&str; 26] = [
    "cases that ended after the last fault was over",
    "processes killed",
    "processes that ran another program",
    "processes stopped",
    "processes refused memory",
    "other operations",
    "other roots",
    "other lengths",
    "operations left out",
    "roots outside of the team",
    "cancellations",
    "caught panics of operators",
    "panics of operators",
    "panics of bodies",
    "members that left",
    "ranks that never joined",
    "operations with the right result",
    "operations that paired otherwise",
    "failures: mismatch",
    "failures: length",
    "failures: peer left",
    "failures: peer panicked",
    "failures: peer died",
    "failures: cancelled",
    "failures: never joined",
    "failures: stalled",
];

/// How often each fault has struck, and what operations came to.
pub(crate) fn count(seen: &Seen, counts: &mut BTreeMap<&'static str, u64>) {
    let mut one = |what| *counts.entry(what).or_default() += 1;
    for blow in seen.struck.iter().flatten() {
        one(match blow {
            Blow::Kill => "processes killed",
            Blow::Exec => "processes that ran another program",
            Blow::Stop(_) => "processes stopped",
        });
    }
    if seen.calm.is_some() {
        one("cases that ended after the last fault was over");
    }
    for _ in seen.refused.iter().filter(|refused| **refused) {
        one("processes refused memory");
    }
    for log in &seen.logs {
        for fault in &log.struck {
            one(match fault {
                Fault::Misuse { how, .. } => match how {
                    Misuse::OtherWhat(_) => "other operations",
                    Misuse::OtherRoot(_) => "other roots",
                    Misuse::OtherLen(_) => "other lengths",
                    Misuse::Skip => "operations left out",
                    Misuse::BadRoot => "roots outside of the team",
                },
                Fault::Cancel { .. } => "cancellations",
                Fault::OperatorPanic { caught: true, .. } => "caught panics of operators",
                Fault::OperatorPanic { .. } => "panics of operators",
                Fault::BodyPanic { .. } => "panics of bodies",
                Fault::Leaves { .. } => "members that left",
                Fault::Absent { .. } => "ranks that never joined",
                Fault::Blow { .. } | Fault::Refused { .. } => continue,
            });
        }
        for (_, outcome) in &log.outcomes {
            one(match outcome {
                Outcome::Right => "operations with the right result",
                Outcome::Wrong => "operations that paired otherwise",
                Outcome::Failed(failure) => match failure {
                    Failure::Mismatch { .. } => "failures: mismatch",
                    Failure::Length { .. } => "failures: length",
                    Failure::Corrupt { .. } => "failures: corrupt",
                    Failure::PeerLost { how, .. } => match how {
                        Loss::Left => "failures: peer left",
                        Loss::Panicked => "failures: peer panicked",
                        Loss::Died => "failures: peer died",
                    },
                    Failure::Cancelled { .. } => "failures: cancelled",
                    Failure::NeverJoined { .. } => "failures: never joined",
                    Failure::Stalled { .. } => "failures: stalled",
                    _ => "failures: others",
                },
            });
        }
    }
}
