//! Searches for plans within limits, with progress, which Ctrl-C ends early.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use corecast_plan::compare::{level_patterns, patterns, share_bounds};
use corecast_plan::plan::plan_above_while;
use corecast_plan::{
    Effort, Members, Operation, Pattern, Plan, Progress, RootChoice, Stage, groups, plan_with,
};
use serde::Serialize;

use crate::failure;
use crate::interrupt;
use crate::progress::{self, Bar};
use corecast_tune::contest::Timed;

/// Shares of the time of a comparison that may have passed when the bound of all patterns is computed, and when those
/// that need no search are built. Only teams of thousands need as long; what is left is for the searches.
const BOUND_SHARE: f64 = 0.25;
const BUILT_SHARE: f64 = 0.5;

/// The limits and the seed of a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    /// The seed of all random choices.
    pub(crate) seed: u64,
    /// The number of moves that are tried; `None` for no limit.
    pub(crate) moves: Option<u64>,
    /// The time of the search; `None` for the default.
    pub(crate) budget: Option<Duration>,
}

impl Limits {
    /// The time for `pattern`; `None` if only moves limit the search, which gives the same result on every machine,
    /// however slow.
    fn budget(&self, pattern: Pattern) -> Option<Duration> {
        match (self.budget, self.moves, pattern) {
            (Some(budget), _, _) => Some(budget),
            (None, Some(_), _) => None,
            (None, None, Pattern::Optimal) => Some(Duration::from_secs(60)),
            (None, None, _) => Some(Duration::from_secs(1)),
        }
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ended {
    /// The plan is proved optimal.
    Proved,
    /// All moves were done.
    Moves,
    /// The time was over.
    Budget,
    /// The user pressed Ctrl-C.
    Interrupted,
}

/// The record of a search.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Search {
    seed: u64,
    moves: u64,
    ended: Ended,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_ms: Option<f64>,
}

/// A plan, and how it was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The plan and its time.
    pub(crate) timed: Timed,
    /// The record of the search; absent for patterns that are built without one.
    pub(crate) search: Option<Search>,
}

impl Found {
    /// A sentence that says how the plan was found.
    pub(crate) fn sentence(&self) -> String {
        let ms = self.timed.search_ms;
        let Some(search) = &self.search else {
            return format!("planned in {ms:.3} ms");
        };
        let ended = match (search.ended, search.budget_ms) {
            (Ended::Proved, _) => "ended with the proof".to_owned(),
            (Ended::Moves, _) => "all moves done".to_owned(),
            (Ended::Budget, Some(budget)) => format!("out of time after {budget} ms"),
            (Ended::Budget, None) => "out of time".to_owned(),
            (Ended::Interrupted, _) => "interrupted".to_owned(),
        };
        format!(
            "searched for {ms:.1} ms, {} moves, seed {}: {ended}",
            search.moves, search.seed
        )
    }
}

/// The gap of a plan, such as `8.3 %`, or `optimal`.
pub(crate) fn gap(plan: &Plan) -> String {
    match 100.0 * plan.gap {
        _ if plan.proved_optimal => "optimal".to_owned(),
        small if small < 0.095 => format!("{small:.2} %"),
        gap => format!("{gap:.1} %"),
    }
}

/// Finds the plan of `pattern` for `team` within `limits`.
///
/// # Errors
///
/// The root is outside of the team, or the pattern cannot do the operation.
pub(crate) fn find(
    team: &Members,
    pattern: Pattern,
    operation: Operation,
    root: RootChoice,
    limits: &Limits,
) -> Result<Found> {
    if !pattern.is_searched() {
        let start = Instant::now();
        let plan = corecast_plan::plan(&team.costs, pattern, operation, root)?;
        let search_ms = start.elapsed().as_secs_f64() * 1e3;
        let timed = Timed { plan, search_ms };
        return Ok(Found {
            timed,
            search: None,
        });
    }
    let effort = Effort {
        seed: limits.seed,
        moves: limits.moves.unwrap_or(u64::MAX),
    };
    interrupt::listen();
    let mut watcher = Watcher::new(team.unit(), limits.budget(pattern));
    let found = plan_with(
        &team.costs,
        pattern,
        operation,
        root,
        effort,
        &mut |progress| watcher.look(progress),
    );
    watcher.bar.finish();
    let plan = found?;
    let timed = Timed {
        search_ms: watcher.start.elapsed().as_secs_f64() * 1e3,
        plan,
    };
    let search = Search {
        seed: limits.seed,
        moves: match (watcher.ended, timed.plan.proved_optimal) {
            // The watcher is called every few moves, so it may miss the last ones.
            (None, false) => limits.moves.unwrap_or(watcher.moves),
            _ => watcher.moves,
        },
        ended: match watcher.ended {
            _ if timed.plan.proved_optimal => Ended::Proved,
            Some(ended) => ended,
            None => Ended::Moves,
        },
        budget_ms: watcher.budget.map(|budget| budget.as_secs_f64() * 1e3),
    };
    let search = Some(search);
    Ok(Found { timed, search })
}

/// The plans of all patterns that can do the operation, best first; when the time is over, or after Ctrl-C, those that are
/// there, with a warning that names the others. All of them share one time, by default that of [`Pattern::Best`] alone.
///
/// # Errors
///
/// The root is outside of the team.
pub(crate) fn compare(
    team: &Members,
    operation: Operation,
    root: RootChoice,
    limits: &Limits,
) -> Result<Vec<Found>> {
    interrupt::listen();
    let start = Instant::now();
    let budget = limits.budget(Pattern::Best);
    let at = root.resolve(&team.costs)?;
    // Goes on until this share of the time has passed.
    let until = |share: f64| {
        let over = budget.is_some_and(|budget| start.elapsed() >= budget.mul_f64(share));
        match over || interrupt::happened() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    // Nothing is beaten by a bound of 0; what the searches prove is shared later.
    let go_on = &mut || until(BOUND_SHARE);
    let bound = groups::lower_bound_while(&team.costs, operation, Some(at), go_on);
    let bound = bound.unwrap_or(0.0);
    let mut order = patterns();
    if team.costs.hosts().is_some() {
        order.extend(level_patterns());
    }
    let (searched, built): (Vec<Pattern>, Vec<Pattern>) =
        order.iter().partition(|pattern| pattern.is_searched());
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for pattern in built {
        let begin = Instant::now();
        let go_on = &mut || until(BUILT_SHARE);
        match plan_above_while(&team.costs, pattern, operation, at, bound, go_on) {
            Ok(Some(plan)) => {
                let search_ms = begin.elapsed().as_secs_f64() * 1e3;
                let timed = Timed { plan, search_ms };
                let search = None;
                found.push(Found { timed, search });
            }
            Ok(None) => left_out.push(pattern.to_string()),
            // It cannot do the operation.
            Err(_) => {}
        }
    }
    for (at, &pattern) in searched.iter().enumerate() {
        // The searches that are left have equal parts of the time that is left.
        let parts = (searched.len() - at) as u32;
        let left = budget.map(|budget| budget.saturating_sub(start.elapsed()) / parts);
        let limits = Limits {
            budget: left,
            ..limits.clone()
        };
        found.push(find(team, pattern, operation, root, &limits)?);
    }
    if !left_out.is_empty() {
        let why = match interrupt::happened() {
            true => "interrupted",
            false => "the time was over",
        };
        let (machine, names) = (&team.machine, left_out.join(", "));
        failure::warn(&format!("{machine}: {why}: without {names}"));
    }
    let mut plans: Vec<&mut Plan> = found.iter_mut().map(|one| &mut one.timed.plan).collect();
    share_bounds(&mut plans);
    let place = |found: &Found| {
        order
            .iter()
            .position(|one| *one == found.timed.plan.pattern)
    };
    found.sort_by(|a, b| {
        let latencies = [a, b].map(|found| found.timed.plan.latency);
        let by_latency = latencies[0].total_cmp(&latencies[1]);
        by_latency.then(place(a).cmp(&place(b)))
    });
    Ok(found)
}

/// Parses `auto`, `smelt` or a rank.
///
/// # Errors
///
/// The text is none of these; the message quotes it.
pub(crate) fn root(text: &str) -> Result<RootChoice> {
    match text {
        "auto" => Ok(RootChoice::Auto),
        "smelt" => Ok(RootChoice::Smelt),
        rank => rank.parse().map(RootChoice::Rank).map_err(|_| {
            anyhow!("--root {rank:?} is neither auto, nor smelt, nor a rank, a whole number from 0")
        }),
    }
}

/// Ends a search in time and shows how far it is.
struct Watcher {
    start: Instant,
    budget: Option<Duration>,
    shown: Instant,
    unit: &'static str,
    bar: Bar,
    moves: u64,
    ended: Option<Ended>,
}

impl Watcher {
    fn new(unit: &'static str, budget: Option<Duration>) -> Self {
        let start = Instant::now();
        Self {
            start,
            budget,
            shown: start,
            unit,
            bar: progress::bar("searching"),
            moves: 0,
            ended: None,
        }
    }

    fn look(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.moves = progress.moves;
        let now = Instant::now();
        let passed = now - self.start;
        if interrupt::happened() {
            self.ended = Some(Ended::Interrupted);
            return ControlFlow::Break(());
        }
        if self.budget.is_some_and(|budget| passed >= budget) {
            self.ended = Some(Ended::Budget);
            return ControlFlow::Break(());
        }
        // The bar is drawn at most ten times a second, since drawing takes longer than a move.
        if now - self.shown >= Duration::from_millis(100) {
            self.shown = now;
            self.show(passed, progress);
        }
        ControlFlow::Continue(())
    }

    fn show(&self, passed: Duration, progress: &Progress) {
        let share = self.budget.map_or(0.0, |budget| {
            passed.as_secs_f64() / budget.as_secs_f64().max(1e-9)
        });
        let gap = (progress.latency - progress.lower_bound) / progress.latency.max(1e-300);
        let doing = match progress.stage {
            Stage::Prepare => "preparing",
            Stage::Prove => "proving",
            _ => "improving",
        };
        self.bar.at(
            share,
            &format!(
                "{}, latency {:.1} {}, gap {:.2} %",
                doing,
                progress.latency,
                self.unit,
                100.0 * gap.clamp(0.0, 1.0)
            ),
        );
    }
}
