//! What the scheduler knows of tasks and processes.

use corecast_wire::simulated::{Stack, Task, WordId};
use std::time::Duration;

/// What happens to a whole process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blow {
    /// It is killed; the others hear after a random time.
    Kill,
    /// It runs another program: its ranks are gone, and it still has its number.
    Exec,
    /// It stops for this long.
    Stop(Duration),
}

/// How often tasks take turns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tempo {
    /// One access in so many ends a turn.
    pub(crate) accesses: u64,
    /// One sleeper in so many turns wakes without reason; 0 for none.
    pub(crate) spurious: u64,
    /// One turn in so many lasts for milliseconds; 0 for none.
    pub(crate) long: u64,
    /// A process that gets one turn in so many; others get all of theirs.
    pub(crate) slow: Option<(usize, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    Asleep(Option<WordId>, Option<u64>),
    Lingering,
    Ended,
}

pub(crate) struct Entry {
    pub(crate) task: Option<Task>,
    pub(crate) process: usize,
    pub(crate) state: State,
    pub(crate) panicking: bool,
    /// Whether its stack may be unwinding; it is not killed then, as nothing may unwind it a second time.
    pub(crate) unwinds: bool,
    /// Whether others wait for it; monitors are not waited for.
    pub(crate) counts: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    pub(crate) dead: bool,
    /// The same, known to the kernel.
    pub(crate) over: bool,
    pub(crate) stopped_until: u64,
    /// How many more times it gets memory; `None` for always.
    pub(crate) grants: Option<u64>,
    pub(crate) blows: Vec<Blow>,
}

pub(crate) struct Watched {
    pub(crate) id: u64,
    pub(crate) watcher: usize,
    pub(crate) pid: u32,
    pub(crate) shows_exec: bool,
    pub(crate) on_death: Option<Box<dyn FnOnce() + Send>>,
    pub(crate) due: Option<u64>,
}

/// Why a run was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// Nothing will ever happen again.
    Deadlock,
    /// Too many scheduling points.
    Steps,
    /// Too many scheduling points since the last fault was over.
    Calm,
    /// Too much virtual time.
    Time,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) tasks: Vec<Entry>,
    pub(crate) fresh: Vec<Entry>,
    pub(crate) processes: Vec<Process>,
    pub(crate) watches: Vec<Watched>,
    pub(crate) blows: Vec<(u64, usize, Blow)>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) tempo: Option<Tempo>,
    pub(crate) next_watch: u64,
    pub(crate) faults_over: u64,
}
