//! Measurements in depth: the costs of single lines, waits and copies on this machine.
//!
//! ```text
//!  site, task ─► crew: latency, … ─► settle ─► Deep, a section of the machine file
//!  (pure)        pinned threads      (pure)    ▲
//!                in lock step         fit, step ──► curves, parameters (pure)
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `site.rs`, `task.rs` | who is near whom; what is measured, in parts |
//! | `measuring.rs` | a part's way into the section |
//! | `crew.rs`, `timer.rs`, `order.rs` | threads that run one program; what they tell time by; which lines, in which order |
//! | `latency.rs` | reads and synchronous writes by state, level and place |
//! | `contention.rs`, `congestion.rs`, `lines.rs` | one line and many readers, many pairs, many lines |
//! | `readers.rs`, `stores.rs`, `waits.rs`, `bandwidth.rs` | who sees a change first, the write buffer, what waiting is made of, copies |
//! | `settle.rs`, `fit.rs`, `step.rs`, `parameters.rs` | from samples to figures |
//! | `circumstances.rs` | drift and stolen time |
//!
//! **Architecture invariant:** loops that measure know nothing of statistics, and statistics never look at
//! the machine. Every part can be the last one: what is done is in the section, with the names of what is left.

mod bandwidth;
mod circumstances;
mod congestion;
mod contention;
mod crew;
mod fit;
mod latency;
mod lines;
mod measuring;
mod order;
mod parameters;
mod readers;
mod settle;
mod site;
mod step;
mod stores;
mod task;
mod timer;
mod waits;

pub use parameters::together;
pub use task::Scope;

use std::time::{Duration, Instant};

use corecast_model::Machine;
use corecast_model::deep::{Clock, Deep, SCHEMA};
use corecast_wire::{ending, microbench};

use crate::calendar::now_utc;
use crate::run::Progress;
use crate::{Config, ProbeError};
use circumstances::ObservedProcessors;
use measuring::Measuring;
use site::Site;
use task::{Named, Task};
use timer::Timer;

/// The configuration of a measurement in depth.
///
/// # Examples
///
/// ```
/// use corecast_probe::deep::{DeepConfig, Scope};
///
/// let config = DeepConfig::new(vec![0, 1]);
/// assert_eq!(config.scope, Scope::All);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DeepConfig {
    /// Operating-system numbers of the hardware threads.
    pub pus: Vec<u32>,
    /// The parts that are measured.
    pub scope: Scope,
    /// No part is begun after this time.
    pub time_limit: Duration,
    /// With more threads than this, fewer pairs of each topology class are measured.
    pub sample_above_threads: usize,
}

impl DeepConfig {
    /// Returns the defaults for these hardware threads: everything, within two minutes.
    #[must_use]
    pub fn new(pus: Vec<u32>) -> Self {
        Self {
            pus,
            scope: Scope::All,
            time_limit: Duration::from_secs(120),
            sample_above_threads: 64,
        }
    }
}

/// Most and least time for one figure. Most figures settle sooner.
const FIGURE_TIME_MAX: Duration = Duration::from_millis(80);
const FIGURE_TIME_MIN: Duration = Duration::from_millis(4);

/// Figures of a part, about.
const FIGURES_PER_PART: u32 = 6;

/// Measures in depth the hardware threads of `config`, which are part of `machine`.
///
/// `before` is the result of an earlier call: the parts that it left are measured now, and the rest is kept. Where it
/// left nothing of the scope, the scope is measured anew. No part begins once this process was asked to end
/// ([`corecast_wire::ending`]). `part` is called before the first part and after each, with
/// all results so far.
///
/// # Errors
///
/// [`ProbeError`]: hardware threads unknown, listed twice, or too few; pinning refused, without effect,
/// or lost; memory or threads refused.
///
/// # Cost
///
/// Some 5 s on two quiet hardware threads; the time limit at most, and one part more. All threads are busy
/// meanwhile.
///
/// # Source
///
/// Ramos and Hoefler, §2.2; Mencagli and others, §4.2.
///
/// # Examples
///
/// ```no_run
/// use corecast_probe::deep::{DeepConfig, deep};
///
/// let machine = corecast_machine::discover().machine;
/// let config = DeepConfig::new(machine.pus.iter().map(|pu| pu.os_index).collect());
/// let found = deep(&config, &machine, None, |progress, _| {
///     eprintln!("{} of {}, {:.0?} left", progress.done, progress.total, progress.eta);
/// })?;
/// println!("R_L is {:.1} ns", found.parameters["R_L"].value);
/// # Ok::<(), corecast_probe::ProbeError>(())
/// ```
pub fn deep(
    config: &DeepConfig,
    machine: &Machine,
    before: Option<Deep>,
    mut part: impl FnMut(Progress, &Deep),
) -> Result<Deep, ProbeError> {
    let pus = Config::new(config.pus.clone()).checked(machine)?;
    let site = Site::new(machine, pus);
    let tasks = task::all(&site, config.scope, config.sample_above_threads);
    let name = |task: &Task| Named(&site, *task).to_string();
    let mut found = match before {
        Some(deep) if tasks.iter().any(|task| deep.left.contains(&name(task))) => deep,
        // Every part is done, so the scope is measured anew. Results outside of the scope are kept.
        Some(mut deep) if config.scope != Scope::All => {
            if config.scope == Scope::Coherence {
                deep.latencies.clear();
            }
            deep.left.splice(0..0, tasks.iter().map(name));
            deep
        }
        _ => {
            let all = task::all(&site, Scope::All, config.sample_above_threads);
            blank(all.iter().map(name).collect())
        }
    };
    let ahead: Vec<Task> = tasks
        .into_iter()
        .filter(|task| found.left.contains(&name(task)))
        .collect();
    let figures =
        FIGURES_PER_PART * u32::try_from(ahead.len()).unwrap_or(u32::MAX / FIGURES_PER_PART);
    let figure_time = (config.time_limit / figures.max(1)).clamp(FIGURE_TIME_MIN, FIGURE_TIME_MAX);
    let (start, ticks) = (Instant::now(), Timer::new());
    let (seconds, start_ticks) = (found.seconds, ticks.now());
    let mut seen = ObservedProcessors::new(&config.pus);
    let earlier = found.clock.clone();
    let progress = |done| {
        Progress::new(
            done,
            ahead.len(),
            start.elapsed(),
            FIGURES_PER_PART * figure_time / 2,
        )
    };
    part(progress(0), &found);
    for (done, &task) in ahead.iter().enumerate() {
        if start.elapsed() >= config.time_limit || ending::is_asked() {
            break;
        }
        let mut measuring = Measuring {
            site: &site,
            found: &mut found,
            seen: &mut seen,
            limit: figure_time,
        };
        match measuring.measure(task) {
            Err(ProbeError::Interrupted { .. }) => break,
            ended => ended?,
        }
        let name = name(&task);
        found.left.retain(|left| *left != name);
        let elapsed = start.elapsed();
        found.seconds = seconds + elapsed.as_secs_f64();
        found.when = now_utc();
        found.clock = Clock {
            ticks_per_ns: ticks.rate(start_ticks, elapsed),
            drift: seen.drift().max(earlier.drift),
            steal: seen.steal(&config.pus).max(earlier.steal),
            huge_pages: found.clock.huge_pages,
            ..earlier.clone()
        };
        found.parameters = parameters::of(machine, &found.latencies);
        found.check()?;
        part(progress(done + 1), &found);
    }
    let notes = circumstances::notes(found.clock.drift, found.clock.steal, &found.latencies);
    for note in notes {
        if !found.notes.contains(&note) {
            found.notes.push(note);
        }
    }
    Ok(found)
}

/// Returns a section in which nothing is measured yet.
fn blank(left: Vec<String>) -> Deep {
    let steady = microbench::counter_is_steady();
    let mut notes = Vec::new();
    if !steady {
        notes.push(
            "the cycle counter changes its pace with the core: the system's clock was read instead"
                .to_owned(),
        );
    }
    if !microbench::FLUSHES {
        notes.push(
            "lines cannot be flushed here: exclusive and invalid lines may be modified ones"
                .to_owned(),
        );
    }
    Deep {
        schema: SCHEMA,
        when: now_utc(),
        tool: concat!("corecast-probe ", env!("CARGO_PKG_VERSION")).to_owned(),
        seconds: 0.0,
        clock: Clock {
            counter: if steady {
                corecast_wire::arch::COUNTER_NAME
            } else {
                "clock"
            }
            .to_owned(),
            steady,
            ticks_per_ns: 0.0,
            drift: 0.0,
            steal: 0.0,
            huge_pages: true,
        },
        latencies: Vec::new(),
        parameters: Default::default(),
        curves: Vec::new(),
        readers: Vec::new(),
        quantities: Vec::new(),
        left,
        notes,
    }
}
