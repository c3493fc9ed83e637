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
//! | `check OPERATION COUNT ROUNDS SECONDS` | `ok`, or `ok ALGORITHM` from ranks that know which one they ran, or `wrong TEXT` |
//! | `time OPERATION COUNT PLACES WARM OPERATIONS LEAD COLD LOOSE SECONDS` | `times K` and K pairs of native 64-bit numbers: when each operation began on the system's monotonic clock and how long it took, in nanoseconds; for barriers and loose operations one pair for all together |
//!
//! Operations and buffers are those of [`crate::sized`]. COUNT is a number of doubles, WARM a number of operations
//! to warm up, and SECONDS the limit of the order. LEAD is how many nanoseconds ahead the root names a common
//! start, 0 for none; COLD is how many bytes of other memory each rank goes through before an operation. LOOSE is 1
//! if operations run back to back, with neither a start nor a barrier between them, and 0 otherwise.
//!
//! When a rank takes longer than the session's limit, all processes that the starter has started are killed. The
//! next order launches them anew; after [`KILLS_MAX`] kills the session is given up.

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
use crate::scratch::Scratch;
use crate::sized::{Conditions, RankTimes, Stamp, Task, sum_of_maxima};
use answer::RankAnswer;
use corecast_model::Collective;
use running::Running;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Default limit of one order. A launch may always take this long.
pub const LIMIT: Duration = Duration::from_secs(10);

/// Times that a session is killed before it is given up.
pub const KILLS_MAX: u32 = 3;

/// Most operations of one order: the answer carries the times of all.
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
    /// The folder of the program, kept until the session has ended.
    _home: Option<Arc<Scratch>>,
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
    /// Number of operations.
    pub operations: u64,
    /// Times that the ranks saw.
    pub rank_times: Option<RankTimes>,
}

impl Session {
    /// Creates a session, whose processes start with its first order.
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

    /// Sets the limit of each order, which is at least a second.
    #[must_use]
    pub fn limited(mut self, limit: Duration) -> Session {
        self.limit = limit.max(Duration::from_secs(1));
        self
    }

    /// Sets the conditions under which operations are timed.
    #[must_use]
    pub fn under(mut self, conditions: Conditions) -> Session {
        self.conditions = conditions;
        self
    }

    /// Marks the session as Corecast's own instead of a peer's.
    #[must_use]
    pub fn own(mut self) -> Session {
        self.role = Role::Corecast;
        self
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    pub(crate) fn keeping(mut self, home: Arc<Scratch>) -> Session {
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

    /// Process identifiers of the ranks, by rank; none before the first order and after a kill.
    pub fn pids(&self) -> Vec<i32> {
        let state = self.lock();
        state.running.as_ref().map_or(Vec::new(), Running::pids)
    }

    /// Lets the ranks check the results of `rounds` operations. Returns the algorithm that they ran, if they say which.
    ///
    /// # Errors
    ///
    /// [`SessionError::Wrong`] if a result is wrong, or ranks say that they ran different algorithms; other errors if
    /// there are no results.
    pub fn check(&self, task: &Task, rounds: u64) -> Result<Option<String>, SessionError> {
        let order = format!(
            "check {} {} {rounds} {}\n",
            task.operation,
            task.count(),
            self.seconds()
        );
        let mut algorithms = Vec::new();
        for answer in self.order(&order)? {
            match answer {
                RankAnswer::Right(algorithm) => algorithms.push(algorithm),
                RankAnswer::Times(_) => return Err(self.confused(&order)),
            }
        }
        algorithms.dedup();
        match &algorithms[..] {
            [one] => Ok(one.clone()),
            all => Err(SessionError::Wrong(format!(
                "the ranks ran different algorithms: {all:?}"
            ))),
        }
    }

    /// Lets the ranks time `operations` operations, but at most 131,072, after a sixteenth as many to
    /// warm up.
    ///
    /// # Errors
    ///
    /// [`SessionError`] if the order is not carried out.
    pub fn time(&self, task: &Task, operations: u64) -> Result<Timed, SessionError> {
        let operations = operations.clamp(1, OPERATIONS_MAX);
        let order = format!(
            "time {} {} {} {} {operations} {} {} {} {}\n",
            task.operation,
            task.count(),
            task.places(),
            operations / 16,
            self.conditions.lead_ns(),
            self.conditions.cold_bytes,
            u8::from(self.conditions.is_loose()),
            self.seconds()
        );
        let mut logs: Vec<Vec<Stamp>> = Vec::new();
        for answer in self.order(&order)? {
            match answer {
                RankAnswer::Times(times) => logs.push(times),
                RankAnswer::Right(_) => return Err(self.confused(&order)),
            }
        }
        let slices: Vec<&[Stamp]> = logs.iter().map(|log| &log[..]).collect();
        let back_to_back = self.conditions.is_loose() || task.operation == Collective::Barrier;
        Ok(Timed {
            took: Duration::from_nanos(sum_of_maxima(&slices)),
            operations,
            rank_times: RankTimes::of(&slices, operations, back_to_back),
        })
    }

    /// Limit of an order in seconds as the ranks get it: later than the limit here, where the error can
    /// say more.
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
        // A panic under the lock leaves at worst a session that the next order finds lost.
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
            // The ranks are out of step now; dropping `running` ends them.
            Err(error @ (SessionError::Wrong(_) | SessionError::Interrupted)) => Err(error),
            Err(error) => {
                state.kills += 1;
                Err(error)
            }
        }
    }
}
