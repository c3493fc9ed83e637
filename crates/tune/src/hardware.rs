//! Runs races of teams on this machine, with the engines of [`corecast_bench`].

use crate::racer::{Contender, Form, RaceFailed, Racer, Subject};
use crate::sequential_test::SequentialTest;
use crate::sessions::Sessions;
use crate::thread_teams::ThreadTeams;
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::race::{self, Ruling};
use corecast_bench::sized::{self, Conditions, Task};
use corecast_bench::{Entrant, Session, Settings, Status};
use corecast_model::Collective;
use corecast_model::profile::Start;
use corecast_team::Options;
use std::time::{Duration, Instant};

/// The most bytes of buffers that one contender may have, since several contenders race at a time.
const FOOTPRINT_MAX: usize = 512 << 20;

/// Operations that are verified before a contender is timed; `CHECKS_LONG` for data of more than `LONG_BYTES`.
const CHECKS: u64 = 16;
const CHECKS_LONG: u64 = 2;
const LONG_BYTES: usize = 256 << 10;

/// Time that the operations of a batch take together. In a batch of short operations each also waits for its start,
/// ten times as long as it takes.
const BATCH_SHORT: Duration = Duration::from_micros(60);
const BATCH: Duration = Duration::from_micros(300);
/// Time of a batch of processes that share PUs. They begin on the PUs on which they woke up, often on one, until the kernel
/// balances the load some milliseconds later.
const BATCH_SHARED: Duration = Duration::from_millis(10);

/// Rounds at the beginning of a race that do not count.
const WARM_UP_ROUNDS: usize = 1;

/// A [`Racer`] whose teams have a rank on each of some placements of this machine.
pub struct Hardware<'a> {
    placements: Vec<CpuPlacement>,
    /// Whether ranks share hardware threads.
    oversubscribed: bool,
    start: Start,
    teams: Teams<'a>,
    begin: Instant,
    interrupted: &'a dyn Fn() -> bool,
}

/// What the ranks of all teams are.
#[expect(clippy::large_enum_variant, reason = "a tuning has one of them")]
enum Teams<'a> {
    Threads(ThreadTeams),
    Processes(Sessions<'a>),
}

impl<'a> Hardware<'a> {
    /// A racer whose ranks are threads. `options` are those that every team has; `interrupted` is called between rounds and
    /// ends a race if it returns true.
    pub fn threads(
        placements: Vec<CpuPlacement>,
        start: Start,
        options: Options,
        interrupted: &'a dyn Fn() -> bool,
    ) -> Self {
        let crowded = placements.len() > options.usable();
        let teams = Teams::Threads(ThreadTeams::new(options));
        let mut racer = Self::new(placements, start, teams, interrupted);
        racer.oversubscribed |= crowded;
        racer
    }

    /// A racer whose ranks are processes. It ignores plans and waits of contenders, since processes find their own. `launch`
    /// makes a session whose team has a form's algorithms and transfer path; `interrupted` is called between rounds and ends a
    /// race if it returns true.
    pub fn processes(
        placements: Vec<CpuPlacement>,
        start: Start,
        launch: &'a dyn Fn(&Form) -> Session,
        interrupted: &'a dyn Fn() -> bool,
    ) -> Self {
        let teams = Teams::Processes(Sessions::new(launch));
        Self::new(placements, start, teams, interrupted)
    }

    fn new(
        placements: Vec<CpuPlacement>,
        start: Start,
        teams: Teams<'a>,
        interrupted: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            oversubscribed: cpu_placement::oversubscribed(&placements),
            placements,
            start,
            teams,
            begin: Instant::now(),
            interrupted,
        }
    }

    /// The conditions under which operations are timed.
    fn conditions(&self) -> Conditions {
        let usual = Conditions::from(self.oversubscribed);
        match self.start {
            Start::Together => usual,
            Start::BackToBack => usual.starting(sized::Start::BackToBack),
        }
    }

    /// The settings by which a race is measured.
    fn settings(&self, subject: Subject, limit: Duration) -> Settings {
        let long = subject.bytes() > LONG_BYTES;
        let share = self.oversubscribed && matches!(self.teams, Teams::Processes(_));
        // Whether each operation waits for its start, at which all ranks begin.
        let waits = self.start == Start::Together
            && !self.oversubscribed
            && subject.operation() != Collective::Barrier;
        Settings {
            batch: match (share, waits && !long) {
                (true, _) => BATCH_SHARED,
                (false, true) => BATCH_SHORT,
                (false, false) => BATCH,
            },
            verify_rounds: if long { CHECKS_LONG } else { CHECKS },
            warm_up_rounds: WARM_UP_ROUNDS,
            rounds_min: 1,
            rounds_max: usize::MAX,
            // The sequential test ends the race.
            precision: 0.0,
            budget: limit,
            ..Settings::default()
        }
    }
}

impl Racer for Hardware<'_> {
    /// Another contender is first in each replicate, since the first gets its memory first.
    fn race(
        &mut self,
        subject: Subject,
        contenders: &[Contender],
        test: &mut SequentialTest,
        limit: Duration,
    ) -> Result<(), RaceFailed> {
        let conditions = self.conditions();
        let settings = self.settings(subject, limit);
        if let Teams::Processes(sessions) = &mut self.teams {
            sessions.end_others(contenders);
        }
        let mut racing = test.racing();
        let turn = test.replicates() as usize % racing.len().max(1);
        racing.rotate_left(turn);
        let entrants: Vec<Entrant<'_>> = racing
            .iter()
            .map(|&at| {
                let contender = &contenders[at];
                let made = match &mut self.teams {
                    Teams::Threads(teams) => teams.entrant(subject, contender, conditions),
                    Teams::Processes(sessions) => {
                        Ok(sessions.entrant(subject, &contender.form, conditions))
                    }
                };
                made.unwrap_or_else(|reason| Entrant::absent(contender.name.clone(), "", reason))
            })
            .collect();
        let title = subject.to_string();
        let ruling = |samples: &[Option<f64>]| {
            let mut of_all = vec![None; contenders.len()];
            for (&at, sample) in racing.iter().zip(samples) {
                of_all[at] = *sample;
            }
            let out = test.round(&of_all);
            let place = |at: &usize| racing.iter().position(|one| one == at);
            Ruling {
                out: out.iter().filter_map(place).collect(),
                over: test.over() || (self.interrupted)(),
            }
        };
        let comparison = race::run_decided(
            &title,
            &self.placements,
            &settings,
            &entrants,
            |_| {},
            ruling,
        );
        let comparison = comparison.map_err(|error| RaceFailed {
            subject: title,
            reason: error.to_string(),
        })?;
        for (entry, &at) in comparison.entries.iter().zip(&racing) {
            match &entry.status {
                Status::Failed(reason) | Status::Skipped(reason) => test.fail(at, reason.clone()),
                Status::Pending => test.fail(at, "it was not timed".to_owned()),
                Status::Timed => {}
            }
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn interrupted(&self) -> bool {
        (self.interrupted)()
    }

    fn bytes_max(&self, operation: Collective) -> usize {
        let ranks = self.placements.len();
        let fits = |&bytes: &usize| {
            let task = Task {
                operation,
                ranks,
                bytes,
            };
            task.footprint() <= FOOTPRINT_MAX
        };
        let sizes = (3..40).rev().map(|log| 1_usize << log);
        sizes.into_iter().find(fits).unwrap_or(0)
    }
}
