//! What a machine's networks consist of: hops, the network of a package, links between packages.

/// What a message on a network carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// A request or an answer without data.
    Control,
    /// A line.
    Data,
}

/// A link: its latency, and for how long a message occupies it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// The time from one end to the other.
    pub latency: f64,
    /// For how long a message without data occupies it.
    pub control: f64,
    /// For how long a line occupies it.
    pub data: f64,
}

/// The network inside of each package.
#[derive(Clone, Debug, PartialEq)]
pub enum Inner {
    /// One bus; all cores see each request at the same time.
    Bus(Hop),
    /// Stops around a ring, links in both directions; messages take the shorter way.
    Ring {
        /// Number of stops.
        stops: u32,
        /// The link between two of them.
        hop: Hop,
    },
    /// A mesh of `width` columns; messages go along the row first.
    Mesh {
        /// The number of columns.
        width: u32,
        /// The number of rows.
        height: u32,
        /// The link between two neighbours.
        hop: Hop,
    },
    /// A crossbar without contention: one latency, or one for each pair of stops, row by row.
    Crossbar {
        /// Number of stops.
        stops: u32,
        /// Half the round-trip time for each pair of stops, or one value for all pairs.
        latency: Vec<f64>,
    },
}

/// A link between two packages, in both directions; it leaves and enters at stop 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PackageLink {
    /// One package.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// The latency and the occupancy of the link.
    pub hop: Hop,
}

impl Inner {
    /// How many stops the network has.
    pub(super) fn stops(&self) -> u32 {
        match *self {
            Self::Bus(_) => u32::MAX,
            Self::Ring { stops, .. } | Self::Crossbar { stops, .. } => stops,
            Self::Mesh { width, height, .. } => width * height,
        }
    }
}
