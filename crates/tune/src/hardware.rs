//! Runs races of teams of threads on this machine, with the engines of [`corecast_bench`].

use crate::racer::{Contender, RaceFailed, Racer, Subject, conditions};
use crate::sequential_test::SequentialTest;
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::race::{self, Ruling};
use corecast_bench::sized::{Library, Player, Task, Threads, Trial};
use corecast_bench::{Entrant, Role, Settings, Status};
use corecast_model::Collective;
use corecast_model::profile::Start;
use corecast_team::Options;
use corecast_wire::WaitConfig;
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

/// A [`Racer`] whose teams are threads on given placements.
pub struct Hardware<'a> {
    placements: Vec<CpuPlacement>,
    /// Number of hardware threads that the ranks use together.
    usable: usize,
    start: Start,
    options: Options,
    begin: Instant,
    interrupted: &'a dyn Fn() -> bool,
}

impl<'a> Hardware<'a> {
    /// A racer with a rank on each of `placements`, which are `usable` hardware threads together. `options` are those
    /// that every team has; `interrupted` is called between rounds and ends a race if it returns true.
    pub fn new(
        placements: Vec<CpuPlacement>,
        usable: usize,
        start: Start,
        options: Options,
        interrupted: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            placements,
            usable,
            start,
            options,
            begin: Instant::now(),
            interrupted,
        }
    }

    fn oversubscribed(&self) -> bool {
        self.placements.len() > self.usable || cpu_placement::oversubscribed(&self.placements)
    }

    fn options(&self, contender: &Contender) -> Options {
        let usual = WaitConfig::for_team(self.placements.len(), self.usable);
        let own = contender.form.wait_config.or(self.options.wait_config);
        Options {
            wait_config: Some(own.unwrap_or(usual)),
            algorithms: contender.form.algorithms,
            ..self.options.clone()
        }
    }

    fn entrant<'e>(&self, subject: Subject, contender: &Contender) -> Result<Entrant<'e>, String> {
        let options = self.options(contender);
        let name = contender.name.clone();
        let task = match subject {
            Subject::Task(task) => task,
            Subject::BarrierThenBroadcast { ranks } => Task {
                operation: Collective::Broadcast,
                ranks,
                bytes: corecast_bench::sized::ELEMENT_BYTES,
            },
        };
        let teams = Threads::with_options(name, task, &contender.form.plans, &options);
        let teams = teams.map_err(|error| error.to_string())?;
        Ok(match subject {
            Subject::Task(task) => {
                let conditions = conditions(self.start, self.oversubscribed());
                Entrant::threads(Trial::new(teams, task, conditions))
            }
            Subject::BarrierThenBroadcast { ranks } => {
                let barrier = Task {
                    operation: Collective::Barrier,
                    ranks,
                    bytes: 0,
                };
                Entrant::threads(Trial::new(Both(teams), barrier, self.oversubscribed()))
            }
        })
    }
}

/// The settings by which a race is measured; `waits` tells whether each operation waits for its start, and
/// `share`, whether its ranks are processes that share PUs.
fn settings(subject: Subject, (waits, share): (bool, bool), limit: Duration) -> Settings {
    let long = subject.bytes() > LONG_BYTES;
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

/// A replicate of a race: one set of teams and buffers, and the rounds timed with them.
pub(crate) struct Replicate<'a> {
    pub(crate) placements: &'a [CpuPlacement],
    /// Whether all ranks begin an operation at the same instant.
    pub(crate) strict: bool,
    /// Whether ranks are processes that share PUs.
    pub(crate) share: bool,
    pub(crate) limit: Duration,
    pub(crate) interrupted: &'a dyn Fn() -> bool,
}

impl Replicate<'_> {
    /// Runs the replicate among the contenders that are still racing, which `entrant` makes. Another one is first in
    /// each replicate, since the first gets its memory first.
    pub(crate) fn hold<'e>(
        &self,
        subject: Subject,
        contenders: &[Contender],
        test: &mut SequentialTest,
        mut entrant: impl FnMut(&Contender) -> Result<Entrant<'e>, String>,
    ) -> Result<(), RaceFailed> {
        let mut racing = test.racing();
        let turn = test.replicates() as usize % racing.len().max(1);
        racing.rotate_left(turn);
        let entrants: Vec<Entrant<'e>> = racing
            .iter()
            .map(|&at| {
                let absent = |reason| Entrant::absent(contenders[at].name.clone(), "", reason);
                entrant(&contenders[at]).unwrap_or_else(absent)
            })
            .collect();
        let waits = self.strict && subject.operation() != Collective::Barrier;
        let settings = settings(subject, (waits, self.share), self.limit);
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
            self.placements,
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
}

/// The largest power of two of bytes at which the buffers of `operation` stay within [`FOOTPRINT_MAX`].
pub(crate) fn bytes_max(operation: Collective, ranks: usize) -> usize {
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

impl Racer for Hardware<'_> {
    fn race(
        &mut self,
        subject: Subject,
        contenders: &[Contender],
        test: &mut SequentialTest,
        limit: Duration,
    ) -> Result<(), RaceFailed> {
        let replicate = Replicate {
            placements: &self.placements,
            strict: self.start == Start::Together && !self.oversubscribed(),
            share: false,
            limit,
            interrupted: self.interrupted,
        };
        replicate.hold(subject, contenders, test, |contender| {
            self.entrant(subject, contender)
        })
    }

    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn interrupted(&self) -> bool {
        (self.interrupted)()
    }

    fn bytes_max(&self, operation: Collective) -> usize {
        bytes_max(operation, self.placements.len())
    }
}

/// A library whose barrier is a barrier and a broadcast of one element.
struct Both(Threads);

impl Library for Both {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn setting(&self) -> String {
        self.0.setting()
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn player<'a>(&'a self, rank: usize) -> Box<dyn Player + 'a> {
        Box::new(BothPlayer(self.0.player(rank)))
    }
}

struct BothPlayer<'a>(Box<dyn Player + 'a>);

impl Player for BothPlayer<'_> {
    fn barrier(&mut self) -> Result<(), String> {
        self.0.barrier()?;
        self.0.perform(0)
    }

    fn prepare(&mut self, place: usize, write: &mut dyn FnMut(&mut [f64])) {
        self.0.prepare(place, write);
    }

    fn perform(&mut self, place: usize) -> Result<(), String> {
        self.0.perform(place)
    }

    fn result(&mut self, place: usize, read: &mut dyn FnMut(&[f64])) {
        self.0.result(place, read);
    }

    fn turn(&mut self) {
        self.0.turn();
    }
}
