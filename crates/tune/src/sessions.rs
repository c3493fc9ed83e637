//! Runs races of teams of processes. Each set of algorithms, with a transfer path, has a session of processes, which stays
//! while it races.

use crate::hardware::{Replicate, bytes_max};
use crate::racer::{Contender, Form, RaceFailed, Racer, Subject, conditions};
use crate::sequential_test::SequentialTest;
use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::sized::Task;
use corecast_bench::{Entrant, Session};
use corecast_collectives::Algorithms;
use corecast_model::Collective;
use corecast_model::profile::Start;
use corecast_team::KernelCopies;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The part of a form that processes are launched with.
type Launched = (Algorithms, Option<KernelCopies>);

fn launched(form: &Form) -> Launched {
    (form.algorithms, form.kernel_copies)
}

/// A [`Racer`] whose teams are processes on given placements. It ignores plans and waits of contenders, since
/// processes find their own.
pub struct Sessions<'a> {
    placements: Vec<CpuPlacement>,
    start: Start,
    launch: &'a dyn Fn(&Form) -> Session,
    open: Vec<(Launched, Arc<Session>)>,
    begin: Instant,
    interrupted: &'a dyn Fn() -> bool,
}

impl<'a> Sessions<'a> {
    /// A racer with a rank on each of `placements`. `launch` makes a session whose team has a form's algorithms and path;
    /// `interrupted` is called between rounds and ends a race if it returns true.
    pub fn new(
        placements: Vec<CpuPlacement>,
        start: Start,
        launch: &'a dyn Fn(&Form) -> Session,
        interrupted: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            placements,
            start,
            launch,
            open: Vec::new(),
            begin: Instant::now(),
            interrupted,
        }
    }

    fn oversubscribed(&self) -> bool {
        cpu_placement::oversubscribed(&self.placements)
    }

    /// The session of this form, launched if there is none.
    fn session(&mut self, form: &Form) -> Arc<Session> {
        let mut open = self.open.iter();
        if let Some((_, session)) = open.find(|(asked, _)| *asked == launched(form)) {
            return Arc::clone(session);
        }
        let conditions = conditions(self.start, self.oversubscribed());
        let session = Arc::new((self.launch)(form).under(conditions));
        self.open.push((launched(form), Arc::clone(&session)));
        session
    }
}

impl Racer for Sessions<'_> {
    fn race(
        &mut self,
        subject: Subject,
        contenders: &[Contender],
        test: &mut SequentialTest,
        limit: Duration,
    ) -> Result<(), RaceFailed> {
        let task = match subject {
            Subject::Task(task) => task,
            // A session measures single operations, so it times the barrier alone.
            Subject::BarrierThenBroadcast { ranks } => Task {
                operation: Collective::Barrier,
                ranks,
                bytes: 0,
            },
        };
        // Sessions of other races end, since each has a process for each rank: all at once, as each end is some waits.
        let still = |asked: &Launched| contenders.iter().any(|c| launched(&c.form) == *asked);
        let ended = self.open.extract_if(.., |(asked, _)| !still(asked));
        std::thread::scope(|scope| {
            for (_, session) in ended {
                scope.spawn(move || drop(session));
            }
        });
        let placements = self.placements.clone();
        let replicate = Replicate {
            strict: self.start == Start::Together && !self.oversubscribed(),
            share: self.oversubscribed(),
            placements: &placements,
            limit,
            interrupted: self.interrupted,
        };
        replicate.hold(subject, contenders, test, |contender| {
            let session = self.session(&contender.form);
            Ok(Entrant::session(session, task))
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
