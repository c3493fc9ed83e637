//! The description of a machine: its parts, what they cost and how large they are.

use super::links::{Inner, PackageLink};
use std::fmt;

/// How copies of a line are kept coherent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Modified, exclusive, shared. A modified line is written back when another core reads it.
    Mesi,
    /// MESI with a forwarder among the sharers: the core that read last answers the next reader.
    Mesif,
    /// MESI with an owner: it keeps a line that is newer than memory, and answers readers.
    Moesi,
    /// Each line has a home core. Stores go there, and all other copies are shared (TILEPro64).
    Home,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Mesi => "MESI",
            Self::Mesif => "MESIF",
            Self::Moesi => "MOESI",
            Self::Home => "home",
        })
    }
}

/// How a request finds the copies of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyLookup {
    /// The request is broadcast, and all caches answer.
    Snooping,
    /// The home of a line knows which caches have it, and asks only those.
    Directory,
}

/// A stop on the network of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The package.
    pub package: u32,
    /// The number of the stop.
    pub stop: u32,
}

/// Where a core is, and which shared cache and home it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorePlace {
    /// Its stop.
    pub spot: Spot,
    /// The shared cache between the core and the network, if there is one.
    pub group: Option<u32>,
    /// The home of the lines that it allocates.
    pub home: u32,
}

/// A home agent: it puts the requests for its lines in order, and knows which caches have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Its stop.
    pub spot: Spot,
    /// The memory behind it.
    pub memory: u32,
}

/// The times of the parts, in the machine's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct PartCosts {
    /// A load that hits the first cache.
    pub l1: f64,
    /// A load that hits the second cache; a miss is known after this time too.
    pub l2: f64,
    /// A store until the core continues, and a store that hits until it is done.
    pub store: f64,
    /// An atomic addition after the line has come.
    pub atomic: f64,
    /// Service time of a core's cache for a request of another core.
    pub snoop: f64,
    /// Service time of a core's cache for an invalidation; a home that invalidates several copies takes this time
    /// for each.
    pub invalidate: f64,
    /// From the arrival of a line or an answer until the core continues.
    pub fill: f64,
    /// Service time of a shared cache.
    pub shared: f64,
    /// Service time of a home agent.
    pub home: f64,
    /// A memory access, without the network.
    pub memory: f64,
    /// The part of that time for which the memory is busy.
    pub memory_service: f64,
    /// From the invalidation of a polled line to the next load of the core that polls it.
    pub poll: f64,
    /// Core time to send a core-to-core notification, and to receive one.
    pub notify: f64,
    /// Core time for each copied line, beside the transfers.
    pub copy_line: f64,
    /// Bytes that a core combines per unit of time.
    pub combine_bytes: f64,
    /// Time of a fabric operation beside its lines: calls, counters, checks.
    pub call: f64,
}

/// Sizes, in lines or in entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartSizes {
    /// Lines of the first cache of a core.
    pub l1: usize,
    /// Lines of the second cache, which has all lines of the first.
    pub l2: usize,
    /// Lines of a shared cache.
    pub shared: usize,
    /// Whether a shared cache has all lines that the caches below it have.
    pub inclusive: bool,
    /// Entries of the store buffer. With 0 the core waits for each store.
    pub stores: usize,
    /// How many buffered stores fetch their lines at the same time.
    pub draining: usize,
    /// Whether an ordered store sets out as soon as the store before it was put in order at its home, and not only
    /// when that store is done.
    pub pipelined: bool,
    /// Whether stores are done in the order of the program (TSO).
    pub ordered: bool,
    /// Lines that a copy fetches at once.
    pub misses: usize,
    /// Lines that a copy fetches one after another before that, while a prefetcher learns the addresses.
    pub lone: usize,
}

/// A simulated machine.
#[derive(Clone, Debug)]
pub struct SimMachine {
    /// Its name.
    pub name: String,
    /// The unit of all times: cycles or ns.
    pub unit: String,
    /// How copies are kept coherent.
    pub protocol: Protocol,
    /// How a request finds the copies of its line.
    pub finding: CopyLookup,
    /// Its cores.
    pub cores: Vec<CorePlace>,
    /// Its shared caches, none or one for each group of cores.
    pub groups: Vec<Spot>,
    /// Its homes.
    pub homes: Vec<Home>,
    /// Its memories.
    pub memories: Vec<Spot>,
    /// Whether the homes of lines are spread by their number; otherwise a line is at home with the core that
    /// allocates it.
    pub hashed: bool,
    /// The network of each package.
    pub inner: Inner,
    /// The links between packages.
    pub links: Vec<PackageLink>,
    /// Costs of the parts.
    pub costs: PartCosts,
    /// Sizes of the parts.
    pub sizes: PartSizes,
}

impl SimMachine {
    /// The package of a core.
    pub fn package(&self, core: usize) -> u32 {
        self.cores[core].spot.package
    }
}
