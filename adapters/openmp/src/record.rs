//! The record of waits: how long a program's threads waited at barriers, and where. The library writes one at the end
//! of each process, and `corecast run --explain` reads them.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The variable that names the folder for records; each process writes `NUMBER.json` there.
pub const FOLDER: &str = "CORECAST_EXPLAIN";
/// The version of [`Record`]'s form.
pub const SCHEMA: u32 = 1;

/// A process's waits.
///
/// # Examples
///
/// ```
/// use corecast_openmp::record::Record;
/// let text = r#"{"schema":1,"program":"/bin/solve","process":7,"seconds":1.5,"threads":2,"in_regions_ns":2000,
///     "objects":[{"path":"/bin/solve","base":4096}],
///     "waits":[{"object":0,"address":5000,"kind":"barrier","times":2,"own":2,"imbalance_ns":900,"mechanism_ns":100,
///               "longest_ns":600}]}"#;
/// let record: Record = serde_json::from_str(text)?;
/// assert_eq!(record.waits[0].sums.imbalance_ns + record.waits[0].sums.mechanism_ns, 1000);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The program's file.
    pub program: String,
    /// The number of its process.
    pub process: u32,
    /// Seconds from the start of the process to its end.
    pub seconds: f64,
    /// The largest number of threads in one region.
    pub threads: usize,
    /// Nanoseconds in regions, of all their threads together.
    pub in_regions_ns: u64,
    /// Files that contain the addresses of waits.
    pub objects: Vec<Object>,
    /// One entry for each address and kind, in no particular order.
    pub waits: Vec<Wait>,
}

/// A program or library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its file, as the loader names it.
    pub path: String,
    /// The address at which it was loaded.
    pub base: u64,
}

/// All waits at one place of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Position in [`Record::objects`]; none if the address is in no file.
    pub object: Option<usize>,
    /// The address to which the barrier returns. For the end of a region it is where the region's code begins, and for a
    /// barrier right before that end one byte behind.
    pub address: u64,
    /// The construct that waited.
    pub kind: Kind,
    /// The number of waits and their times.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Sums over waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Number of waits: each thread has one at each barrier.
    pub times: u64,
    /// Number of waits at Corecast's barriers.
    pub own: u64,
    /// Sum over threads of the time from the thread's arrival to the last arrival.
    pub imbalance_ns: u64,
    /// Sum over threads of the time from the last arrival until the thread leaves; at a region's end only the first
    /// thread counts.
    pub mechanism_ns: u64,
    /// The longest wait.
    pub longest_ns: u64,
}

impl Sums {
    /// The sums of one wait.
    pub fn of(is_own: bool, imbalance_ns: u64, mechanism_ns: u64) -> Self {
        Self {
            times: 1,
            own: u64::from(is_own),
            imbalance_ns,
            mechanism_ns,
            longest_ns: imbalance_ns + mechanism_ns,
        }
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.times += other.times;
        self.own += other.own;
        self.imbalance_ns += other.imbalance_ns;
        self.mechanism_ns += other.mechanism_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// The construct that threads waited at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A barrier; with GNU OpenMP also the end of a static `for`, of `single` and of `scope`.
    Barrier,
    /// The end of `for`.
    For,
    /// The end of `sections`.
    Sections,
    /// The end of `single`.
    Single,
    /// The end of a region.
    Region,
}
