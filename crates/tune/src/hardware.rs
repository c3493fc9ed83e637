//! Races of teams of threads on this machine, by the engines of [`corecast_bench`].

use crate::judge::Judge;
use crate::racer::{Contender, RaceFailed, Racer, Subject, Synchrony};
use corecast_bench::race::{self, Ruling};
use corecast_bench::seat::{self, Seat};
use corecast_bench::sized::{Library, Operation, Player, Task, Threads, Trial};
use corecast_bench::{Entrant, Role, Settings, Status};
use corecast_team::Options;
use corecast_wire::Policy;
use std::time::{Duration, Instant};

/// Bytes of buffers of one contender beyond which it does not race: several race at a time.
const FOOTPRINT_MAX: usize = 512 << 20;

/// Operations that are checked before one is timed; `CHECKS_LONG` for data from `LONG_BYTES` on.
const CHECKS: u64 = 16;
const CHECKS_LONG: u64 = 2;
const LONG_BYTES: usize = 256 << 10;

/// Time that the operations of a batch should take together. Each of short ones also waits for its start, ten
/// times as long as it takes.
const BATCH_SHORT: Duration = Duration::from_micros(60);
const BATCH: Duration = Duration::from_micros(300);

/// Rounds that do not count.
const WARM_UP_ROUNDS: usize = 1;

/// Teams of threads on given seats.
pub struct Hardware<'a> {
    seats: Vec<Seat>,
    /// Hardware threads that the ranks share.
    usable: usize,
    synchrony: Synchrony,
    options: Options,
    begin: Instant,
    interrupted: &'a dyn Fn() -> bool,
}

impl<'a> Hardware<'a> {
    /// A rank on each of `seats`, which are `usable` hardware threads together. `options` are those that teams
    /// have here whatever is tuned; `interrupted` is asked between rounds.
    pub fn new(
        seats: Vec<Seat>,
        usable: usize,
        synchrony: Synchrony,
        options: Options,
        interrupted: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            seats,
            usable,
            synchrony,
            options,
            begin: Instant::now(),
            interrupted,
        }
    }

    fn crowded(&self) -> bool {
        self.seats.len() > self.usable || seat::oversubscribed(&self.seats)
    }

    fn options(&self, contender: &Contender) -> Options {
        let usual = Policy::for_team(self.seats.len(), self.usable);
        let own = contender.form.policy.or(self.options.policy);
        Options {
            policy: Some(own.unwrap_or(usual)),
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
                operation: Operation::Broadcast,
                ranks,
                bytes: corecast_bench::sized::ELEMENT_BYTES,
            },
        };
        let teams = Threads::with_options(name, task, &contender.form.plans, &options);
        let teams = teams.map_err(|error| error.to_string())?;
        Ok(match subject {
            Subject::Task(task) => {
                let trial = Trial::new(teams, task, self.crowded());
                match self.synchrony {
                    Synchrony::Strict => Entrant::threads(trial),
                    Synchrony::Loose => Entrant::threads(trial.loose()),
                }
            }
            Subject::BarrierThenBroadcast { ranks } => {
                let barrier = Task {
                    operation: Operation::Barrier,
                    ranks,
                    bytes: 0,
                };
                Entrant::threads(Trial::new(Both(teams), barrier, self.crowded()))
            }
        })
    }
}

/// How a race is measured; `waits` if each operation waits for its start.
fn settings(subject: Subject, waits: bool, limit: Duration) -> Settings {
    let long = subject.bytes() > LONG_BYTES;
    Settings {
        batch: match waits && !long {
            true => BATCH_SHORT,
            false => BATCH,
        },
        verify_rounds: if long { CHECKS_LONG } else { CHECKS },
        warm_up_rounds: WARM_UP_ROUNDS,
        rounds_min: 1,
        rounds_max: usize::MAX,
        // The judge says when it is enough.
        precision: 0.0,
        budget: limit,
        ..Settings::default()
    }
}

/// Placement and time limit of a replicate.
pub(crate) struct Heat<'a> {
    pub(crate) seats: &'a [Seat],
    /// Whether operations begin at one instant.
    pub(crate) strict: bool,
    pub(crate) limit: Duration,
    pub(crate) interrupted: &'a dyn Fn() -> bool,
}

impl Heat<'_> {
    /// Holds it between the contenders that are still racing, whom `entrant` makes: each time another one first, as memory goes to
    /// who comes first.
    pub(crate) fn hold<'e>(
        &self,
        subject: Subject,
        contenders: &[Contender],
        judge: &mut Judge,
        mut entrant: impl FnMut(&Contender) -> Result<Entrant<'e>, String>,
    ) -> Result<(), RaceFailed> {
        let mut racing = judge.racing();
        let turn = judge.heats() as usize % racing.len().max(1);
        racing.rotate_left(turn);
        let entrants: Vec<Entrant<'e>> = racing
            .iter()
            .map(|&at| {
                let absent = |reason| Entrant::absent(contenders[at].name.clone(), "", reason);
                entrant(&contenders[at]).unwrap_or_else(absent)
            })
            .collect();
        let waits = self.strict && subject.operation() != Operation::Barrier;
        let settings = settings(subject, waits, self.limit);
        let title = subject.to_string();
        let ruling = |samples: &[Option<f64>]| {
            let mut of_all = vec![None; contenders.len()];
            for (&at, sample) in racing.iter().zip(samples) {
                of_all[at] = *sample;
            }
            let out = judge.round(&of_all);
            let place = |at: &usize| racing.iter().position(|one| one == at);
            Ruling {
                out: out.iter().filter_map(place).collect(),
                over: judge.over() || (self.interrupted)(),
            }
        };
        let comparison = race::run_judged(&title, self.seats, &settings, &entrants, |_| {}, ruling);
        let comparison = comparison.map_err(|error| RaceFailed {
            subject: title,
            reason: error.to_string(),
        })?;
        for (entry, &at) in comparison.entries.iter().zip(&racing) {
            match &entry.status {
                Status::Failed(reason) | Status::Skipped(reason) => judge.fail(at, reason.clone()),
                Status::Pending => judge.fail(at, "it was not timed".to_owned()),
                Status::Timed => {}
            }
        }
        Ok(())
    }
}

/// Largest power of two of bytes at which the buffers of `operation` fit memory.
pub(crate) fn bytes_max(operation: Operation, ranks: usize) -> usize {
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
        judge: &mut Judge,
        limit: Duration,
    ) -> Result<(), RaceFailed> {
        let heat = Heat {
            seats: &self.seats,
            strict: self.synchrony == Synchrony::Strict && !self.crowded(),
            limit,
            interrupted: self.interrupted,
        };
        heat.hold(subject, contenders, judge, |contender| {
            self.entrant(subject, contender)
        })
    }

    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    fn interrupted(&self) -> bool {
        (self.interrupted)()
    }

    fn bytes_max(&self, operation: Operation) -> usize {
        bytes_max(operation, self.seats.len())
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
