//! Teams of processes that race. Each set of algorithms, with a transfer path, has a session of processes, which stays
//! while it races.

use crate::racer::{Contender, Form, Subject};
use corecast_bench::sized::{Conditions, Task};
use corecast_bench::{Entrant, Session};
use corecast_collectives::Algorithms;
use corecast_model::Collective;
use corecast_team::KernelCopies;
use std::sync::Arc;

/// The part of a form that processes are launched with.
type Launched = (Algorithms, Option<KernelCopies>);

fn launched(form: &Form) -> Launched {
    (form.algorithms, form.kernel_copies)
}

/// The sessions of processes that are open.
pub(crate) struct Sessions<'a> {
    launch: &'a dyn Fn(&Form) -> Session,
    open: Vec<(Launched, Arc<Session>)>,
}

impl<'a> Sessions<'a> {
    /// `launch` makes a session whose team has a form's algorithms and path.
    pub(crate) fn new(launch: &'a dyn Fn(&Form) -> Session) -> Self {
        Self {
            launch,
            open: Vec::new(),
        }
    }

    /// Ends the sessions of all but `contenders`, since each has a process for each rank.
    pub(crate) fn end_others(&mut self, contenders: &[Contender]) {
        let still = |asked: &Launched| contenders.iter().any(|c| launched(&c.form) == *asked);
        let ended = self.open.extract_if(.., |(asked, _)| !still(asked));
        // All at once, as each end is some waits.
        std::thread::scope(|scope| {
            for (_, session) in ended {
                scope.spawn(move || drop(session));
            }
        });
    }

    /// The entrant of `form`, whose session is launched if there is none.
    pub(crate) fn entrant<'e>(
        &mut self,
        subject: Subject,
        form: &Form,
        conditions: Conditions,
    ) -> Entrant<'e> {
        let task = match subject {
            Subject::Task(task) => task,
            // A session measures single operations, so it times the barrier alone.
            Subject::BarrierThenBroadcast { ranks } => Task {
                operation: Collective::Barrier,
                ranks,
                bytes: 0,
            },
        };
        Entrant::session(self.session(form, conditions), task)
    }

    fn session(&mut self, form: &Form, conditions: Conditions) -> Arc<Session> {
        let mut open = self.open.iter();
        if let Some((_, session)) = open.find(|(asked, _)| *asked == launched(form)) {
            return Arc::clone(session);
        }
        let session = Arc::new((self.launch)(form).under(conditions));
        self.open.push((launched(form), Arc::clone(&session)));
        session
    }
}
