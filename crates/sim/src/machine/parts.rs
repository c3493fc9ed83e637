//! The description of a machine: its parts, what they cost and how large they are.

use super::links::{Inner, PackageLink};
use std::fmt;

/// How copies of a line are kept coherent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Modified, exclusive, shared; a modified line that another core reads is written back.
    Mesi,
    /// The same with a forwarder among the sharers: the one that read last.
    Mesif,
    /// The same with an owner: it keeps what memory does not have, and gives it to readers.
    Moesi,
    /// A line has a home core, to which each store is sent; all other copies are shared (TILEPro64).
    Home,
}

impl Protocol {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Mesi, Self::Mesif, Self::Moesi, Self::Home];
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

/// How copies are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyLookup {
    /// Everybody is asked, and everybody answers.
    Snooping,
    /// The home of a line knows who has it, and asks those.
    Directory,
}

/// A place on a package's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The package.
    pub package: u32,
    /// The stop on its network.
    pub stop: u32,
}

/// Where a core is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorePlace {
    /// On which network.
    pub spot: Spot,
    /// The shared cache that it goes through, if there is one.
    pub group: Option<u32>,
    /// The home of the lines that it allocates.
    pub home: u32,
}

/// Who keeps the order of requests for its lines, and knows who has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// On which network.
    pub spot: Spot,
    /// The memory behind it.
    pub memory: u32,
}

/// What the parts cost, in units of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct PartCosts {
    /// A load that hits the first cache.
    pub l1: f64,
    /// A load that hits the second; what misses it has taken so long to know.
    pub l2: f64,
    /// A store, until the core goes on; and a store that hits, until it is done.
    pub store: f64,
    /// What an atomic addition takes once the line is there.
    pub atomic: f64,
    /// Time of a core's cache for a request of somebody else.
    pub snoop: f64,
    /// Time of a core's cache to give a copy up that somebody else takes away; at a home that tells many, for
    /// each of them.
    pub invalidate: f64,
    /// From the arrival of a line or an answer until the core goes on.
    pub fill: f64,
    /// Time of a shared cache for a request.
    pub shared: f64,
    /// Time of a home for a request.
    pub home: f64,
    /// A memory access, without the way there.
    pub memory: f64,
    /// Of that, how long the memory serves nobody else.
    pub memory_service: f64,
    /// From a line's loss to the next look of a core that polls it.
    pub poll: f64,
    /// Of a core, for sending and for taking a core-to-core notification.
    pub notify: f64,
    /// Of a core, for a line that it copies, beside the transfers.
    pub copy_line: f64,
    /// Bytes that a core combines in a unit of time.
    pub combine_bytes: f64,
    /// What an operation of the fabric costs beside its lines: calls, counters, checks.
    pub call: f64,
}

/// Sizes, in lines or in entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartSizes {
    /// Lines of the first cache of a core.
    pub l1: usize,
    /// Lines of the second, those of the first among them.
    pub l2: usize,
    /// Lines of a shared cache; whether it has all lines that caches below it have.
    pub shared: usize,
    /// See [`shared`](Self::shared).
    pub inclusive: bool,
    /// Stores that wait for their line while the core goes on. 0: the core waits for each.
    pub stores: usize,
    /// Of those, how many fetch their lines at once.
    pub draining: usize,
    /// Whether, in order, a store sets out when the one before was put in order at its home, and not only when it
    /// is done.
    pub pipelined: bool,
    /// Whether stores are done in the order of the program (TSO).
    pub ordered: bool,
    /// Lines that a copy fetches at once.
    pub misses: usize,
    /// Lines of a copy that come one after another before that, while a prefetcher learns where it goes.
    pub lone: usize,
}

/// A machine.
#[derive(Clone, Debug)]
pub struct SimMachine {
    /// Its name.
    pub name: String,
    /// The unit of all times: cycles or ns.
    pub unit: String,
    /// How copies are kept coherent.
    pub protocol: Protocol,
    /// How copies are found.
    pub finding: CopyLookup,
    /// Its cores.
    pub cores: Vec<CorePlace>,
    /// Its shared caches, none or one for each group of cores.
    pub groups: Vec<Spot>,
    /// Its homes.
    pub homes: Vec<Home>,
    /// Its memories.
    pub memories: Vec<Spot>,
    /// Whether lines are spread over all homes by their number, and not at home with who allocates them.
    pub hashed: bool,
    /// The network of each package.
    pub inner: Inner,
    /// What joins packages.
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
