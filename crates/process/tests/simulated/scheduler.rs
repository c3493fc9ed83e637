//! The scheduler of a simulation: tasks, virtual time, and faults that strike at a scheduling point.

use super::random::Random;
use super::state::{Blow, Entry, Inner, Process, State, Stuck, Tempo, Watched};
use corecast_wire::simulated::{self, Point, Scheduler, Stack, Task, WordId};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// The first process number: beyond those of any kernel, so that nothing real is found by one.
const FIRST_PID: u32 = 1 << 30;

/// Scheduling points in which a run must end.
const STEPS_MAX: u64 = 8_000_000;

/// Scheduling points in which all must end after the last fault is over.
const CALM_STEPS_MAX: u64 = 4_000_000;

/// Virtual time in which all must end after the last fault is over.
const TIME_MAX: Duration = Duration::from_secs(100);

/// Scheduling points in which the stacks of dead tasks must be unwound.
const UNWIND_STEPS_MAX: u64 = 2_000_000;

/// The scheduler of all simulations of one thread.
pub(crate) struct Sim {
    random: Random,
    seed: Cell<u64>,
    steps: Cell<u64>,
    now: Cell<u64>,
    current: Cell<usize>,
    accesses: Cell<u64>,
    next_blow: Cell<u64>,
    /// The number of the scheduling point before which the tempo does not change.
    calm_from: Cell<u64>,
    /// The number of the scheduling point at which the last fault was over.
    calm_since: Cell<Option<u64>>,
    unwinding: Cell<bool>,
    /// Whether tasks only say where they are.
    telling: Cell<bool>,
    /// Times at which nothing but the limit of a sleep made anybody go on.
    rescued: Cell<u64>,
    /// [`calm`](Self::calm) at the end of the run.
    calm_steps: Cell<Option<u64>>,
    inner: RefCell<Inner>,
}

thread_local! {
    static SIM: &'static Sim = Box::leak(Box::new(Sim::new()));
}

/// The scheduler of this thread.
pub(crate) fn sim() -> &'static Sim {
    SIM.with(|sim| *sim)
}

impl Sim {
    fn new() -> Self {
        Self {
            random: Random::new(&[]),
            seed: Cell::new(0),
            steps: Cell::new(0),
            now: Cell::new(0),
            current: Cell::new(usize::MAX),
            accesses: Cell::new(1),
            next_blow: Cell::new(u64::MAX),
            calm_from: Cell::new(0),
            calm_since: Cell::new(None),
            unwinding: Cell::new(false),
            telling: Cell::new(false),
            rescued: Cell::new(0),
            calm_steps: Cell::new(None),
            inner: RefCell::default(),
        }
    }

    /// Begins a simulation of `processes`.
    pub(crate) fn begin(&'static self, seed: u64, processes: usize, tempo: Tempo) {
        self.random.reseed(&[seed, 77]);
        self.seed.set(seed);
        self.steps.set(0);
        self.now.set(0);
        self.accesses.set(tempo.accesses);
        self.next_blow.set(u64::MAX);
        self.calm_from.set(Random::new(&[seed, 78]).spread(15));
        self.calm_since.set(None);
        self.rescued.set(0);
        let mut inner = self.inner.borrow_mut();
        let stacks = std::mem::take(&mut inner.stacks);
        *inner = Inner {
            processes: vec![Process::default(); processes],
            tempo: Some(tempo),
            stacks,
            ..Inner::default()
        };
        drop(inner);
        simulated::set_scheduler(Some(self));
    }

    /// A blow that strikes a process at the scheduling point with this number.
    pub(crate) fn plan_blow(&self, step: u64, process: usize, blow: Blow) {
        self.inner.borrow_mut().blows.push((step, process, blow));
        self.next_blow.set(self.next_blow.get().min(step));
    }

    /// Lets a process have memory only so many times.
    pub(crate) fn limit_memory(&self, process: usize, grants: u64) {
        self.inner.borrow_mut().processes[process].grants = Some(grants);
    }

    /// The blows that have struck, by process.
    pub(crate) fn struck(&self) -> Vec<Vec<Blow>> {
        let inner = self.inner.borrow();
        inner.processes.iter().map(|it| it.blows.clone()).collect()
    }

    /// Whether a process was refused memory.
    pub(crate) fn was_refused(&self, process: usize) -> bool {
        self.inner.borrow().processes[process].grants == Some(0)
    }

    /// Whether the stacks of dead tasks are being unwound.
    pub(crate) fn unwinds(&self) -> bool {
        self.unwinding.get()
    }

    /// The scheduling points of the second phase, if the run has come to it.
    pub(crate) fn calm_steps(&self) -> Option<u64> {
        self.calm_steps.get()
    }

    pub(crate) fn rescued(&self) -> u64 {
        self.rescued.get()
    }

    /// Scheduling points since the last fault was over, if it is.
    fn calm(&self) -> Option<u64> {
        let since = self.calm_since.get()?;
        Some(self.steps.get() - since)
    }

    /// A fault of a program strikes now.
    pub(crate) fn goes_wrong(&self) {
        if self.calm_since.get().is_some() {
            self.calm_since.set(Some(self.steps.get()));
        }
    }

    /// Ends the first phase, in which anything may be slow or go wrong, and checks that the second one ends.
    fn calm_down(&self) -> Result<(), Stuck> {
        match self.calm() {
            Some(steps) if steps > CALM_STEPS_MAX => return Err(Stuck::Calm),
            Some(_) => return Ok(()),
            None => {}
        }
        let mut inner = self.inner.borrow_mut();
        let over = self.next_blow.get() == u64::MAX && inner.faults_over <= self.now.get();
        if over && self.steps.get() >= self.calm_from.get() {
            self.calm_since.set(Some(self.steps.get()));
            let tempo = inner.tempo.as_mut().expect("a simulation has begun");
            (tempo.long, tempo.slow) = (0, None);
        }
        Ok(())
    }

    pub(crate) fn pid(process: usize) -> u32 {
        FIRST_PID + process as u32
    }

    /// A new task of a process.
    pub(crate) fn spawn(&self, process: usize, body: impl FnOnce() + 'static) {
        self.spawn_as(process, true, body);
    }

    fn spawn_as(&self, process: usize, counts: bool, body: impl FnOnce() + 'static) {
        let mut inner = self.inner.borrow_mut();
        let stack = inner.stacks.pop();
        let stack = stack.unwrap_or_else(|| Stack::new().expect("no memory for a stack"));
        inner.fresh.push(Entry {
            task: Some(Task::new(stack, body)),
            process,
            state: State::Ready,
            panicking: false,
            unwinds: false,
            counts,
        });
    }

    /// The running task waits until all others that do not linger have ended.
    pub(crate) fn linger(&self) {
        if !self.unwinding.get() {
            self.set_state(State::Lingering);
            self.give_turn();
        }
    }

    /// The running task has caught its panic.
    pub(crate) fn has_caught(&self) {
        self.set_panicking(false);
    }

    /// The running task has begun to panic.
    pub(crate) fn panics(&self) {
        self.set_panicking(true);
    }

    fn set_panicking(&self, panicking: bool) {
        let current = self.current.get();
        if let Some(entry) = self.inner.borrow_mut().tasks.get_mut(current) {
            entry.panicking = panicking;
        }
    }

    fn set_state(&self, state: State) {
        self.inner.borrow_mut().tasks[self.current.get()].state = state;
    }

    /// Ends the running task's turn.
    fn give_turn(&self) {
        if std::thread::panicking() {
            let current = self.current.get();
            self.inner.borrow_mut().tasks[current].unwinds = true;
            simulated::suspend();
            self.inner.borrow_mut().tasks[current].unwinds = false;
        } else {
            simulated::suspend();
        }
        if self.telling.get() {
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
            simulated::suspend();
        }
    }

    /// Runs until all tasks have ended that can, and unwinds those of dead processes. Returns the number of scheduling
    /// points too.
    pub(crate) fn run(&'static self) -> (Result<(), Stuck>, u64) {
        let ran = self.run_all();
        let steps = self.steps.get();
        self.calm_steps.set(self.calm());
        match &ran {
            Ok(()) => self.unwind_dead(),
            // Where tasks hang, nobody knows whether they can be unwound.
            Err(_) => {
                if std::env::var_os("CORECAST_REPLAY").is_some() {
                    self.tell_where();
                }
                let tasks = std::mem::take(&mut self.inner.borrow_mut().tasks);
                std::mem::forget(tasks);
            }
        }
        simulated::set_scheduler(None);
        let watches = std::mem::take(&mut self.inner.borrow_mut().watches);
        drop(watches);
        (ran, steps)
    }

    fn run_all(&'static self) -> Result<(), Stuck> {
        loop {
            self.calm_down()?;
            self.let_time_act();
            let Some(next) = self.choose()? else {
                return Ok(());
            };
            let task = self.inner.borrow_mut().tasks[next].task.take();
            let mut task = task.expect("a task that runs has not ended");
            self.current.set(next);
            let ended = task.resume();
            self.current.set(usize::MAX);
            let mut inner = self.inner.borrow_mut();
            if ended {
                inner.tasks[next].state = State::Ended;
                inner.stacks.push(task.into_stack());
            } else {
                inner.tasks[next].task = Some(task);
            }
            drop(inner);
            if self.steps.get() > STEPS_MAX {
                return Err(Stuck::Steps);
            }
        }
    }

    /// What is due by now: news of deaths, ends of sleeps.
    fn let_time_act(&'static self) {
        let now = self.now.get();
        let mut inner = self.inner.borrow_mut();
        let mut told = Vec::new();
        for watched in &mut inner.watches {
            if watched.due.is_some_and(|due| due <= now)
                && let Some(on_death) = watched.on_death.take()
            {
                told.push((watched.watcher, on_death));
            }
        }
        let fresh = std::mem::take(&mut inner.fresh);
        inner.tasks.extend(fresh);
        for entry in &mut inner.tasks {
            if let State::Asleep(_, Some(until)) = entry.state
                && until <= now
            {
                entry.state = State::Ready;
            }
        }
        drop(inner);
        for (watcher, on_death) in told {
            self.spawn_as(watcher, false, on_death);
        }
        let mut inner = self.inner.borrow_mut();
        let fresh = std::mem::take(&mut inner.fresh);
        inner.tasks.extend(fresh);
    }

    /// The task that runs next; `None` if all that count have ended.
    fn choose(&'static self) -> Result<Option<usize>, Stuck> {
        let random = &self.random;
        loop {
            let now = self.now.get();
            let mut guard = self.inner.borrow_mut();
            let inner = &mut *guard;
            let tempo = inner.tempo.expect("a simulation has begun");
            let mut ready: [usize; 64] = [0; 64];
            let (mut count, mut slow_count) = (0, 0);
            let (mut waits, mut lingers) = (false, false);
            let mut next_event = u64::MAX;
            // Whether nobody sleeps for a time, so that something must happen soon.
            let mut by_limit = true;
            for (index, entry) in inner.tasks.iter().enumerate() {
                let process = &inner.processes[entry.process];
                if process.dead || entry.state == State::Ended {
                    continue;
                }
                match entry.state {
                    State::Lingering => lingers = true,
                    _ if entry.counts => waits = true,
                    _ => {}
                }
                if process.stopped_until > now {
                    next_event = next_event.min(process.stopped_until);
                    by_limit = false;
                    continue;
                }
                match entry.state {
                    State::Ready if count < ready.len() => {
                        ready[count] = index;
                        count += 1;
                        if tempo.slow.is_some_and(|(slow, _)| slow == entry.process) {
                            slow_count += 1;
                        }
                    }
                    State::Asleep(word, Some(until)) => {
                        next_event = next_event.min(until);
                        by_limit &= word.is_some();
                    }
                    _ => {}
                }
            }
            if !waits && lingers {
                for entry in &mut inner.tasks {
                    if entry.state == State::Lingering {
                        entry.state = State::Ready;
                    }
                }
                continue;
            }
            if !waits && !lingers {
                return Ok(None);
            }
            for watched in &inner.watches {
                if watched.on_death.is_some()
                    && let Some(due) = watched.due
                    && !inner.processes[watched.watcher].dead
                {
                    next_event = next_event.min(due);
                    by_limit = false;
                }
            }
            if count == 0 {
                if next_event == u64::MAX {
                    return Err(Stuck::Deadlock);
                }
                let limit = TIME_MAX.as_nanos() as u64 + inner.faults_over;
                if next_event > limit {
                    return Err(Stuck::Time);
                }
                if by_limit {
                    self.rescued.set(self.rescued.get() + 1);
                }
                self.now.set(self.now.get().max(next_event));
                drop(guard);
                self.let_time_act();
                return self.choose();
            }
            if tempo.spurious > 0 && random.once_in(tempo.spurious) {
                let at = random.index(inner.tasks.len());
                if matches!(inner.tasks[at].state, State::Asleep(Some(_), _)) {
                    inner.tasks[at].state = State::Ready;
                }
            }
            if tempo.long > 0 && random.once_in(tempo.long) {
                self.now.set(now + 1_000_000 + random.spread(26));
            }
            let ready = &ready[..count];
            let mut chosen = random.pick(ready);
            if let Some((slow, times)) = tempo.slow
                && slow_count < count
            {
                while inner.tasks[chosen].process == slow && !random.once_in(times) {
                    chosen = random.pick(ready);
                }
            }
            return Ok(Some(chosen));
        }
    }

    /// Lets blows strike that are due. Returns whether the running task is gone.
    #[cold]
    fn strike(&self) -> bool {
        let steps = self.steps.get();
        let random = &self.random;
        let mut guard = self.inner.borrow_mut();
        let inner = &mut *guard;
        let (due, mut later): (Vec<_>, Vec<_>) = std::mem::take(&mut inner.blows)
            .into_iter()
            .partition(|(step, ..)| *step <= steps);
        let now = self.now.get();
        for (_, process, blow) in due {
            if inner.processes[process].dead {
                continue;
            }
            let current = self.current.get();
            let in_the_way = inner.tasks.iter().enumerate().any(|(index, entry)| {
                entry.process == process
                    && (entry.unwinds || (index == current && std::thread::panicking()))
            });
            if in_the_way && !matches!(blow, Blow::Stop(_)) {
                later.push((steps + 50, process, blow));
                continue;
            }
            inner.processes[process].blows.push(blow);
            match blow {
                Blow::Stop(time) => {
                    inner.processes[process].stopped_until = now + time.as_nanos() as u64;
                    let over = now + time.as_nanos() as u64;
                    inner.faults_over = inner.faults_over.max(over);
                }
                Blow::Kill => {
                    inner.processes[process].dead = true;
                    inner.processes[process].over = true;
                    for watched in &mut inner.watches {
                        if watched.pid == Self::pid(process) {
                            watched.due = Some(now + random.spread(27));
                        }
                    }
                    inner.faults_over = inner.faults_over.max(now + (1 << 27));
                }
                Blow::Exec => {
                    inner.processes[process].dead = true;
                    for watched in &mut inner.watches {
                        if watched.pid == Self::pid(process) && watched.shows_exec {
                            watched.due = Some(now + random.spread(27));
                        }
                    }
                    inner.faults_over = inner.faults_over.max(now + (1 << 27));
                }
            }
        }
        inner.blows = later;
        let next = inner.blows.iter().map(|(step, ..)| *step).min();
        self.next_blow.set(next.unwrap_or(u64::MAX));
        match inner.tasks.get(self.current.get()) {
            Some(entry) => {
                let process = &inner.processes[entry.process];
                process.dead || process.stopped_until > now
            }
            None => false,
        }
    }

    /// Prints the stacks of all tasks that have not ended.
    fn tell_where(&self) {
        self.telling.set(true);
        let count = self.inner.borrow().tasks.len();
        for index in 0..count {
            let task = self.inner.borrow_mut().tasks[index].task.take();
            if let Some(mut task) = task {
                self.current.set(index);
                eprintln!("task {index}:");
                task.resume();
                self.inner.borrow_mut().tasks[index].task = Some(task);
            }
        }
        self.telling.set(false);
    }

    /// Unwinds what the tasks of dead processes have on their stacks.
    fn unwind_dead(&self) {
        self.unwinding.set(true);
        self.steps.set(0);
        while self.unwind_one() {}
        self.unwinding.set(false);
    }

    /// Unwinds one task; `false` if there is none.
    fn unwind_one(&self) -> bool {
        let entry = self.inner.borrow_mut().tasks.pop();
        let Some(entry) = entry else {
            return false;
        };
        if let Some(task) = entry.task {
            let stack = task.into_stack();
            self.inner.borrow_mut().stacks.push(stack);
        }
        true
    }
}

impl Scheduler for Sim {
    #[inline]
    fn point(&self, point: Point) {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if self.unwinding.get() {
            // Whoever holds the mutex has not been unwound yet.
            if point == Point::Blocked && self.unwind_one() {
                return;
            }
            if steps > UNWIND_STEPS_MAX {
                let seed = self.seed.get();
                eprintln!("CORECAST_REPLAY={seed}: a stack cannot be unwound");
                eprintln!("{}", std::backtrace::Backtrace::force_capture());
                std::process::abort();
            }
            return;
        }
        let word = self.random.next();
        let (time, mut ends) = match point {
            Point::Access => (
                1 + (word & 15),
                (word >> 32).is_multiple_of(self.accesses.get()),
            ),
            Point::Spin => (40 + (word & 255), (word >> 32) & 1 == 0),
            Point::Yield => (200 + (word & 2047), true),
            Point::Blocked => (200 + (word & 2047), true),
        };
        // Where ranks poll for long, time goes by faster, so that limits come within a number of steps.
        let time = match point {
            Point::Access => time,
            _ => time * (1 + (steps >> 12)),
        };
        self.now.set(self.now.get() + time);
        if steps >= self.next_blow.get() {
            ends |= self.strike();
        }
        if ends && self.current.get() != usize::MAX {
            self.give_turn();
        }
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.now.get())
    }

    fn sleep(&self, word: Option<WordId>, limit: Option<Duration>) {
        if self.unwinding.get() || self.current.get() == usize::MAX {
            self.now
                .set(self.now.get() + limit.map_or(0, |it| it.as_nanos() as u64));
            return;
        }
        let until = limit.map(|limit| self.now.get() + limit.as_nanos() as u64);
        self.set_state(State::Asleep(word, until));
        self.give_turn();
    }

    fn wake(&self, word: WordId, count: usize) {
        let mut inner = self.inner.borrow_mut();
        let asleep =
            |entry: &&mut Entry| matches!(entry.state, State::Asleep(Some(on), _) if on == word);
        for entry in inner.tasks.iter_mut().filter(asleep).take(count) {
            entry.state = State::Ready;
        }
    }

    fn is_panicking(&self) -> bool {
        let inner = self.inner.borrow();
        inner
            .tasks
            .get(self.current.get())
            .is_some_and(|entry| entry.panicking)
    }

    fn process(&self) -> u32 {
        let inner = self.inner.borrow();
        let current = inner.tasks.get(self.current.get());
        current.map_or_else(std::process::id, |entry| Self::pid(entry.process))
    }

    fn watch(&self, pid: u32, shows_exec: bool, on_death: Box<dyn FnOnce() + Send>) -> u64 {
        let random = &self.random;
        let mut inner = self.inner.borrow_mut();
        let watcher = inner.tasks[self.current.get()].process;
        let index = pid.wrapping_sub(FIRST_PID) as usize;
        let over = inner
            .processes
            .get(index)
            .is_none_or(|it| it.over || (it.dead && shows_exec));
        let id = inner.next_watch;
        inner.next_watch += 1;
        let due = over.then(|| self.now.get() + random.spread(20));
        inner.watches.push(Watched {
            id,
            watcher,
            pid,
            shows_exec,
            on_death: Some(on_death),
            due,
        });
        id
    }

    fn has_ended(&self, pid: u32) -> bool {
        let inner = self.inner.borrow();
        let process = inner.processes.get(pid.wrapping_sub(FIRST_PID) as usize);
        process.is_none_or(|it| it.dead)
    }

    fn unwatch(&self, watch: u64) {
        let mut inner = self.inner.borrow_mut();
        let at = inner.watches.iter().position(|it| it.id == watch);
        let ended = at.map(|at| inner.watches.swap_remove(at));
        drop(inner);
        // What the callback holds may end watches when it is dropped.
        drop(ended);
    }

    fn grants(&self, _bytes: usize) -> bool {
        let mut inner = self.inner.borrow_mut();
        let Some(entry) = inner.tasks.get(self.current.get()) else {
            return true;
        };
        let process = entry.process;
        match &mut inner.processes[process].grants {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                *left > 0
            }
        }
    }
}
