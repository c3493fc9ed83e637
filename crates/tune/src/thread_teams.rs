//! Teams of threads that race.

use crate::racer::{Contender, Subject};
use corecast_bench::sized::{Conditions, ELEMENT_BYTES, Library, Player, Task, Threads, Trial};
use corecast_bench::{Entrant, Role};
use corecast_model::Collective;
use corecast_team::Options;
use corecast_wire::WaitConfig;

/// Makes teams of threads, one for each contender of each replicate.
pub(crate) struct ThreadTeams {
    /// The options that every team has.
    options: Options,
}

impl ThreadTeams {
    pub(crate) fn new(options: Options) -> Self {
        Self { options }
    }

    /// The entrant of `contender`, with a team of so many ranks.
    pub(crate) fn entrant<'e>(
        &self,
        subject: Subject,
        contender: &Contender,
        conditions: Conditions,
    ) -> Result<Entrant<'e>, String> {
        let plans = &contender.form.plans;
        let usual = WaitConfig::for_team(plans.len(), self.options.usable());
        let own = contender.form.wait_config.or(self.options.wait_config);
        let options = Options {
            wait_config: Some(own.unwrap_or(usual)),
            algorithms: contender.form.algorithms,
            ..self.options.clone()
        };
        let team = |task| {
            // One team, since a replicate has a few rounds only, and each replicate has teams of its own.
            let threads = Threads::with_options(contender.name.clone(), task, plans, &options, 1);
            threads.map_err(|error| error.to_string())
        };
        Ok(match subject {
            Subject::Task(task) => Entrant::threads(Trial::new(team(task)?, task, conditions)),
            Subject::BarrierThenBroadcast { ranks } => {
                let both = BarrierThenBroadcast(team(Task {
                    operation: Collective::Broadcast,
                    ranks,
                    bytes: ELEMENT_BYTES,
                })?);
                let barrier = Task {
                    operation: Collective::Barrier,
                    ranks,
                    bytes: 0,
                };
                Entrant::threads(Trial::new(both, barrier, conditions.oversubscribed))
            }
        })
    }
}

/// A library whose barrier is a barrier and a broadcast of one element.
struct BarrierThenBroadcast(Threads);

impl Library for BarrierThenBroadcast {
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
