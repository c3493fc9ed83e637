//! Peers in processes that stay for the whole race and measure on request.
//!
//! A session is one launch of a starter such as `mpirun`, which brings up one process for each
//! rank. Every rank connects to a socket in a folder made for the session and says
//!
//! ```text
//! rank R N PID
//! ```
//!
//! and then sleeps in a read until all ranks get the same order, so that contestants take turns in
//! one run and those that wait use no CPU, however eagerly they poll inside their library:
//!
//! | order | answer of each rank |
//! | --- | --- |
//! | `check OPERATION COUNT ROUNDS SECONDS` | `ok`, or `wrong TEXT` |
//! | `time OPERATION COUNT PLACES WARM OPERATIONS LEAD COLD SECONDS` | `times K` and K pairs of native 64-bit numbers: when each operation began on the system's monotonic clock and how long it took, in nanoseconds; of barriers one pair, for all |
//!
//! Operations and buffers are those of [`crate::sized`]; COUNT is in doubles, LEAD how many nanoseconds before
//! it a common start is agreed on, 0 for none, and COLD how many bytes of other memory each rank goes through
//! before. A rank that takes
//! longer than the session's limit is killed with everything that the starter has started; the next
//! order launches anew, and after [`KILLS_MAX`] of these nobody tries any more.

mod answer;
mod error;
mod launch;
mod processes;
mod rank;
mod running;

pub use error::SessionError;
pub use launch::{FOLDER, Launch};
pub use rank::serve;

use crate::engine::Role;
use crate::sized::{Conditions, Operation, RankTimes, Stamp, Task, sum_of_maxima};
use answer::RankAnswer;
use running::Running;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// Time that one order may take unless set otherwise, and a launch at least.
pub const LIMIT: Duration = Duration::from_secs(10);

/// Times that a session is killed before it is given up.
pub const KILLS_MAX: u32 = 3;

/// Most operations of one order, whose times travel in its answer.
const OPERATIONS_MAX: u64 = 1 << 17;

/// A peer whose processes stay. They end when it is dropped.
#[derive(Debug)]
pub struct Session {
    name: String,
    setting: String,
    launch: Launch,
    limit: Duration,
    conditions: Conditions,
    role: Role,
    /// Keeps the program until the session has ended.
    _home: Option<Arc<TempDir>>,
    state: Mutex<SessionState>,
}

#[derive(Debug, Default)]
struct SessionState {
    running: Option<Running>,
    kills: u32,
}

/// A batch of operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// The sum of their latencies, each the slowest rank's.
    pub took: Duration,
    /// How many they were.
    pub operations: u64,
    /// What each rank saw.
    pub rank_times: Option<RankTimes>,
}

impl Session {
    /// A session that starts with its first order.
    pub fn new(name: impl Into<String>, setting: impl Into<String>, launch: Launch) -> Session {
        Session {
            name: name.into(),
            setting: setting.into(),
            conditions: launch.oversubscribed.into(),
            launch,
            limit: LIMIT,
            role: Role::Peer,
            _home: None,
            state: Mutex::default(),
        }
    }

    /// The same with another limit for each order, at least a second.
    #[must_use]
    pub fn limited(mut self, limit: Duration) -> Session {
        self.limit = limit.max(Duration::from_secs(1));
        self
    }

    /// The same under other conditions than the usual ones.
    #[must_use]
    pub fn under(mut self, conditions: Conditions) -> Session {
        self.conditions = conditions;
        self
    }

    /// One of Corecast's own.
    #[must_use]
    pub fn own(mut self) -> Session {
        self.role = Role::Corecast;
        self
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    pub(crate) fn keeping(mut self, home: Arc<TempDir>) -> Session {
        self._home = Some(home);
        self
    }

    /// Name in the comparison.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is set up, as a line that lets others repeat it.
    pub fn setting(&self) -> &str {
        &self.setting
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.launch.ranks
    }

    /// Processes of the ranks, by rank; none before the first order and after a kill.
    pub fn pids(&self) -> Vec<i32> {
        let state = self.lock();
        state.running.as_ref().map_or(Vec::new(), Running::pids)
    }

    /// Has the results of `rounds` operations looked at.
    ///
    /// # Errors
    ///
    /// [`SessionError::Wrong`] if one is wrong, others if there are no results.
    pub fn check(&self, task: &Task, rounds: u64) -> Result<(), SessionError> {
        let order = format!(
            "check {} {} {rounds} {}\n",
            task.operation,
            task.count(),
            self.seconds()
        );
        for answer in self.order(&order)? {
            if let RankAnswer::Times(_) = answer {
                return Err(self.confused(&order));
            }
        }
        Ok(())
    }

    /// Has `operations` operations timed, or 131,072 if these are fewer, after a sixteenth of them to
    /// warm up.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub fn time(&self, task: &Task, operations: u64) -> Result<Timed, SessionError> {
        let operations = operations.clamp(1, OPERATIONS_MAX);
        let order = format!(
            "time {} {} {} {} {operations} {} {} {}\n",
            task.operation,
            task.count(),
            task.places(),
            operations / 16,
            self.conditions.lead_ns(),
            self.conditions.cold_bytes,
            self.seconds()
        );
        let mut logs: Vec<Vec<Stamp>> = Vec::new();
        for answer in self.order(&order)? {
            match answer {
                RankAnswer::Times(times) => logs.push(times),
                RankAnswer::Right => return Err(self.confused(&order)),
            }
        }
        let slices: Vec<&[Stamp]> = logs.iter().map(|log| &log[..]).collect();
        let back_to_back = task.operation == Operation::Barrier;
        Ok(Timed {
            took: Duration::from_nanos(sum_of_maxima(&slices)),
            operations,
            rank_times: RankTimes::of(&slices, operations, back_to_back),
        })
    }

    /// Limit of an order as the ranks know it: later than here, where more can be said.
    fn seconds(&self) -> u64 {
        self.limit.as_secs() + 2
    }

    fn confused(&self, order: &str) -> SessionError {
        SessionError::Lost {
            what: format!("the answer does not fit {order:?}"),
            said: self.name.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        // A panic in between leaves at worst a session that the next order finds lost.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives all ranks the same order and returns their answers, by rank.
    fn order(&self, order: &str) -> Result<Vec<RankAnswer>, SessionError> {
        let mut state = self.lock();
        if state.kills >= KILLS_MAX {
            return Err(SessionError::GivenUp(state.kills));
        }
        let mut running = match state.running.take() {
            Some(running) => running,
            None => Running::launch(&self.launch, self.limit.max(LIMIT))
                .inspect_err(|_| state.kills += 1)?,
        };
        match running.obey(order, self.limit) {
            Ok(answers) => {
                state.running = Some(running);
                Ok(answers)
            }
            // Its ranks are at different places now; dropping them kills all.
            Err(error @ SessionError::Wrong(_)) => Err(error),
            Err(error) => {
                state.kills += 1;
                Err(error)
            }
        }
    }
}
