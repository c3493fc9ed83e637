//! [`Builder`] turns a program's preferences into a team.

mod draft;
mod planned;
mod plans;
mod processes;
mod succession;

pub use planned::Planned;
pub use succession::Successor;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corecast_collectives::Algorithms;
use corecast_machine::CpuList;
use corecast_model::MachineFile;
use corecast_model::profile::Start;
use corecast_plan::{Pattern, RootChoice};
use corecast_team::{Options, SharedRegions, SymmetricHeap};
use corecast_wire::WaitConfig;
use corecast_wire::queue::Backend;

use crate::choose::Preferences;
use crate::waiting::Waiting;

/// The threads that a program asks for.
#[derive(Clone, Debug)]
enum AskedThreads {
    Count(usize),
    Cores(String),
    /// Rank r runs on the r-th of these; several may share one.
    Exactly(Vec<u32>),
}

/// Makes a [`Team`](crate::Team). The builder finds out what a program does not set: the machine, its costs, the
/// plans. Each row of the table names sources in order; the first that is there decides.
///
/// | setting | sources |
/// | --- | --- |
/// | threads | [`threads`](Self::threads) or [`cores`](Self::cores), the later call; a rank for each usable PU |
/// | costs | [`machine`](Self::machine); what `corecast probe` has stored; the literature, by class of proximity |
/// | plans | [`pattern`](Self::pattern); the winner of a stored race with exactly these threads; the least predicted latency |
/// | waits | [`wait`](Self::wait) or [`wait_config`](Self::wait_config), the later call; `CORECAST_WAIT`; a tuning of this team; by ranks, usable PUs, CPU quota and what the probe found that waiting costs |
/// | algorithms, by length | [`algorithms`](Self::algorithms); `CORECAST_ALGO`; a tuning of this team; built-in choices |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// let team = corecast::Builder::new()
///     .threads(4)
///     .pattern("binomial".parse()?)
///     .patience(Duration::from_secs(10))
///     .build()?;
/// let heard = team.run(|member| member.broadcast_value(2, member.rank()));
/// assert!(heard.into_iter().all(|rank| rank == Ok(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until build or enter"]
pub struct Builder {
    ranks: Option<AskedThreads>,
    /// The PUs that the process may use, where they are not those of its mask.
    mask: Option<CpuList>,
    machine: Option<MachineFile>,
    preferences: Preferences,
    pin: Option<bool>,
    cache_folder: Option<PathBuf>,
    waiting: Option<Waiting>,
    record: Option<bool>,
    learn: Option<bool>,
    start: Start,
    options: Options,
}

impl Builder {
    /// A team of one rank for each PU that this process may use; Corecast chooses everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// The team has `ranks` ranks on the usable PUs. They fill one NUMA node after the other, and
    /// in each node every core gets one rank before any SMT sibling does. Where there are more ranks
    /// than PUs, several share a PU and are not pinned unless [`pin`](Self::pin) says otherwise.
    pub fn threads(mut self, ranks: usize) -> Self {
        self.ranks = Some(AskedThreads::Count(ranks));
        self
    }

    /// The team has one rank for each PU of a list such as `"0-3,8"`: rank r runs on the r-th.
    pub fn cores(mut self, list: impl Into<String>) -> Self {
        self.ranks = Some(AskedThreads::Cores(list.into()));
        self
    }

    /// Plans as a process does that may use these PUs alone. Nothing keeps threads there that are not pinned. It is for
    /// races of ranks that share some of the PUs.
    #[doc(hidden)]
    pub fn within(mut self, mask: CpuList) -> Self {
        self.mask = Some(mask);
        self
    }

    /// Plans for the costs of this file instead of this machine's own. Where the file lacks the PUs of the
    /// team, rank r has the costs of the file's r-th thread. Stored races of this machine are not used.
    pub fn machine(mut self, machine: MachineFile) -> Self {
        self.machine = Some(machine);
        self
    }

    /// Runs this pattern, whatever model and races say. Operations that the pattern cannot do are chosen as if
    /// it had not been named.
    ///
    /// `best` is what the model chooses among trees without this call. `optimal` searches for up to
    /// one second of CPU time for each tree, which is enough to prove trees optimal in teams of up to
    /// about 16 ranks. In larger teams the best tree found in that time runs.
    pub fn pattern(mut self, pattern: Pattern) -> Self {
        self.preferences.pattern = Some(pattern);
        self
    }

    /// Builds all trees from this rank. Any rank can still be the root of an operation, but the root of
    /// the tree is the fastest. By default broadcasts and reductions share the rank whose sends are
    /// cheapest, since programs do both from one root. Barriers may have another root, as programs
    /// do not name one.
    pub fn root(mut self, rank: usize) -> Self {
        self.preferences.root = RootChoice::Rank(rank);
        self
    }

    /// Whether the threads of [`Team::run`](crate::Team::run) and those that call
    /// [`Team::pin_here`](crate::Team::pin_here) are pinned. By default they are unless there are more ranks than
    /// usable PUs.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = Some(pin);
        self
    }

    /// How members wait: [`Waiting`] names the strategies.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast::{Builder, Waiting};
    ///
    /// let team = Builder::new().threads(2).wait(Waiting::Budget(20_000)).build()?;
    /// team.run(|member| member.barrier().unwrap());
    /// assert_eq!(team.explain().waits.policy, "budget");
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn wait(mut self, waiting: Waiting) -> Self {
        self.waiting = Some(waiting);
        self
    }

    /// How members wait, with a duration for each phase in nanoseconds.
    pub fn wait_config(self, wait_config: WaitConfig) -> Self {
        self.wait(Waiting::Exactly(wait_config))
    }

    /// The protocol of the queues between ranks.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.options.backend = backend;
        self
    }

    /// Slots of each queue, a power of two, at least 2, which also bound its messages. Queues for operations in flight have
    /// 16 at most. By default 64, and, where ranks share hardware threads, 256 for messages as long as with 64.
    pub fn slots(mut self, slots: usize) -> Self {
        self.options.slots = Some(slots);
        self
    }

    /// How long a member may sleep while it waits for another one, before the team fails with
    /// [`Failure::Stalled`](crate::Failure::Stalled). There is no limit by default.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.options.patience = Some(patience);
        self
    }

    /// How long a member may sleep for a rank that is not joined before its operation fails with
    /// [`Failure::NeverJoined`](crate::Failure::NeverJoined); 10 s by default.
    pub fn join_limit(mut self, limit: Duration) -> Self {
        self.options.join_limit = limit;
        self
    }

    /// Whether reductions give the same bits on every rank, for every plan, root, length and
    /// repetition; `false` by default. Sums of floats need it, as rounding depends on the order of reduction.
    ///
    /// # Cost
    ///
    /// Algorithms that need a commutative operator are not used.
    pub fn deterministic(mut self, deterministic: bool) -> Self {
        self.options.deterministic = deterministic;
        self
    }

    /// Operations that a member can have in flight at a time, see [`Member::overlap`]; 8 by default, 65,536 at most.
    ///
    /// [`Member::overlap`]: crate::Member::overlap
    ///
    /// # Cost
    ///
    /// Each of them has its own queues, flags and descriptors, which are made when a member first needs them.
    /// In a team of processes their memory is reserved at once.
    pub fn depth(mut self, depth: usize) -> Self {
        self.options.depth = depth;
        self
    }

    /// Bytes of the stack on which each operation in flight runs, and with it the program's operators; 128 KiB by
    /// default (1 MiB in debug builds of Corecast), and never fewer. An algorithm takes some kilobytes of it. See
    /// [`Member::overlap`].
    ///
    /// [`Member::overlap`]: crate::Member::overlap
    ///
    /// # Cost
    ///
    /// So many addresses, and 1 MiB more, for each operation that a member can have in flight. Memory is taken for
    /// what is used.
    ///
    /// # Examples
    ///
    /// ```
    /// let team = corecast::Builder::new().threads(2).stack_bytes(4 << 20).build()?;
    /// let add = |a: u64, b: u64| {
    ///     let scratch = std::hint::black_box([a; 200_000]);
    ///     scratch[7] + b
    /// };
    /// team.run(|member| {
    ///     let mut word = [1];
    ///     member.overlap(|flight| flight.allreduce(&mut word, &add)?.wait()).unwrap().unwrap();
    ///     assert_eq!(word, [2]);
    /// });
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.options.stack_bytes = bytes;
        self
    }

    /// Uses these algorithms, by the bytes of a block, instead of those that Corecast would choose.
    /// Where an algorithm cannot run an operation, the built-in choice runs instead.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut algorithms = corecast::Algorithms::default();
    /// algorithms.ask("allreduce", &[(4096, None), (usize::MAX, Some("ring"))])?;
    /// let team = corecast::Builder::new().threads(3).algorithms(algorithms).build()?;
    /// let sums = team.run(|member| member.allreduce_value(1, |a, b| a + b));
    /// assert_eq!(sums, [Ok(3), Ok(3), Ok(3)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn algorithms(mut self, algorithms: Algorithms) -> Self {
        self.options.algorithms = algorithms;
        self
    }

    /// Whether the team records how long its members wait in operations, and for whom: see [`Team::record`]. By default
    /// it does where the environment has `CORECAST_EXPLAIN`, as `corecast run --explain` sets it; then the record is also
    /// written at the end of the process. In a team of processes the first one decides for all.
    ///
    /// [`Team::record`]: crate::Team::record
    ///
    /// # Cost
    ///
    /// Without a record each operation tests once whether there is one. With a record it reads the cycle counter and takes
    /// a lock that nobody else wants; see [`Team::record`].
    pub fn record(mut self, record: bool) -> Self {
        self.record = Some(record);
        self
    }

    /// Whether the team learns while it runs which algorithms are fastest: the first calls of an operation at a length race
    /// them, and later calls use the winner. By default it does where the environment has `CORECAST_TUNE=online`. It never
    /// does in [`deterministic`](Self::deterministic) teams. In a team of processes the first one decides for all.
    ///
    /// What the program, `CORECAST_ALGO` or a tuning asks for at a length is not raced. Results are the same as without it, but
    /// for the order in which an operator such as a sum of floats combines, which differs between algorithms.
    /// [`Member::learned`](crate::Member::learned) says what was found.
    ///
    /// # Cost
    ///
    /// At most 4 calls by each algorithm, 12 by each of the best four and 32 by each of the best two; see
    /// [`Member::learned`](crate::Member::learned).
    ///
    /// # Examples
    ///
    /// ```
    /// let team = corecast::Builder::new().threads(2).learn(true).build()?;
    /// let learned = team.run(|member| {
    ///     let mut data = [1_u64; 1 << 10];
    ///     for _ in 0..200 {
    ///         member.broadcast(0, &mut data).unwrap();
    ///     }
    ///     member.learned().first().map(|found| (found.up_to, found.algorithm))
    /// });
    /// assert_eq!(learned[0], learned[1]);
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn learn(mut self, learn: bool) -> Self {
        self.learn = Some(learn);
        self
    }

    /// How many lines of 128 bytes a team of processes keeps near each rank for [`Team::lines`]; 512 by default. Teams of
    /// threads need none. In a team of processes the first one decides for all.
    ///
    /// [`Team::lines`]: crate::Team::lines
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast::cache_lines::LineSet;
    /// use corecast::process::Address;
    ///
    /// let address = Address::Name(format!("example-lines-{}", std::process::id()));
    /// let mut set = LineSet::new(2);
    /// set.data("table", 0, 1500);
    /// let team = corecast::Builder::new().lines(1501).enter(&address, 2, &[None, None])?;
    /// let lines = team.lines(&set)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lines(mut self, lines: usize) -> Self {
        self.options.lines = lines;
        self
    }

    /// How many bytes of addresses a team of processes sets aside for the symmetric buffers of each rank, of
    /// [`Member::alloc`](crate::Member::alloc); 0 for none, 1 GiB by default. They take no memory until a buffer is made. In a
    /// team of processes the first one decides for all. There are none where the first process may not have so many addresses
    /// or so long files (`ulimit -v`, `ulimit -f`).
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast::process::Address;
    ///
    /// let address = Address::Name(format!("example-symmetric-{}", std::process::id()));
    /// let team = corecast::Builder::new().symmetric(4 << 30).enter(&address, 2, &[None, None])?;
    /// let sums = team.run(|member| {
    ///     let mut data = member.alloc::<f64>(1 << 16).unwrap();
    ///     data.fill(0.5);
    ///     member.allreduce(&mut data, |a, b| a + b).map(|()| data[7])
    /// });
    /// assert_eq!(sums, [Ok(1.0), Ok(1.0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn symmetric(mut self, bytes: usize) -> Self {
        self.options.symmetric = bytes;
        self
    }

    /// The heap of this process: what operations of its ranks lend of it is read where it lies by other processes, as long as
    /// they may look into this one (`/proc/PID/fd`). It serves all teams of the process that are made with it, and buffers are
    /// made in it before there is any. Processes of one team may have heaps or none.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast::process::{Address, SymmetricHeap};
    /// use std::sync::Arc;
    ///
    /// let heap = Arc::new(SymmetricHeap::new(1 << 30)?);
    /// let mut data = heap.alloc(1 << 16, 1)?;
    /// let address = Address::Name(format!("example-heap-{}", std::process::id()));
    /// let team = corecast::Builder::new().heap(heap).enter(&address, 1, &[None])?;
    /// team.join(0)?.broadcast(0, &mut data[..])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn heap(mut self, heap: Arc<SymmetricHeap>) -> Self {
        self.options.heap = Some(heap);
        self
    }

    /// Memory that all processes of the team share by other means, for example a file that all have mapped: what operations lend of it
    /// is read where it lies. Regions may come and go while there is the team, and one may serve several teams. All processes of the
    /// team have the same ones, by the same numbers; a process that is given none refuses what others lend of theirs.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast::process::{Address, SharedMapping, SharedRegions, SymmetricHeap};
    /// use std::sync::Arc;
    ///
    /// // Any memory will do that others have mapped too.
    /// let heap = SymmetricHeap::new(1 << 20)?;
    /// let mut data = heap.alloc(1 << 16, 1)?;
    /// let first = data.as_ptr().addr();
    /// let mapping = SharedMapping::find(first..first + data.len())?;
    /// // SAFETY: the heap stands.
    /// let region = Arc::new(unsafe { mapping.region(7) }?);
    /// let regions = Arc::new(SharedRegions::default());
    /// regions.add(&region);
    /// // All processes have made it.
    /// region.open();
    /// let address = Address::Name(format!("example-regions-{}", std::process::id()));
    /// let team = corecast::Builder::new().regions(regions).enter(&address, 1, &[None])?;
    /// team.join(0)?.broadcast(0, &mut data[..])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn regions(mut self, regions: Arc<SharedRegions>) -> Self {
        self.options.regions = Some(regions);
        self
    }

    /// What ranks of this process call while they wait for long: often while they yield, and at least once a millisecond
    /// while they sleep. It is for programs in which others depend on this thread for something that the team knows
    /// nothing of, such as the progress of a message-passing library. A rank that waits for operations in flight calls
    /// it as well.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// static CALLS: AtomicU64 = AtomicU64::new(0);
    /// fn count() {
    ///     CALLS.fetch_add(1, Ordering::Relaxed);
    /// }
    /// let team = corecast::Builder::new().threads(2).meanwhile(count).build()?;
    /// team.run(|member| {
    ///     if member.rank() == 0 {
    ///         // The other one waits until it has called.
    ///         while CALLS.load(Ordering::Relaxed) == 0 {
    ///             std::thread::yield_now();
    ///         }
    ///     }
    ///     member.barrier().unwrap();
    /// });
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn meanwhile(mut self, call: fn()) -> Self {
        self.options.meanwhile = Some(call);
        self
    }

    /// Rank r is on the r-th of these PUs, of which several may share one. Nothing is pinned unless
    /// [`pin`](Self::pin) says so. It is for processes that somebody else has bound: each of them may be allowed its own
    /// PUs only, and all plan for the same ones.
    ///
    /// # Examples
    ///
    /// ```
    /// let team = corecast::Builder::new().bound_to(vec![0, 0]).build()?;
    /// assert_eq!(team.pus(), [0, 0]);
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn bound_to(mut self, pus: Vec<u32>) -> Self {
        self.mask = Some(pus.iter().copied().collect());
        self.ranks = Some(AskedThreads::Exactly(pus));
        self.pin = Some(false);
        self
    }

    /// Uses the tuning that was raced with this start of operations; by default all ranks begin at one
    /// instant. Where only the other kind of tuning is stored, that one is used.
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Looks for measured costs and races in this folder, not in the user's cache folder.
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache_folder = Some(folder.into());
        self
    }
}
